"""From found to released, with what fell out at each step."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotator.overview.flow.counting import Flow, flow_of
from annotator.overview.flow.drawing import svg_of
from annotator.overview.flow.files import PDF, TYPES, made
from annotator.studies.models import Study
from annotator.web.command import Command as Base
from annotator.web.errors import BadInput


class Command(Base):
    help = "Count what was found, held, screened, drawn, labelled and settled, and say whether it adds up."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", metavar="SLUG")
        parser.add_argument("--out", metavar="FILE", help=f"the picture, by its ending: {', '.join(TYPES)}")

    def answer(self, **options: Any) -> Any:
        study = Study.objects.filter(slug=options["slug"]).first()
        if study is None:
            raise BadInput(f"There is no study “{options['slug']}”.")
        flow = flow_of(study)
        if options["out"]:
            path = Path(options["out"])
            if path.suffix[1:] not in TYPES:
                raise BadInput(f"The picture is written as {', '.join(TYPES)}; “{path.name[:80]}” ends otherwise.")
            try:
                path.write_bytes(drawn(study, flow, path.suffix[1:]))
            except OSError as problem:
                raise BadInput(f"{path} cannot be written: {problem.strerror}.") from None
        return flow.document()

    def show(self, result: Any) -> None:
        for step in result["steps"]:
            for reason, n in step["added"].items():
                self.stdout.write(f"{'+ ' + format(n, ','):>12}  {reason}")
            self.stdout.write(f"{step['n']:>9,}  {step['title']} ({step['unit']})")
            for reason, n in step["excluded"].items():
                self.stdout.write(f"{'− ' + format(n, ','):>12}  {reason}")
        self.stdout.write("It adds up." if result["balanced"] else "It does not add up.")
        for sentence in result["breaks"]:
            self.stdout.write(f"  {sentence}")


def drawn(study: Study, flow: Flow, format_: str) -> bytes:
    if format_ != PDF:
        return made(study, flow, format_)
    from annotator.clients.renderer import pdf_of  # a large library, for those who want it

    return pdf_of(svg_of(flow, title=study.title))
