"""The demo study as it came about: a screening, a pilot, a first main round partly settled, a second one half-way."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from django.db import transaction

from annotator.accounts.models import User
from annotator.codebook.choices import Choices, choices_of
from annotator.codebook.models import Codebook
from annotator.collection.actions import CommentCopy, FileCopy, ItemCopy, keep_copies
from annotator.collection.models import Comment, Item
from annotator.labeling.actions import note_further_bug, park, save_draft, skip, submit
from annotator.labeling.models import Assignment, Round
from annotator.labeling.submission import Pin, Submission
from annotator.overview.demo import people, reproduced, screened
from annotator.overview.demo.content import DemoBug, PullRequest, Turn, Vote, pull_requests
from annotator.overview.demo.settling import settle
from annotator.overview.rounds.closing import close_round
from annotator.overview.rounds.opening import open_next_round
from annotator.sampling.actions import add_bugs, draw_sample, take_up
from annotator.sampling.models import Bug
from annotator.sampling.rules import Rule
from annotator.studies.models import Study

ANSWERED = {"alder": 12, "birch": 9}  # of the open round's twenty
GATE = {"gate_coefficient": Round.GateCoefficient.KAPPA, "gate_method": Round.GateMethod.VALUE, "gate_bound": 0.7}
GOES_ON = (
    "Root cause missed .70. Most differences are between a wrong algorithm and a missing call; the guideline now has "
    "an example of each, and both raters went through them together on the pilot's bugs."
)
FURTHER = (18530, "The depthwise convolution had the same fault, as the discussion says.")


@dataclass
class Story:
    """What the telling needs at hand."""

    study: Study
    cast: Mapping[str, User]
    choices: Choices
    bugs: list[tuple[Bug, PullRequest, DemoBug]] = field(default_factory=list)

    @property
    def lead(self) -> User:
        return self.cast["cedar"]

    @property
    def raters(self) -> list[User]:
        return [self.cast["alder"], self.cast["birch"]]

    def of_round(self, name: str) -> list[tuple[Bug, PullRequest, DemoBug]]:
        return [row for row in self.bugs if row[2].round == name]


@transaction.atomic
def load() -> bool:
    """Make the demo study. False where it is there already: then nothing changes."""
    if Study.objects.filter(slug=people.SLUG).exists():
        return False
    cast = people.welcome()
    study = people.found(cast)
    story = Story(study, cast, choices_of(Codebook.objects.get(study=study)))
    _collect(story)
    _pilot(story)
    _first_round(story)
    _second_round(story)
    _reproduce(story)
    screened.read_on(story.study, story.cast)
    return True


def _collect(story: Story) -> None:
    pulls = pull_requests()
    items = keep_copies(study=story.study, copies=[_copy(pull) for pull in pulls], by=story.lead)
    screened.read_first(story.study, story.cast)
    places = [
        (item, ordinal, pull, bug)
        for item, pull in zip(items, pulls, strict=True)
        for ordinal, bug in enumerate(pull.bugs, 1)
    ]
    bugs = {(bug.item_id, 1): bug for bug in _draw(story, len(items))}
    further = [(item, ordinal) for item, ordinal, *_ in places if ordinal > 1]
    bugs |= {(bug.item_id, bug.ordinal): bug for bug in add_bugs(study=story.study, places=further, by=story.lead)}
    story.bugs = [(bugs[item.pk, ordinal], pull, told) for item, ordinal, pull, told in places]


def _draw(story: Story, count: int) -> list[Bug]:
    """What screening keeps, all of it: a study of this size has no reserve."""
    rule = Rule(kind="newest", count=count)
    sample = draw_sample(study=story.study, name="Main sample", rule=rule, seed=5, by=story.lead)
    return take_up(sample=sample, by=story.lead)


def _copy(pull: PullRequest) -> ItemCopy:
    return ItemCopy(
        repository=pull.repository,
        number=pull.number,
        identity=f"git.example/{pull.repository}#{pull.number}".lower(),
        url=pull.url,
        title=pull.title,
        author=pull.author,
        opened_at=pull.opened,
        merged_at=pull.merged,
        body=pull.body,
        comments=[_comment(pull, turn) for turn in pull.turns],
        files=[
            FileCopy(
                path=file.path,
                patch=file.patch,
                additions=sum(line.kind == "add" for line in file.lines),
                deletions=sum(line.kind == "del" for line in file.lines),
            )
            for file in pull.files
        ],
        kind=Item.Kind.PULL_REQUEST,
    )


def _comment(pull: PullRequest, turn: Turn) -> CommentCopy:
    file = next((file for file in pull.files if file.path == turn.path), None)
    return CommentCopy(
        author=turn.by,
        at=turn.at,
        body=turn.text,
        kind=Comment.Kind.INLINE if file else Comment.Kind.COMMENT,
        path=turn.path,
        line=file.first_change if file else None,
    )


# --- the rounds


def _open(story: Story, name: str, *, title: str, kind: str, seed: int, reason: str = "") -> Round:
    return open_next_round(
        study=story.study,
        name=title,
        bugs=[bug for bug, _, _ in story.of_round(name)],
        raters=story.raters,
        by=story.lead,
        reason=reason,
        kind=kind,
        seed=seed,
        **(GATE if kind == Round.Kind.MAIN else {}),
    )


def _pilot(story: Story) -> None:
    pilot = _open(story, "pilot", title="Pilot", kind=Round.Kind.TRAINING, seed=7)
    for rater in story.raters:
        _answer(story, _turns(pilot, rater))
    close_round(round_=pilot, by=story.lead)


def _first_round(story: Story) -> None:
    first = _open(story, "main-1", title="Round 1", kind=Round.Kind.MAIN, seed=11)
    for rater in story.raters:
        _answer(story, _turns(first, rater))
    _note_further(story, first, FURTHER, by=story.cast["birch"])
    close_round(round_=first, by=story.lead)
    settle(story.of_round("main-1"), cast=story.cast)


def _second_round(story: Story) -> None:
    second = _open(story, "main-2", title="Round 2", kind=Round.Kind.MAIN, seed=13, reason=GOES_ON)
    alder, birch = story.raters
    mine = _turns(second, alder)
    park(assignment=mine[2], by=alder)
    _answer(story, [*mine[:2], *mine[3 : ANSWERED["alder"] + 1]])
    draft = {"answers": {}, "note": "Read the linked issue once more before deciding.", "pins": []}
    save_draft(assignment=mine[ANSWERED["alder"] + 1], draft=draft, by=alder)
    theirs = _turns(second, birch)
    skip(assignment=theirs[4], reason="Needs knowledge I do not have", note="I do not know this compiler.", by=birch)
    _answer(story, [*theirs[:4], *theirs[5 : ANSWERED["birch"] + 1]])


def _reproduce(story: Story) -> None:
    bugs = {pull.number: bug for bug, pull, _ in story.of_round("main-1") if bug.ordinal == 1}
    reproduced.write_recipes(bugs, by=story.cast["cedar"])


def _note_further(story: Story, round_: Round, further: tuple[int, str], *, by: User) -> None:
    number, note = further
    bug = next(bug for bug, pull, _ in story.bugs if pull.number == number)
    note_further_bug(assignment=Assignment.objects.get(round=round_, bug=bug, rater=by), note=note, by=by)


def _turns(round_: Round, rater: User) -> list[Assignment]:
    rows = Assignment.objects.filter(round=round_, rater=rater).select_related("round", "rater", "bug")
    return list(rows.order_by("position"))


def _answer(story: Story, turns: Iterable[Assignment]) -> None:
    told = {bug.pk: (pull, demo) for bug, pull, demo in story.bugs}
    for turn in turns:
        pull, demo = told[turn.bug_id]
        vote = demo.votes[turn.rater.username]
        submit(assignment=turn, submission=submission(pull, vote, story.choices), by=turn.rater)


def submission(pull: PullRequest, vote: Vote, choices: Choices) -> Submission:
    quote = pull.quote(vote.cites) if vote.cites else None
    return Submission(
        answers={}
        if vote.not_a_bug
        else {facet: [uid_of(choices, facet, name)] for facet, name in vote.answers.items()},
        not_a_bug=vote.not_a_bug,
        confidence=vote.confidence,
        note=vote.why,
        pins=[Pin(quote.kind, quote.anchor, quote.place, quote.text)] if quote else [],
        active_seconds=60 + 3 * len(vote.why),
    )


def uid_of(choices: Choices, facet: str, name: str) -> str:
    return next(uid for uid, known in choices.facets[facet].names.items() if known == name)
