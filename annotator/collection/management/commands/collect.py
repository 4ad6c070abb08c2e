"""Collect pull requests or issues from GitHub into a study."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import CommandParser

from annotator.collection.access import access_from_environment
from annotator.collection.foreground import collect, sleeping
from annotator.collection.wanted import Wanted, period, read_list, unique, words
from annotator.studies.models import Study
from annotator.web.command import Command as Base
from annotator.web.errors import BadInput

MOMENTS = ("merged", "closed", "created", "updated")


class Command(Base):
    help = "Collect pull requests or issues from GitHub into a study. Run again, it resumes or looks for what is new."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="the study")
        many: dict[str, Any] = {"nargs": "+", "action": "extend", "default": []}
        parser.add_argument("--repo", **many, metavar="O/R", help="owner/name")
        parser.add_argument("--url", **many, metavar="URL", help="single pull requests or issues, instead of a query")
        parser.add_argument("--kind", choices=["pull_request", "issue"], default="pull_request")
        parser.add_argument("--state", choices=["open", "closed", "merged"], default="")
        for moment in MOMENTS:
            told = f"{moment} in this period, both days included (UTC)"
            parser.add_argument(f"--{moment}", metavar="A..B", help=told)
        parser.add_argument("--match", metavar="WORDS", default="", help="a word in title or label begins like one")
        parser.add_argument("--label", **many, metavar="L", help="has all of these")
        parser.add_argument("--author", **many, metavar="NAME", help="opened by one of these")
        parser.add_argument("--limit", type=int, metavar="N", help="the newest N of each repository")

    def answer(self, **options: Any) -> Any:
        study = Study.objects.filter(slug=options["slug"]).first()
        if study is None:
            raise BadInput(f"There is no study “{options['slug']}”.")
        access = access_from_environment()
        wanted = wanted_of(options, host=access.host)
        wait = sleeping(lambda text: None if options["json"] else self.stdout.write(text))
        with quiet("annotator.clients.github"):
            return collect(study=study, wanted=wanted, access=access, wait=wait)

    def show(self, result: dict[str, Any]) -> None:
        requests = result["requests"]
        self.stdout.write(f"Found {result['found']:,}, fetched {result['fetched']:,}.")
        for gone in result["unavailable"]:
            self.stdout.write(f"Unavailable: {gone['repository']}#{gone['number']} ({gone['reason']})")
        if result["capped"]:
            self.stdout.write(f"Capped: {result['capped']:,} hits in one second that GitHub's search does not give.")
        self.stdout.write(f"Complete: {'yes' if result['complete'] else 'no'}.")
        self.stdout.write(f"{requests['rest']:,} REST and {requests['graphql']:,} GraphQL requests.")


@contextmanager
def quiet(name: str) -> Iterator[None]:
    """What a worker's log should tell, the command says itself, in one line."""
    logger = logging.getLogger(name)
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)


def wanted_of(options: dict[str, Any], *, host: str) -> Wanted:
    if options["url"]:
        return listed(options, host=host)
    named = [moment for moment in MOMENTS if options[moment]]
    if len(named) > 1:
        raise BadInput(f"Give --{named[0]} or --{named[1]}, not both: a harvest walks back through one of them.")
    when: dict[str, Any] = {}
    for moment in named:
        first, last = period(options[moment])
        when = {"moment": moment, "first": first, "last": last}
    return Wanted(
        repositories=unique(options["repo"]),
        kind=options["kind"],
        state=options["state"],
        words=words(options["match"]),
        labels=tuple(dict.fromkeys(options["label"])),
        authors=tuple(dict.fromkeys(options["author"])),
        limit=options["limit"],
        **when,
    )


def listed(options: dict[str, Any], *, host: str) -> Wanted:
    beside = ("repo", "state", *MOMENTS, "match", "label", "author", "limit")
    if given := [name for name in beside if options[name]]:
        raise BadInput(f"Give --url or --{given[0]}, not both: a list is collected as it stands.")
    wanted, named = read_list(options["url"], host=host)
    if named != host:
        raise BadInput(f"The list names {named}, but GITHUB_API_URL leads to {host}.")
    return wanted
