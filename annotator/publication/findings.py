"""A sentence whose numbers are counted when it is read: "{share} of bugs are crashes ({count} of {n})".

`share` of `n` bugs with a label in the facet have one of the categories, or one below it: `count` of them. Where a finding
looks only `within` categories of another facet, or repositories, n is what lies there; `everywhere` is the share without
that, and `lift` the ratio of the two (see stats.association).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from annotator.adjudication.names import nameless_bugs
from annotator.analysis.labels import FINAL, UNANIMOUS, Labels, labels_of
from annotator.analysis.permitted import names_a_rater
from annotator.analysis.queries import Question, questions_of
from annotator.publication import frozen
from annotator.publication.models import Finding, Release
from annotator.publication.pseudonyms import Hide
from annotator.stats.association import lift
from annotator.stats.reasons import SENTENCES
from annotator.stats.shares import share_of
from annotator.studies.models import Study
from annotator.web.errors import BadInput
from annotator.web.texts import check_texts

REPOSITORY = "repository"
PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
WORDS = {
    "share": "the share of the bugs looked at, in percent",
    "low": "its lower bound (Wilson, 95 %)",
    "high": "its upper bound",
    "count": "how many they are",
    "n": "how many were looked at",
    "everywhere": "the share among all bugs, whatever they are within",
    "lift": "how many times as often as everywhere",
}
LONGEST = 2_000
MOST_NAMED = 500  # categories or repositories: a database takes a bounded number of values
PLACES = """
SELECT DISTINCT bug.id AS bug_id FROM sampling_bug bug JOIN collection_item item ON item.id = bug.item_id
JOIN collection_repository repository ON repository.id = item.repository_id WHERE bug.study_id = %s AND repository.label IN
"""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What is counted: categories by uid; `across` a facet's key or "repository", `within` uids or repositories of it."""

    facet: str
    categories: tuple[str, ...]
    across: str = ""
    within: tuple[str, ...] = ()
    labels: str = FINAL

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"categories": list(self.categories), "within": list(self.within)}

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> "Asked":
        return cls(**{**document, "categories": tuple(document["categories"]), "within": tuple(document["within"])})


@dataclass(frozen=True)
class Told:
    """A finding as it reads now, and as the latest release has it."""

    finding: Finding
    text: str
    numbers: dict[str, Any]
    released: str  # empty: in no release yet

    @property
    def has_moved(self) -> bool:
        return bool(self.released) and self.released != self.text


def read_asked(study: Study, given: Mapping[str, Any]) -> Asked:
    """Categories and facets by name or id; what is none is bad input."""
    check_texts(dict(given))
    for name in ("categories", "within"):
        if len(given.get(name) or ()) > MOST_NAMED:
            raise BadInput(
                f"A finding names at most {MOST_NAMED} {'categories' if name == 'categories' else 'to look within'}."
            )
    questions = questions_of(study)
    facet = facet_named(questions, given["facet"])
    across, within = given.get("across") or "", tuple(given.get("within") or ())
    if bool(across) != bool(within):
        raise BadInput("To look within something say both: across which facet, and within which of its categories.")
    if across and across != REPOSITORY:
        other = facet_named(questions, across)
        across, within = other.key, uids_named(other, within)
    labels_of(study, given.get("labels") or FINAL)  # refuses who is no member
    categories = uids_named(facet, given["categories"])
    return Asked(
        facet=facet.key, categories=categories, across=across, within=within, labels=given.get("labels") or FINAL
    )


def check_sentence(sentence: str) -> str:
    if not sentence.strip() or len(sentence) > LONGEST:
        raise BadInput(f"A finding is a sentence of 1 to {LONGEST:,} characters.")
    for word in PLACEHOLDER.findall(sentence):
        if word not in WORDS:
            raise BadInput(
                f"There is no number {{{word[:30]}}}. There are {', '.join(f'{{{each}}}' for each in WORDS)}."
            )
    return sentence.strip()


def facet_named(questions: Sequence[Question], name: str) -> Question:
    for question in questions:
        if name in (question.key, question.name):
            return question
    raise BadInput(f"The codebook has no facet “{name[:60]}”.")


def uids_named(question: Question, names: Sequence[str]) -> tuple[str, ...]:
    known = {code.uid: code.uid for code in question.codes}
    known |= {code.name: code.uid for code in question.codes}
    for name in names:
        if name not in known:
            raise BadInput(f"{question.name} has no category “{name[:60]}”.")
    if not names:
        raise BadInput("Say which categories are counted.")
    return tuple(dict.fromkeys(known[name] for name in names))


# --- numbers


