"""How alike repositories are, when things happened, how long labelling took, how two studies and the rounds compare."""

from collections import Counter
from collections.abc import Mapping
from itertools import combinations
from typing import Any

from annotator.adjudication.queries import FINAL
from annotator.agreement import screened
from annotator.agreement.entries import Entry
from annotator.agreement.queries import entries
from annotator.analysis.asked import Asked
from annotator.analysis.crossing import cross_of
from annotator.analysis.distributing import ordered
from annotator.analysis.left_out import left_out
from annotator.analysis.queries import questions_of
from annotator.analysis.reading import Reading
from annotator.analysis.sheets import COUNT, NUMBER, SECONDS, SHARE, Column, Sheet
from annotator.stats.correlation import band, spearman
from annotator.studies.models import Study
from annotator.web.errors import BadInput


def correlation(study: Study, asked: Asked) -> Sheet:
    """Spearman's rho of each pair of repositories over the categories in use: its n is categories, not bugs."""
    table = cross_of(
        study, Asked(kind="cross", by=asked.by, across="repository", labels=asked.labels, level=asked.level)
    )
    question = table.questions[0]
    rows: list[tuple[Any, ...]] = []
    for a, b in combinations(table.columns, 2):
        found = spearman(*([table.cells.get((row, place), 0) for row in table.rows] for place in (a, b)))
        word = "" if found.rho is None else band(found.rho)
        rows.append((a, b, found.rho, word, found.n, found.reason or ""))
    return Sheet(
        kind=asked.kind,
        title=asked.title or f"Likeness of repositories in {question.name.lower()}",
        labels=asked.labels,
        n=table.n,
        columns=(
            Column("a", "Repository"), Column("b", "and"), Column("rho", "Spearman ρ", NUMBER),
            Column("band", "Called"), Column("categories", "Categories", COUNT), Column("reason", "Undefined because"),
        ),
        rows=tuple(rows),
        left_out=left_out(study, asked.labels, [question], table.n),
        notes=(
            f"Over the counts of {len(table.rows)} categories in use; ties get the mean rank. n is categories, not bugs, "
            "so no test is made.",
            "From .8 on called very strong, from .6 strong, from .4 moderate.",
        ),
        is_many=question.is_many,
    )  # fmt: skip


def trend(study: Study, asked: Asked) -> Sheet:
    """Bugs by month or quarter and category, with each period's share; periods without a bug are there too."""
    reading = Reading(study, asked.labels, level=asked.level)
    question = reading.question(asked.by)
    counts, dated, undated = Counter[tuple[str, int]](), Counter[str](), 0
    for (month, code), n in reading.months(question, asked.moment).items():
        if month:
            counts[period_of(month, asked.period), code] += n
            dated[period_of(month, asked.period)] += n
        else:
            undated += n
    by_code = Counter[int]()
    for (_, code), n in counts.items():
        by_code[code] += n
    codes = ordered(question, dict(by_code), reading.codes(question), asked.order)
    n = sum(dated.values())
    rows = [
        (when, code.name, counts[when, code.id], counts[when, code.id] / dated[when] if dated[when] else None)
        for when in periods(sorted(dated))
        for code in codes
    ]
    bugs = reading.bugs(question) if question.is_many else n + undated
    left = left_out(study, asked.labels, [question], bugs)
    return Sheet(
        kind=asked.kind,
        title=asked.title or f"{question.name} over time",
        labels=asked.labels,
        n=n,
        columns=(
            Column("period", f"{asked.moment.capitalize()} in"), Column("category", "Category"),
            Column("bugs", "Bugs", COUNT), Column("share", "Share of period", SHARE),
        ),
        rows=tuple(rows),
        left_out=left | {"no_moment": undated},
        notes=(f"By the {asked.period} in which the item was {asked.moment}, in UTC.",),
        unit="labels" if question.is_many else "bugs",
        is_many=question.is_many,
    )  # fmt: skip


def period_of(month: str, period: str) -> str:
    return month if period == "month" else f"{month[:4]} Q{(int(month[5:]) + 2) // 3}"


def periods(met: list[str]) -> list[str]:
    """From the first to the last, none left out."""
    if not met:
        return []
    found, at = [], met[0]
    while at <= met[-1]:
        found.append(at)
        at = after(at)
    return found


def after(period: str) -> str:
    year, mark, number = int(period[:4]), period[4:-2] if "-" in period else " Q", int(period[-2:].lstrip("Q"))
    last = 12 if "-" in period else 4
    year, number = (year + 1, 1) if number == last else (year, number + 1)
    return f"{year}-{number:02}" if "-" in period else f"{year}{mark}{number}"


