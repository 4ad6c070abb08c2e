"""What the demo study read and left out, before and beside its bugs: made up like the rest."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass

from annotator.accounts.models import User
from annotator.collection.actions import ItemCopy, keep_copies
from annotator.screening.actions import close, open_screening, put_off, vote
from annotator.screening.after import decide
from annotator.screening.choosing import Wanted
from annotator.screening.criteria import write
from annotator.screening.models import Candidate, Criterion, Reading, Screening, Vote
from annotator.studies.models import Study

INCLUDE, EXCLUDE = Vote.Decision.INCLUDE.value, Vote.Decision.EXCLUDE.value
HOLDS, KEEPS_OUT = Criterion.Kind.INCLUDE, Criterion.Kind.EXCLUDE
CRITERIA = [
    (HOLDS, "merged", "Merged into the default branch, and not reverted within a month."),
    (HOLDS, "mends a defect", "Code that is shipped or built did not do what it should, and does afterwards."),
    (KEEPS_OUT, "feature or refactoring", "Adds behaviour only, or moves code without changing what it does."),
    (KEEPS_OUT, "tests or documentation only", "Nothing that a user runs is changed."),
    (KEEPS_OUT, "too big to isolate", "The fix cannot be told apart from a larger change."),
    (KEEPS_OUT, "cannot be understood", "Neither text nor discussion nor code says what was wrong."),
]
DOUBTED = "Both read the discussion again: the old result was documented nowhere, so it is a defect all the same."


@dataclass(frozen=True)
class Read:
    """A pull request with the votes of the two reviewers: in, later, nothing, or the code of a criterion."""

    repository: str
    number: int
    title: str
    body: str
    alder: str = ""
    birch: str = ""


LEFT_OUT = [
    Read(
        "axon-ml/axon",
        9088,
        "Fix typo in the docs of `ax.gather`",
        "`indicies` should read `indices`.",
        "E2",
        "E2",
    ),
    Read(
        "corvid-ai/corvid",
        2699,
        "Fix flaky test of the sharded optimizer",
        "The tolerance was too tight for bfloat16. No change outside of `tests/`.",
        "E2",
        "E2",
    ),
    Read(
        "lumen-dl/lumen",
        40150,
        "Correct naming: rename `grad_fn` helpers for consistency",
        "Mechanical rename, no change in behaviour.",
        "E1",
        "E1",
    ),
    Read(
        "tessera-dl/tessera",
        18377,
        "Error messages: add the op's name",
        "It is easier to find the failing op when its name stands in the message.",
        "E1",
        "E1",
    ),
    Read(
        "tessera-dl/tessera",
        18365,
        "Bug bash week: 41 small fixes",
        "Squashed from the branch of the bug bash. See the list in the wiki.",
        "E3",
        "E3",
    ),
    Read(
        "axon-ml/axon",
        9061,
        "Fix scheduler",
        "See internal ticket.",
        "E4",
        "E4",
    ),
    Read(
        "lumen-dl/lumen",
        40122,
        "Fix DataLoader hang, and move it to the new worker pool",
        "The hang comes from the old pool, which this replaces by the new one (2,300 lines).",
        "in",
        "E3",
    ),
    Read(
        "corvid-ai/corvid",
        2680,
        "Fault tolerance: retry a failed host transfer",
        "Transfers can fail for a moment when a host is under load. Retry three times.",
        "E1",
        "in",
    ),
]
TO_READ = [
    Read(
        "axon-ml/axon",
        9163,
        "Fix wrong padding mode in `conv1d` export",
        "The exported graph always padded with zeros; `reflect` was dropped on the way. Fixes #9151.",
        "in",
    ),
    Read(
        "tessera-dl/tessera",
        18601,
        "Mistake in the shape function of `unique`",
        "The count output is one-dimensional whatever the input is.",
        "in",
        "in",
    ),
    Read(
        "lumen-dl/lumen",
        40391,
        "Correct the year in the licence header",
        "As the title says.",
    ),
    Read(
        "corvid-ai/corvid",
        2774,
        "Fix a deadlock when two threads compile the same function",
        "Both waited for the other's lock on the cache. Now there is one lock, taken before the lookup.",
        "later",
    ),
    Read(
        "axon-ml/axon",
        9170,
        "Defective default of `momentum` in BatchNorm",
        "The default is .9, as documented; it was .1, as other frameworks define it the other way round.",
    ),
    Read(
        "lumen-dl/lumen",
        40402,
        "Issue template: ask for the driver's version",
        "Most reports lack it.",
    ),
]


def read_first(study: Study, cast: Mapping[str, User]) -> None:
    """All that was found is read by two; what they differ on is talked over, but for two."""
    for kind, name, text in CRITERIA:
        write(study=study, kind=kind, name=name, text=text, by=cast["cedar"])
    keep(study, LEFT_OUT, by=cast["cedar"])
    first = begin(study, cast, name="First reading", seed=3)
    told = {(one.repository, one.number): one for one in LEFT_OUT}
    for reviewer in ("alder", "birch"):
        for reading in readings(first, cast[reviewer]):
            item = reading.candidate.item
            known = told.get((item.repository.label if item.repository else "", item.number or 0))
            said = getattr(known, reviewer) if known else ("E1" if is_doubted(reading, reviewer) else "in")
            say(reading, said, by=cast[reviewer])
    close(screening=first, by=cast["cedar"])
    settle_doubted(first, cast)


def is_doubted(reading: Reading, reviewer: str) -> bool:
    """Now and then birch takes a bug for a feature at first."""
    return reviewer == "birch" and reading.candidate.position % 19 == 0


def settle_doubted(screening: Screening, cast: Mapping[str, User]) -> None:
    left_out = {(one.repository, one.number) for one in LEFT_OUT}
    open_still = Candidate.objects.filter(screening=screening, outcomes=None).select_related("item__repository")
    for candidate in open_still.order_by("position"):
        item = candidate.item
        if (item.repository.label if item.repository else "", item.number) not in left_out:
            people = ["alder", "birch", "cedar"]
            decide(candidate=candidate, decision=INCLUDE, note=DOUBTED, participants=people, by=cast["cedar"])


def read_on(study: Study, cast: Mapping[str, User]) -> None:
    """What came in since: half-way."""
    keep(study, TO_READ, by=cast["cedar"])
    second = begin(study, cast, name="Later additions", seed=4)
    told = {one.number: one for one in TO_READ}
    for reviewer in ("alder", "birch"):
        for reading in readings(second, cast[reviewer]):
            say(reading, getattr(told[reading.candidate.item.number or 0], reviewer), by=cast[reviewer])


def keep(study: Study, found: list[Read], *, by: User) -> None:
    opened = dt.datetime(2024, 4, 8, 9, 0, tzinfo=dt.UTC)
    copies = [
        ItemCopy(
            repository=one.repository,
            number=one.number,
            identity=f"git.example/{one.repository}#{one.number}".lower(),
            url=f"https://git.example/{one.repository}/pull/{one.number}",
            title=one.title,
            author="sedge",
            opened_at=opened + dt.timedelta(days=place),
            merged_at=opened + dt.timedelta(days=place + 2),
            body=one.body,
        )
        for place, one in enumerate(found)
    ]
    keep_copies(study=study, copies=copies, by=by)


def begin(study: Study, cast: Mapping[str, User], *, name: str, seed: int) -> Screening:
    reviewers = [cast["alder"], cast["birch"]]
    return open_screening(study=study, name=name, reviewers=reviewers, wanted=Wanted(), seed=seed, by=cast["cedar"])


def readings(screening: Screening, reviewer: User) -> list[Reading]:
    mine = Reading.objects.filter(screening=screening, reviewer=reviewer).order_by("position")
    return list(mine.select_related("candidate__item__repository"))


def say(reading: Reading, said: str, *, by: User) -> None:
    if said == "later":
        put_off(reading=reading, by=by)
    elif said == "in":
        vote(reading=reading, decision=INCLUDE, by=by)
    elif said:
        vote(reading=reading, decision=EXCLUDE, criterion=said, by=by)
