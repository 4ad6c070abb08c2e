"""The agreement list of a study."""

from argparse import ArgumentParser
from typing import Any

from annotator.agreement.entries import Entry
from annotator.agreement.gating import not_computable
from annotator.agreement.numbers import short
from annotator.agreement.queries import NOW, entries, level_named, pooled
from annotator.agreement.scales import ANSWERED, LEVELS
from annotator.codebook.models import Facet
from annotator.labeling.models import Round
from annotator.labeling.queries import round_named
from annotator.stats.reasons import SENTENCES
from annotator.studies.models import Study
from annotator.web.command import Command as Base
from annotator.web.errors import BadInput

COLUMNS = ("round", "facet", "raters", "n", "excluded", "observed", "kappa", "95 % interval", "AC1", "gate", "notes")


class Command(Base):
    help = "How well the raters of a study agreed, by round, facet and pair."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG")
        parser.add_argument("--round", metavar="R", help="one round, by number or name")
        parser.add_argument("--facet", metavar="F", help="one facet, by name or id")
        parser.add_argument("--pooled", action="store_true", help="all closed main rounds together")
        parser.add_argument(
            "--mapped",
            nargs="?",
            const=NOW,
            default="",
            metavar="VERSION",
            help="mapped to the codebook's version of that number; without one, to the present version",
        )
        parser.add_argument("--level", choices=LEVELS, default=ANSWERED, help="top: by the categories at the top")

    def answer(self, **options: Any) -> list[Entry]:
        study = Study.objects.filter(slug=options["slug"]).first()
        if study is None:
            raise BadInput(f"There is no study “{options['slug']}”.")
        if options["pooled"] and options["round"]:
            raise BadInput("--pooled takes all main rounds together: leave out --round.")
        facet = self._facet(study, options["facet"]) if options["facet"] else None
        level = level_named(study, options["level"], mapped=options["mapped"])
        if options["pooled"]:
            return pooled(study, facet=facet, level=level)
        return entries(study, round_=self._round(study, options["round"]), facet=facet, level=level)

    def _round(self, study: Study, name: str | None) -> Round | None:
        if name is None:
            return None
        found = round_named(study, name)
        if found is None:
            raise BadInput(f"The study “{study.slug}” has no round “{name}”.")
        return found

    def _facet(self, study: Study, name: str) -> str:
        facets = Facet.objects.filter(codebook__study=study)
        found = facets.filter(key=name).first() or facets.filter(name=name).first()
        if found is None and name != "vote":
            raise BadInput(f"The codebook of “{study.slug}” has no facet “{name}”.")
        return found.key if found else name

    def show(self, result: list[Entry]) -> None:
        if not result:
            self.stdout.write("No round is closed or imported yet, so there is no agreement to show.")
            return
        rows = [COLUMNS, *(_row(entry) for entry in result)]
        widths = [max(len(row[place]) for row in rows) for place in range(len(COLUMNS))]
        for row in rows:
            cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            self.stdout.write("  ".join(cells).rstrip())


def _row(entry: Entry) -> tuple[str, ...]:
    ci = entry.get("ci")
    return (
        entry["round"],
        entry["facet"],
        " × ".join(entry["raters"]),
        str(entry["n"]),
        str(entry.get("excluded", "")),
        short(entry.get("observed")),
        short(entry.get("kappa")),
        f"[{short(ci[0])}, {short(ci[1])}]" if ci else "–",
        short(entry.get("ac1")),
        (entry["gate"]["result"] or "–").replace("_", " "),
        _notes(entry),
    )


def _notes(entry: Entry) -> str:
    said = [f"Fleiss {short(entry['fleiss'])}, alpha {short(entry['alpha'])}." if "fleiss" in entry else ""]
    if entry["reason"]:
        said.append(f"{not_computable(entry, entry['reason'])} ({entry['reason']})")
    if entry.get("no_interval"):
        said.append(f"{SENTENCES[entry['no_interval']]} ({entry['no_interval']})")
    if entry.get("exact_match") is not None:
        said.append(f"alpha (Jaccard) {short(entry['alpha_jaccard'])}, exact matches {short(entry['exact_match'])}.")
    said += entry.get("warnings", [])
    return " ".join(filter(None, said))
