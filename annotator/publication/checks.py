"""What is looked at before a release is published: on the files as they were written, and on the record behind them.

A check that *must* hold keeps the release back; another is told with it.
"""

from dataclasses import dataclass
from typing import Any

from django.db.models import Count

from annotator.adjudication.models import Dispute
from annotator.adjudication.queries import final_labels
from annotator.publication.options import Options
from annotator.publication.personal import found_in
from annotator.publication.recomputing import recomputing
from annotator.publication.rewritten import differing
from annotator.publication.writing import Written
from annotator.studies.models import Study


@dataclass(frozen=True)
class Check:
    name: str
    passed: bool
    must: bool
    says: str

    def document(self) -> dict[str, Any]:
        return {"check": self.name, "passed": self.passed, "must": self.must, "says": self.says}


def checked(study: Study, options: Options, written: Written) -> list[Check]:
    with recomputing(written.folder, "check_counts", "check_agreement") as answer:
        first = [
            disputes(study),
            provenance(study),
            missing_facets(written),
            impossible_counts(written),
            blocks(written),
        ]
        last = [same_bytes(written), personal(study, options, written), flow(written)]
        found = answer()
    counts = recomputed("counts", found["check_counts"], "counts of final labels")
    return [*first, counts, recomputed("kappa", found["check_agreement"], "agreement figures"), *last]


def told(name: str, *, passed: bool, says: str) -> Check:
    return Check(name, passed, False, says)


def disputes(study: Study) -> Check:
    waiting = Dispute.objects.filter(study=study, is_open=True).count()
    says = f"{waiting:,} {'dispute waits' if waiting == 1 else 'disputes wait'} for a decision: without a label, in no count."
    return told("disputes", passed=not waiting, says=says if waiting else "All disputes are settled.")


def provenance(study: Study) -> Check:
    found = final_labels(study).order_by().values_list("source").annotate(n=Count("pk"))
    counts = dict(sorted(found, key=lambda pair: -pair[1]))
    parts = ", ".join(f"{n:,} {source}" for source, n in counts.items())
    says = f"Every label says where it comes from: {parts}." if counts else "There is no label yet."
    return told("provenance", passed="" not in counts, says=says)


def missing_facets(written: Written) -> Check:
    from annotator.publication.counted import finals_in  # numpy and pyarrow, which most processes never need

    open_ = finals_in(written).open
    parts = ", ".join(f"{facet} {n:,}" for facet, n in open_.most_common())
    says = f"Answered and not settled: {parts}." if open_ else "Every facet that was answered of a bug has its label."
    return told("facets", passed=not open_, says=says)


def impossible_counts(written: Written) -> Check:
    """No facet has more bugs than there are, no bug two labels of a facet that takes one."""
    from annotator.publication.counted import finals_in

    book = written.documents["codebook.json"]
    latest = book["versions"][-1]["codebook"]["facets"] if book["versions"] else []
    many = {facet["id"] for facet in latest if facet.get("answers") == "many"}
    rows = {each.table.name: each.rows for each in written.tables}
    finals = finals_in(written)
    doubled = sum(n for facet, n in finals.doubled.items() if facet not in many)
    above = [facet for facet, n in finals.bugs.items() if n > rows.get("bugs", 0)]
    says = "No facet has more bugs than there are, and no bug two labels where it takes one."
    if doubled or above:
        says = f"{doubled:,} labels too many where a facet takes one; more bugs than there are: {', '.join(above) or 'none'}."
    return Check("impossible", not doubled and not above, True, says)


def blocks(written: Written) -> Check:
    from annotator.publication.blocks import repeated_blocks

    found = repeated_blocks(written)
    says = "No two stretches of a rater's answers repeat each other beyond chance."
    if found:
        says = " ".join(
            f"In {each.round} {each.length:,} answers in a row of one rater, from bug {each.first:,} on, come again from "
            f"bug {each.second:,} on: beyond chance, if the bugs are in no order."
            for each in found
        )
    return told("blocks", passed=not found, says=says)


def recomputed(name: str, found: tuple[int, list[str]], what: str) -> Check:
    n, wrong = found
    says = f"{n:,} {what}, worked out from the files alone, equal those on the pages."
    return Check(name, not wrong, True, f"{len(wrong):,} of {n:,} {what} differ: {wrong[0]}." if wrong else says)


def same_bytes(written: Written) -> Check:
    wrong = differing(written)
    says = "Written, read back and written again: the same bytes, in every format."
    return Check("same_bytes", not wrong, True, f"Read back, these are others: {', '.join(wrong)}." if wrong else says)


def personal(study: Study, options: Options, written: Written) -> Check:
    """Pseudonyms do not hide who is named in a note; a token is never published."""
    found = found_in(written, study, options)
    says = "No token, e-mail address or name of a member is in any file. Pseudonyms; with two raters the authors can be guessed."
    if found:
        says = "; ".join(f"{what} in {', '.join(paths)}" for what, paths in found.items()).capitalize() + "."
    return Check("personal", not found, "tokens" in found, says)


def flow(written: Written) -> Check:
    document = written.documents.get("flow.json", {"steps": [], "balanced": True, "breaks": []})
    n = len(document["steps"])
    says = f"The flow adds up at all {n} steps." if document["balanced"] else " ".join(document["breaks"])
    return told("flow", passed=bool(document["balanced"]), says=says)