def time(study: Study, asked: Asked) -> Sheet:
    """Active seconds of a turn by the bug's category: all raters together, rounds that are no longer open."""
    reading = Reading(study, asked.labels, level=asked.level)
    question = reading.question(asked.by)
    found = reading.seconds(question)
    timed = {code: Counter({s: n for s, n in turns.items() if s}) for code, turns in found.items()}
    counts = {code: turns.total() for code, turns in timed.items() if turns}
    codes = ordered(question, counts, reading.codes(question), asked.order)
    rows = [
        (code.name, counts.get(code.id, 0), *(quantile(timed.get(code.id, Counter()), q) for q in (0.25, 0.5, 0.75)))
        for code in codes
    ]
    return Sheet(
        kind=asked.kind,
        title=asked.title or f"Time per bug by {question.name.lower()}",
        labels=asked.labels,
        n=sum(counts.values()),
        columns=(
            Column("category", "Category"), Column("turns", "Turns", COUNT), Column("lower", "Lower quartile", SECONDS),
            Column("median", "Median", SECONDS), Column("upper", "Upper quartile", SECONDS),
        ),
        rows=tuple(rows),
        left_out={"not_timed": sum(turns[0] for turns in found.values())},
        notes=("Time with the bug's page in front, of one rater at one bug. No rater is told apart.",),
        unit="turns of a rater",
        is_many=question.is_many,
    )  # fmt: skip


def quantile(turns: Counter[int], share: float) -> float | None:
    """Of values given with how often they occur, between the two nearest (Hyndman and Fan 1996, type 7)."""
    n = turns.total()
    if not n:
        return None
    place = share * (n - 1)
    below = int(place)
    low, high = (_nth(turns, which) for which in (below, min(below + 1, n - 1)))
    return low + (place - below) * (high - low)


def _nth(turns: Counter[int], which: int) -> int:
    seen = 0
    for value in sorted(turns):
        seen += turns[value]
        if which < seen:
            return value
    raise IndexError(which)


def agreement(study: Study, asked: Asked) -> Sheet:
    """Kappa of each closed round, facet and pair, with its interval: blind answers and screening votes alone."""
    facets = comparable(study)
    wanted = comparable_key(facets, asked.by)
    pairs = [entry for entry in pairs_of(study) if wanted in ("", entry["facet"])]
    rounds = [entry for entry in pairs if entry["kind"] != screened.ROUND]
    return Sheet(
        kind=asked.kind,
        title=asked.title or "Agreement by round",
        labels=FINAL,
        n=max((entry["n"] for entry in rounds or pairs), default=0),
        columns=(
            Column("round", "Round"), Column("facet", "Facet"), Column("raters", "Raters"), Column("bugs", "n", COUNT),
            Column("kappa", "Cohen's κ", NUMBER), Column("low", "from", NUMBER), Column("high", "to", NUMBER),
            Column("blindness", "Blind"), Column("reason", "Undefined because"),
        ),
        rows=tuple(_compared(entry, facets) for entry in pairs),
        notes=(
            "Counted on blind answers, per round, facet and pair; nothing that was settled later changes it.",
            *(["The n of a screening counts candidates, that of a round bugs."] if len(rounds) < len(pairs) else []),
        ),
        unit="bugs in the largest round" if rounds else "candidates in the largest screening",
    )  # fmt: skip


def pairs_of(study: Study) -> list[Entry]:
    """What two raters answered, or two reviewers voted, compared."""
    return [entry for entry in entries(study) if "kappa" in entry and len(entry["raters"]) == 2]


def compared_in(study: Study) -> dict[str, str]:
    """Key to title of the facets in which raters were compared, and of the screening vote."""
    facets = comparable(study)
    return {entry["facet"]: facets[entry["facet"]] for entry in pairs_of(study)}


def comparable(study: Study) -> dict[str, str]:
    return {screened.FACET: screened.TITLE} | {question.key: question.name for question in questions_of(study)}


def comparable_key(facets: Mapping[str, str], name: str) -> str:
    """The key of that name, or the key itself; of none all are meant."""
    for key, title in facets.items():
        if name == key or name.casefold() == title.casefold():
            return key
    if name:
        raise BadInput(f"The codebook has no facet “{name[:60]}”. Agreement is there of: {', '.join(facets)}.")
    return ""


def _compared(entry: Entry, facets: Mapping[str, str]) -> tuple[Any, ...]:
    low, high = entry["ci"] or (None, None)
    pair = " and ".join(entry["raters"])
    found = (entry["n"], entry["kappa"], low, high, entry["blindness"], entry["reason"] or "")
    return (entry["round"], facets[entry["facet"]], pair, *found)
