"""How a study was done, in sentences written from its record, with what the record does not say.

Each part reads one stage. A sentence that needs what nobody recorded is not written: it is named as missing instead.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, Q

from annotator.adjudication.models import Dispute, Resolution
from annotator.adjudication.queries import final_labels, final_rounds
from annotator.agreement import queries as agreement
from annotator.agreement.entries import Entry
from annotator.agreement.gating import of_round
from annotator.agreement.numbers import percent, short
from annotator.analysis.formats import markdown_text
from annotator.codebook.models import Category, Codebook, Facet
from annotator.collection.models import Harvest
from annotator.collection.saying import in_words, several
from annotator.collection.wanted import from_document
from annotator.labeling.models import Answer, Round
from annotator.publication import reproduced
from annotator.publication.pseudonyms import Hide
from annotator.reproduction.models import Run
from annotator.sampling.models import Bug, Sample
from annotator.sampling.rules import Rule
from annotator.screening.models import Criterion, Screening
from annotator.screening.queries import counts
from annotator.stats.reasons import SENTENCES
from annotator.studies.models import Deviation, Membership, Role, Session, Study
from annotator.studies.protocol import DECIDED_BY, protocol_of

SETTLED = (
    Resolution.Source.ADJUDICATED,
    Resolution.Source.DISCUSSED,
    Resolution.Source.MAJORITY,
    Resolution.Source.JOINT,
)
BLINDNESS = {
    "enforced": "nobody could see another's answers until the round closed",
    "declared": "the answers are declared to have been given blind",
    "unknown": "whether the answers were given blind is not known",
    "no": "the answers were not given blind",
}
GATE = {
    "passed": "Its gate was passed.",
    "failed": "Its gate was not passed.",
    "not_computable": "Its gate could not be computed.",
}
SOURCES = {
    "unanimous": "unanimous among the raters",
    "majority": "settled by the blind majority",
    "discussed": "agreed on by the raters in discussion",
    "adjudicated": "decided by one person who had not rated the bug",
    "single": "given by one rater",
    "joint": "decided jointly",
    "derived": "derived by rule",
    "imported": "brought in with a sheet",
}


@dataclass(frozen=True)
class Part:
    """One section: what is on record, and what is not."""

    name: str
    title: str
    sentences: tuple[str, ...]
    missing: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return " ".join(self.sentences)

    def document(self) -> dict[str, Any]:
        return {"name": self.name, "title": self.title, "text": self.text, "missing": list(self.missing)}


def parts_of(study: Study, hide: Hide, *, pooled: list[Entry] | None = None) -> list[Part]:
    """`hide` gives the names under which people appear; `pooled` is the agreement of all rounds, where it is counted already."""
    return [
        queries_part(study),
        screening_part(study),
        sampling_part(study),
        codebook_part(study),
        raters_part(study, hide),
        rounds_part(study),
        agreement_part(agreement.pooled(study) if pooled is None else pooled, hide),
        disagreements_part(study, hide),
        reproduction_part(study),
        deviations_part(study),
    ]


def plural(n: int, thing: str) -> str:
    return f"{n:,} {thing}" if n == 1 else f"{n:,} {thing}s"


# --- where bugs come from


def queries_part(study: Study) -> Part:
    harvests = Harvest.objects.filter(study=study).order_by("number")
    sentences = [
        f"{in_words(from_document(each.query), each.host)} Asked on {each.created_at:%-d %B %Y}." for each in harvests
    ]
    missing = [] if sentences else ["How the bugs were found: no query is on record."]
    missing += [
        f"Harvest {each.number} has not come to its end." for each in harvests if each.state != Harvest.State.DONE
    ]
    return Part("queries", "Queries", tuple(sentences), tuple(missing))


def screening_part(study: Study) -> Part:
    over = Screening.objects.over().filter(study=study).order_by("number")
    if not over:
        return Part("screening", "Screening", (), ("No screening is on record.",))
    criteria = Criterion.objects.filter(study=study, retired_at=None).order_by("kind", "position")
    found = counts(study)
    sentences = [screening_sentence(each) for each in over]
    if criteria:
        sentences.append(f"The criteria: {', '.join(each.name for each in criteria)}.")
    reasons = [f"{n:,} for {reason}" for reason, n in found.excluded.items()]
    sentences.append(
        f"Of {plural(found.candidates, 'candidate')}, {found.included:,} were included{'; out were ' + several(reasons) if reasons else ''}."
    )
    missing = () if criteria else ("The criteria of screening.",)
    return Part("screening", "Screening", tuple(sentences), missing)


def screening_sentence(screening: Screening) -> str:
    people = screening.reviewers.count()
    rule = Screening.Rule(screening.rule).label.partition(":")[0].lower()
    return f"{plural(people, 'reviewer')} read the candidates of “{screening.name}”, {screening.overlap} each ({rule} rule); {BLINDNESS[screening.blindness].replace('the round', 'it')}."


def sampling_part(study: Study) -> Part:
    samples = Sample.objects.filter(study=study).order_by("number")
    bugs = Bug.objects.filter(study=study)
    left = bugs.exclude(left_reason="").count()
    sentences = [
        f"{Rule.of(each.rule).says}, of {plural(each.pool_size, 'item')}, drawn with seed {each.seed} on {each.drawn_at:%-d %B %Y}."
        for each in samples
    ]
    sentences.append(f"The study has {plural(bugs.count(), 'bug')}{f', of which {left:,} left it' if left else ''}.")
    missing = () if samples else ("How the bugs were chosen among those found: no draw is on record.",)
    return Part("sampling", "Sampling", tuple(sentences), missing)


# --- who labels, and what


def codebook_part(study: Study) -> Part:
    book = Codebook.objects.get(study=study)
    facets = Facet.objects.filter(codebook=book, retired_at=None).exclude(key=Facet.VERDICT)
    active = Category.objects.filter(facet__in=facets, state=Category.State.ACTIVE)
    listed = several(
        [
            f"{facet.name} ({n:,})"
            for facet, n in zip(facets, [active.filter(facet=each).count() for each in facets], strict=True)
        ]
    )
    sentences = [
        f"The codebook “{book.title}”, version {book.number}, asks for {plural(len(facets), 'facet')}, with their categories: {listed}."
    ]
    sentences += [f"It comes from: {book.source}"] if book.source else []
    bare = active.filter(definition="").count()
    missing = [f"A definition of {bare:,} of {active.count():,} categories."] if bare else []
    missing += [] if book.source else ["Where the codebook comes from."]
    return Part("codebook", "Codebook", tuple(sentences), tuple(missing))


def raters_part(study: Study, hide: Hide) -> Part:
    given = Answer.objects.current().filter(round__study=study).exclude(round__state=Round.State.OPEN)
    members = Membership.objects.filter(study=study, role=Role.RATER, user__in=given.values("rater"))
    people = sorted((hide(each.user.username), each.experience, each.tie) for each in members.select_related("user"))
    trained = Session.objects.filter(study=study, kind=Session.Kind.TRAINING).count()
    if not people:
        return Part("raters", "Raters", (), ("Who rated: nobody's answers are over.",))
    sentences = [
        f"{plural(len(people), 'person') if len(people) == 1 else f'{len(people):,} people'} rated: {several([name for name, _, _ in people])}."
    ]
    sentences += [f"{name}: {experience}." for name, experience, _ in people if experience]
    sentences += [f"{name}'s tie to the subject systems: {tie}." for name, _, tie in people if tie]
    training = Round.objects.with_agreement().filter(study=study, kind=Round.Kind.TRAINING).count()
    if trained or training:
        told = [plural(n, thing) for n, thing in ((training, "round"), (trained, "meeting")) if n]
        sentences.append(f"They were trained in {' and '.join(told)}.")
    missing = [f"The experience of {name}." for name, experience, _ in people if not experience]
    missing += [] if trained or training else ["How the raters were trained."]
    return Part("raters", "Raters", tuple(sentences), tuple(missing))


def rounds_part(study: Study) -> Part:
    over = Round.objects.with_agreement().filter(study=study).order_by("number")
    sentences = [round_sentence(each) for each in over]
    missing = [] if sentences else ["No round is over."]
    missing += [
        f"Whether the answers of “{each.name}” were given blind." for each in over if each.blindness == "unknown"
    ]
    return Part("rounds", "Rounds", tuple(sentences), tuple(missing))


def round_sentence(round_: Round) -> str:
    answers = Answer.objects.current().filter(round=round_).order_by()
    bugs = answers.aggregate(n=Count("bug", distinct=True))["n"]
    raters = answers.aggregate(n=Count("rater", distinct=True))["n"]
    said = f"{round_.get_kind_display()} round “{round_.name}”: {plural(bugs, 'bug')}, {plural(raters, 'rater')}; {BLINDNESS[round_.blindness]}."
    gate = of_round(round_, agreement.entries_of(round_))
    said += f" {GATE.get(gate.result, '')}" if round_.gate_coefficient else ""
    return said + (
        f" It was continued below the gate: {round_.gate_continued_reason}" if round_.gate_continued_reason else ""
    )


# --- how well they agreed, and what became of the rest


def agreement_part(pooled: list[Entry], hide: Hide) -> Part:
    found = [entry for entry in pooled if "fleiss" not in entry]
    sentences = tuple(kappa_sentence(entry, hide) for entry in found if entry["kappa"] is not None)
    missing = [
        f"Kappa of {entry['facet_name']}: {SENTENCES.get(entry['reason'], entry['reason'])}"
        for entry in found
        if entry["kappa"] is None
    ]
    return Part(
        "agreement", "Agreement", sentences, tuple(missing or ([] if found else ["Agreement: no main round is over."]))
    )


def kappa_sentence(entry: dict[str, Any], hide: Hide) -> str:
    who = " and ".join(sorted(hide(name) for name in entry["raters"]))
    interval = f", 95 % interval {short(entry['ci'][0])} to {short(entry['ci'][1])}" if entry["ci"] else ""
    observed = f"observed agreement {percent(entry['observed'])}"
    assisted = ", with suggestions shown" if entry.get("assisted") else ""
    return f"{entry['facet_name']}, {who}: Cohen's κ {short(entry['kappa'])} (n = {entry['n']:,}{interval}; {observed}; blindness {entry['blindness']}{assisted})."


def disagreements_part(study: Study, hide: Hide) -> Part:
    rule = DECIDED_BY[protocol_of(study).decided_by]
    sources = dict(final_labels(study).order_by().values_list("source").annotate(n=Count("pk")))
    total, waiting = sum(sources.values()), Dispute.objects.filter(study=study, is_open=True).count()
    sentences = [f"Who decides where raters differ: {rule[:1].lower()}{rule[1:]}."]
    if total:
        told = [
            f"{n:,} ({percent(n / total)}) {SOURCES.get(source, source)}"
            for source, n in sorted(sources.items(), key=lambda pair: -pair[1])
        ]
        sentences.append(f"Of {plural(total, 'final label')} {several(told)}.")
    sentences += list(prevailed(study, hide))
    missing = [f"A decision on {plural(waiting, 'dispute')}."] if waiting else []
    return Part("disagreements", "Disagreements", tuple(sentences), tuple(missing))


def prevailed(study: Study, hide: Hide) -> Iterator[str]:
    """How often the settled label is the one a rater had given blind, of those that people settled."""
    settled = Resolution.objects.current().filter(study=study, is_stale=False, source__in=SETTLED)
    asked = settled.filter(
        facet__is_many=False,
        round__in=final_rounds(study),
        bug__assignments__round=F("round"),
        bug__assignments__answers__facet=F("facet"),
        bug__assignments__answers__is_current=True,
    )
    same = Q(bug__assignments__answers__category=F("category"))
    by_rater = asked.order_by().values_list("bug__assignments__rater__username")
    found = by_rater.annotate(n=Count("pk"), won=Count("pk", filter=same))
    for name, n, won in sorted((hide(name), n, won) for name, n, won in found):
        yield f"{name}'s blind answer prevailed in {won:,} of {n:,} ({percent(won / n)})."


def reproduction_part(study: Study) -> Part:
    recipes = reproduced.told(study).filter(is_current=True)
    bugs = recipes.order_by().aggregate(n=Count("bug", distinct=True))["n"]
    if not bugs:
        return Part("reproduction", "Reproduction", ("No bug was made to happen again.",))
    runs = Run.objects.filter(series__recipe__in=reproduced.told(study), state=Run.State.ENDED).count()
    have = "has a recipe" if bugs == 1 else "have recipes"
    return Part(
        "reproduction", "Reproduction", (f"{plural(bugs, 'bug')} {have}, carried out in {plural(runs, 'run')}.",)
    )


def deviations_part(study: Study) -> Part:
    rows = Deviation.objects.filter(study=study).order_by("pk")
    sentences = [f"On {each.at:%-d %B %Y} the protocol was changed: {each.reason}" for each in rows]
    return Part("deviations", "Deviations from the protocol", tuple(sentences) or ("None is on record.",))


def markdown(parts: list[dict[str, Any]]) -> str:
    """Reasons, titles and experience are as people wrote them: no sign of theirs is markup."""
    sections = []
    for part in parts:
        lines = [f"## {part['title']}", *([markdown_text(part["text"])] if part["text"] else []), ""]
        lines += [f"- Missing: {markdown_text(each)}" for each in part["missing"]]
        sections.append("\n".join(lines).rstrip())
    return "# Methods\n\n" + "\n\n".join(sections) + "\n"
