"""Base of every management command: strict JSON out, one clear line on bad input."""

import json
import os
import sys
from argparse import ArgumentParser
from typing import Any, NoReturn

from django.core.management.base import BaseCommand, CommandParser
from django.db import DatabaseError

from annotator.web.errors import BadInput, Refused
from annotator.web.guarded import refusal_in


class OneLineParser(CommandParser):
    """An argparse whose complaint is a single line, without the usage text."""

    def error(self, message: str) -> NoReturn:
        sys.stderr.write(f"{self.prog}: {' '.join(message.split())}\n")
        raise SystemExit(2)


def leave_quietly() -> None:
    """Whoever reads, such as `head`, has seen enough: what is left goes nowhere, also at the interpreter's end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class Command(BaseCommand):
    """Write `answer(**options)`: it returns what `--json` prints; `show(result)` prints it for people."""

    requires_system_checks: list[str] = []

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = OneLineParser(prog=f"manage.py {subcommand}", description=self.help or None, **kwargs)
        parser.add_argument("--json", action="store_true", help="print one JSON document and nothing else")
        self.add_base_arguments(parser)
        self.add_arguments(parser)
        return parser

    def add_base_arguments(self, parser: ArgumentParser) -> None:
        """What `BaseCommand.execute` expects to find among the options."""
        parser.set_defaults(settings=None, pythonpath=None, traceback=False, no_color=True, force_color=False)
        parser.set_defaults(verbosity=1, skip_checks=True)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            result = self.answer(**options)
        except (BadInput, Refused) as problem:
            self.refuse(str(problem))
        except DatabaseError as problem:
            if refusal := refusal_in(problem):
                self.refuse(str(refusal))
            raise
        try:
            if options["json"]:
                self.stdout.write(json.dumps(result, ensure_ascii=False, allow_nan=False))
            else:
                self.show(result)
            self.stdout.flush()
        except BrokenPipeError:
            leave_quietly()

    def answer(self, **options: Any) -> Any:
        raise NotImplementedError

    def show(self, result: Any) -> None:
        self.stdout.write(json.dumps(result, ensure_ascii=False, allow_nan=False, indent=2))

    def refuse(self, message: str) -> NoReturn:
        self.stderr.write(" ".join(message.split()))
        raise SystemExit(2)