def numbers_of(study: Study, asked: Asked, questions: Sequence[Question]) -> dict[str, Any]:
    """Shares between 0 and 1; None with a reason where there is none."""
    labels = labels_of(study, asked.labels)
    facet = facet_named(questions, asked.facet)
    those = ids_of(facet, asked.categories)
    n_all, k_all = counted(labels, facet, those)
    n, k = counted(labels, facet, those, within=within_of(study, asked, questions)) if asked.across else (n_all, k_all)
    share, everywhere = share_of(k, n), share_of(k_all, n_all)
    found = lift(k, n, k_all, n_all) if asked.across else None
    return {
        "count": k,
        "n": n,
        "share": share.value,
        "low": share.ci[0] if share.ci else None,
        "high": share.ci[1] if share.ci else None,
        "everywhere": everywhere.value,
        "lift": found.value if found else None,
        "reason": found.reason if found else None,
    }


def ids_of(question: Question, uids: Sequence[str]) -> tuple[int, ...]:
    """Of the categories and all below them."""
    tops = [code.id for code in question.codes if code.uid in uids]
    return tuple(sorted(set().union(*(question.subtree(top) for top in tops))))


def within_of(study: Study, asked: Asked, questions: Sequence[Question]) -> tuple[str, tuple[Any, ...]]:
    """A SELECT of the bugs that a finding looks at."""
    if asked.across == REPOSITORY:
        return f"{PLACES} ({places(asked.within)})", (study.pk, *asked.within)
    ids = ids_of(facet_named(questions, asked.across), asked.within)
    return f"SELECT bug_id FROM labels WHERE category_id IN ({places(ids)})", ids  # noqa: S608  # placeholders alone


def counted(
    labels: Labels, facet: Question, those: Sequence[int], *, within: tuple[str, tuple[Any, ...]] | None = None
) -> tuple[int, int]:
    """Bugs with a label in the facet, and those of them with one of these categories."""
    where, params = (f"AND bug_id IN ({within[0]})", within[1]) if within else ("", ())
    chosen = f"category_id IN ({places(those)})"
    sql = (
        f"SELECT COUNT(DISTINCT bug_id), COUNT(DISTINCT CASE WHEN {chosen} THEN bug_id END) "  # noqa: S608  # placeholders alone
        f"FROM labels WHERE facet_id = %s {where}"
    )
    ((n, k),) = labels.ask(sql, *those, facet.id, *params)
    return n, k


def places(values: Sequence[Any]) -> str:
    return ", ".join(["%s"] * len(values))


def text_of(sentence: str, numbers: Mapping[str, Any]) -> str:
    return PLACEHOLDER.sub(lambda found: written(found[1], numbers), sentence)


def written(word: str, numbers: Mapping[str, Any]) -> str:
    value = numbers[word]
    if value is None:
        return f"({SENTENCES.get(numbers.get('reason') or '', 'not computable')})"
    if word in ("count", "n"):
        return f"{value:,}"
    return f"{value:.2f}" if word == "lift" else f"{value * 100:.1f} %"


# --- all of a study


def current(study: Study) -> list[Finding]:
    return list(Finding.objects.filter(study=study, is_current=True, withdrawn_at=None).order_by("number"))


def told(study: Study) -> list[Told]:
    questions, released = questions_of(study), in_latest_release(study)
    found = []
    for finding in current(study):
        numbers = numbers_of(study, Asked.of(finding.asked), questions)
        text = text_of(finding.sentence, numbers)
        found.append(Told(finding, text, numbers, released.get(finding.number, "")))
    return found


def told_to(study: Study, viewer: Any) -> list[Told]:
    """Without those that count one rater's labels, where the viewer still decides without the raters' names."""
    found = told(study)
    if not nameless_bugs(study, viewer, study.my_roles):
        return found
    return [each for each in found if not names_a_rater(each.finding.asked["labels"], viewer)]


def in_latest_release(study: Study) -> dict[int, str]:
    latest = Release.objects.published().filter(study=study).order_by("-number").first()
    held = frozen.document(latest, "findings.json") if latest else None
    return {each["number"]: each["text"] for each in held or []}


def document(study: Study, hide: Hide) -> list[dict[str, Any]]:
    """As a release freezes them; whose labels a finding counts stands under the name that the release has."""
    return [
        {
            "number": each.finding.number,
            "version": each.finding.version,
            "sentence": each.finding.sentence,
            "text": each.text,
            "numbers": each.numbers,
            "asked": each.finding.asked | {"labels": shown(each.finding.asked["labels"], hide)},
        }
        for each in told(study)
    ]


def shown(labels: str, hide: Hide) -> str:
    return labels if labels in (FINAL, UNANIMOUS) else hide(labels)
