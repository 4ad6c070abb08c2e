"""How often each category was given: counts, shares with intervals, and what other labels would say."""

from collections import Counter

from annotator.adjudication.queries import FINAL, UNANIMOUS
from annotator.analysis.asked import Asked
from annotator.analysis.labels import raters_with_labels
from annotator.analysis.left_out import left_out
from annotator.analysis.queries import Code, Question
from annotator.analysis.reading import Reading
from annotator.analysis.sheets import COUNT, SHARE, Column, Sheet, Turn, ranks
from annotator.sampling.models import Stratum
from annotator.stats.shares import Cluster, Part, by_cluster, share_of, weighted
from annotator.studies.models import Study

COLUMNS = (
    Column("category", "Category"), Column("bugs", "Bugs", COUNT), Column("share", "Share", SHARE),
    Column("low", "from", SHARE), Column("high", "to", SHARE),
)  # fmt: skip
ROLLED = Column("with_narrower", "With narrower", COUNT)
WEIGHTED = (
    Column("weighted", "Weighted by pool", SHARE), Column("weighted_low", "from", SHARE),
    Column("weighted_high", "to", SHARE),
)  # fmt: skip
SHARED = (Column("shared_low", "by pull request, from", SHARE), Column("shared_high", "to", SHARE))


def distribution(study: Study, asked: Asked, *, whole: bool = False, resamples: bool = False) -> Sheet:
    """Of one facet. `whole` adds what other labels would change, `resamples` intervals by pull request."""
    reading = Reading(study, asked.labels, level=asked.level)
    question = reading.question(asked.by)
    counts = reading.categories(question)
    n = reading.bugs(question) if question.is_many else sum(counts.values())
    codes = ordered(question, counts, reading.codes(question), asked.order)
    columns = [list(row_of(code, counts, n)) for code in codes]
    heads, notes = list(COLUMNS), ["Intervals are Wilson's, at 95 percent."]
    totals = rolled(reading, question, counts)
    if totals:
        heads.append(ROLLED)
        _beside(columns, [[totals.get(code.id)] for code in codes])
    if pools := pooled(reading, question, [code.id for code in codes]):
        heads += WEIGHTED
        _beside(columns, pools)
        notes.append("The pools of the sample's strata differ in size: weighted by them, shares are of all pools.")
    if resamples and (intervals := by_pull_request(reading, question, counts)):
        heads += SHARED
        _beside(columns, [list(intervals.get(code.id, (None, None))) for code in codes])
        notes.append("Bugs share pull requests: the interval by pull request draws whole ones anew, 2000 times.")
    return Sheet(
        kind=asked.kind,
        title=asked.title or question.name,
        labels=asked.labels,
        n=n,
        columns=tuple(heads),
        rows=tuple(map(tuple, columns)),
        left_out=left_out(study, asked.labels, [question], n),
        turns=turned(reading, question, counts) if whole else (),
        notes=tuple(notes),
        is_many=question.is_many,
    )


def row_of(code: Code, counts: dict[int, int], n: int) -> list[object]:
    share = share_of(counts.get(code.id, 0), n)
    low, high = share.ci or (None, None)
    return [code.name, counts.get(code.id, 0), share.value, low, high]


def _beside(rows: list[list[object]], more: list[list[object]]) -> None:
    for row, values in zip(rows, more, strict=True):
        row.extend(values)


def ordered(question: Question, counts: dict[int, int], codes: list[Code], order: str) -> list[Code]:
    """The categories in use; in the codebook's order those that nobody used as well."""
    if order == "codebook":
        return codes
    used = [code for code in codes if counts.get(code.id)]
    if order == "name":
        return sorted(used, key=lambda code: (code.name.casefold(), code.name))
    return sorted(used, key=lambda code: -counts[code.id])


def rolled(reading: Reading, question: Question, counts: dict[int, int]) -> dict[int, int]:
    """Bugs of a category or any below it, where there are any below."""
    if reading.level == "top" or not question.children:
        return {}
    if question.is_many:
        top = Reading(reading.study, reading.labels, level="top").categories(question)
        return {code: n for code, n in top.items() if code in question.children}
    return {
        parent: total
        for parent in question.children
        if (total := sum(counts.get(code, 0) for code in question.subtree(parent)))
    }


def pooled(reading: Reading, question: Question, codes: list[int]) -> list[list[object]]:
    """Each category's share weighted by pool, where bugs were drawn from strata of unequal pools; else nothing."""
    strata = dict(Stratum.objects.filter(sample__study=reading.study).exclude(label="").values_list("pk", "size"))
    if len(set(strata.values())) < 2:
        return []
    counts, sizes = reading.strata(question), Counter[int]()
    for (_, stratum), n in counts.items():
        sizes[stratum] += n
    met = [stratum for stratum in strata if stratum in sizes]
    rows: list[list[object]] = []
    for code in codes:
        parts = [Part(k=counts.get((code, s), 0), n=sizes[s], pool=strata[s]) for s in met]
        share = weighted(parts)
        rows.append([share.value, *(share.ci or (None, None))])
    return rows if met else []


def by_pull_request(reading: Reading, question: Question, counts: dict[int, int]) -> dict[int, tuple[float, float]]:
    """Intervals by category, where an item holds several labelled bugs; of one answer a bug alone."""
    shared = {item: found for item, found in reading.shared(question).items() if sum(found.values()) > 1}
    if not shared or question.is_many:
        return {}
    alone = Counter(counts)
    clusters: Counter[Cluster] = Counter()
    for found in shared.values():
        alone.subtract(found)
        clusters[tuple(sorted((str(code), n) for code, n in found.items()))] += 1
    for code, n in alone.items():
        if n:
            clusters[((str(code), 1),)] += n
    return {int(code): interval for code, interval in by_cluster(clusters).items()}


def choices(study: Study, shown: str) -> list[str]:
    """The other labels that there are."""
    return [name for name in (FINAL, UNANIMOUS, *raters_with_labels(study)) if name != shown]


def turned(reading: Reading, question: Question, counts: dict[int, int]) -> tuple[Turn, ...]:
    """Categories that have another rank under other labels."""
    names = {code.id: code.name for code in question.codes}
    found = []
    for labels in choices(reading.study, reading.labels):
        others = Reading(reading.study, labels, level=reading.level).categories(question)
        if not others:
            continue
        codes = [code for code in names if counts.get(code) or others.get(code)]
        here, there = (ranks([n.get(code, 0) for code in codes]) for n in (counts, others))
        changed = [(names[code], f"{a} → {b}") for code, a, b in zip(codes, here, there, strict=True) if a != b]
        n = Reading(reading.study, labels).bugs(question) if question.is_many else sum(others.values())
        found.append(Turn(labels=labels, n=n, changed=tuple(changed)))
    return tuple(found)
