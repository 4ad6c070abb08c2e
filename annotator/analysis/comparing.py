"""Two studies side by side, for replications: shares, ranks, and how they differ."""

from dataclasses import dataclass, replace

from annotator.analysis.asked import Asked
from annotator.analysis.left_out import left_out
from annotator.analysis.queries import Question
from annotator.analysis.reading import Reading
from annotator.analysis.sheets import COUNT, SHARE, Column, Sheet, Test, ranks
from annotator.codebook.models import Category
from annotator.stats.correlation import spearman
from annotator.stats.shares import Share, difference, share_of
from annotator.studies.models import Study
from annotator.web.errors import BadInput


@dataclass(frozen=True)
class Side:
    """Counts by category name of one study's facet; n counts its bugs."""

    title: str
    n: int
    counts: dict[str, int]


def side_of(study: Study, asked: Asked, facet: str) -> tuple[Side, Question]:
    reading = Reading(study, asked.labels, level=asked.level)
    question = reading.question(facet)
    found = reading.categories(question)
    counts = {code.name: found[code.id] for code in reading.codes(question) if found.get(code.id)}
    n = reading.bugs(question) if question.is_many else sum(counts.values())
    return Side(study.title, n, counts), question


def comparison(study: Study, asked: Asked, *, other: Study | None = None) -> Sheet:
    """Categories are the same by name, whatever its case, or by a further name that this study's codebook knows."""
    here, question = side_of(study, asked, asked.by)
    there = _other_side(asked, other, study.title)
    names = matched(question, here, there)
    pairs = [(name, here.counts.get(mine, 0), there.counts.get(theirs, 0)) for name, mine, theirs in names]
    pairs.sort(key=lambda row: (-row[1], -row[2], row[0].casefold()))
    first, second = ranks([a for _, a, _ in pairs]), ranks([b for _, _, b in pairs])
    rows = [
        _row(name, (a, here.n, first[place]), (b, there.n, second[place])) for place, (name, a, b) in enumerate(pairs)
    ]
    likeness = spearman([a for _, a, _ in pairs], [b for _, _, b in pairs])
    return Sheet(
        kind=asked.kind,
        title=asked.title or f"{question.name}: {here.title} and {there.title}",
        labels=asked.labels,
        n=here.n,
        columns=(
            Column("category", "Category"), Column("bugs", here.title, COUNT), Column("share", "Share", SHARE),
            Column("low", "from", SHARE), Column("high", "to", SHARE), Column("rank", "Rank", COUNT),
            Column("other_bugs", there.title, COUNT), Column("other_share", "Share", SHARE),
            Column("other_low", "from", SHARE), Column("other_high", "to", SHARE), Column("other_rank", "Rank", COUNT),
            Column("difference", "Difference", SHARE), Column("difference_low", "from", SHARE),
            Column("difference_high", "to", SHARE), Column("rank_difference", "Ranks apart", COUNT),
        ),
        rows=tuple(rows),
        left_out=left_out(study, asked.labels, [question], here.n),
        tests=(
            Test("Spearman ρ of the counts", likeness.n, statistic=likeness.rho, reason=likeness.reason),
        ),
        notes=(
            f"{there.title}: n = {there.n}.",
            "Intervals of shares are Wilson's, of differences Newcombe's, at 95 percent. ρ is over categories.",
        ),
        is_many=question.is_many,
    )  # fmt: skip


def _other_side(asked: Asked, other: Study | None, here: str) -> Side:
    if asked.published:
        return Side(asked.published_as or "Published", sum(asked.published.values()), dict(asked.published))
    if other is None:
        raise BadInput("There is no such study to compare with.")
    side = side_of(other, asked, asked.across or asked.by)[0]
    return replace(side, title=f"{side.title} ({other.slug})") if side.title == here else side


def matched(question: Question, here: Side, there: Side) -> list[tuple[str, str, str]]:
    """(name to show, name here, name there), a category that one of them lacks included."""
    known = dict(Category.objects.filter(facet=question.id).values_list("name", "aka"))
    called = {other.casefold(): name for name, others in known.items() for other in others}
    called |= {name.casefold(): name for name in (*known, *here.counts)}
    theirs: dict[str, str] = {}
    for name in there.counts:
        mine = called.get(name.casefold(), name)
        if mine in theirs:
            raise BadInput(f"“{theirs[mine][:60]}” and “{name[:60]}” are both called “{mine[:60]}” here.")
        theirs[mine] = name
    order = [*here.counts, *(name for name in theirs if name not in here.counts)]
    return [(name, name, theirs.get(name, name)) for name in order]


def _row(name: str, here: tuple[int, int, int], there: tuple[int, int, int]) -> tuple[object, ...]:
    first, second = share_of(here[0], here[1]), share_of(there[0], there[1])
    gap = difference(first, second) or (None, None)
    value = None if first.value is None or second.value is None else first.value - second.value
    return (name, here[0], *_told(first), here[2], there[0], *_told(second), there[2], value, *gap, there[2] - here[2])


def _told(share: Share) -> tuple[float | None, float | None, float | None]:
    low, high = share.ci or (None, None)
    return share.value, low, high
