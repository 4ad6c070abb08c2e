"""The answer side of the labelling page: a version's facets, rendered once; a bug's choices are only marked."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from django.template.loader import render_to_string
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from annotator.codebook.document import NOT_A_BUG, VERDICT, ApartDoc, Below, CategoryDoc, Document, FacetDoc
from annotator.codebook.hotkeys import with_hotkeys
from annotator.codebook.models import Codebook, Facet, Version
from annotator.codebook.reading import to_document
from annotator.labeling.proposals import Code
from annotator.labeling.suggesting import Shown

WIDE_FROM = 9  # so many top answers take a row of their own, in columns
ALONE_FROM = 4  # and so many do where no other facet fits beside them
ROOM = 92  # characters in a row of the panel, keys and gaps included
SHORT = 22  # characters of a name that fits in a third of it
SEARCH_FROM = 10
LONG_DETAIL = 400  # characters; the reserved place scrolls from about there


@dataclass(frozen=True)
class Narrower:
    uid: str
    name: str
    key: str
    path: str  # only where the page cannot tell it: two steps below and deeper


@dataclass(frozen=True)
class Option:
    uid: str
    name: str
    key: str
    definition: str
    include: str
    exclude: str
    examples: tuple[str, ...]
    is_unverified: bool
    narrower: tuple[Narrower, ...]
    apart: tuple[ApartDoc, ...] = ()

    @property
    def has_rule(self) -> bool:
        return bool(self.include or self.exclude or self.examples)

    @property
    def is_long(self) -> bool:
        size = len(self.definition) + len(self.include) + len(self.exclude) + sum(map(len, self.examples))
        size += sum(len(note.text) + len(note.first) + len(note.second) for note in self.apart)
        return size + sum(len(sub.name) + 8 for sub in self.narrower) > LONG_DETAIL


@dataclass(frozen=True)
class Question:
    """A facet as it is asked."""

    key: str
    title: str
    hotkey: str
    definition: str
    is_many: bool
    options: tuple[Option, ...]
    columns: int = 1
    takes_codes: bool = False

    @property
    def longest(self) -> int:
        return max((len(option.name) for option in self.options), default=0)

    @property
    def has_search(self) -> bool:
        return len(self.options) >= SEARCH_FROM

    @property
    def kind(self) -> str:
        return "checkbox" if self.is_many else "radio"


@dataclass(frozen=True)
class Panel:
    """What every bug of a round is asked, as HTML without a choice in it."""

    facets: str
    reasons: str
    reason_names: dict[str, str]
    questions: tuple[Question, ...]
    decided_elsewhere: tuple[str, ...]
    gone: dict[str, str]  # names of categories that are offered no more, by their ids

    def gone_among(self, chosen: Iterable[str]) -> list[str]:
        """What an earlier answer or a draft holds and cannot be chosen any more."""
        return [self.gone[uid] for uid in chosen if uid in self.gone]

    @property
    def open_questions(self) -> tuple[Question, ...]:
        """Those to which a rater may propose codes."""
        return tuple(question for question in self.questions if question.takes_codes)

    def marked(self, chosen: Iterable[str], codes: Iterable[Code] = (), suggested: Iterable[Shown] = ()) -> SafeString:
        html = self._with(codes)
        for one in suggested:
            said = _render("labeling/_suggested.html", suggested=one)
            html = html.replace(f"<!--rules:{one.facet}-->", said, 1)
        return _marked(html, chosen)

    def _with(self, codes: Iterable[Code]) -> str:
        """The rater's own codes, or those that the round shares, follow the codebook's categories."""
        html, mine = self.facets, list(codes)
        for question in self.open_questions if mine else ():
            here = [code for code in mine if code.facet == question.key]
            listed = _render("labeling/_codes.html", facet=question, codes=here)
            html = html.replace(f"<!--codes:{question.key}-->", listed, 1)
        return html

    def reasons_marked(self, reason: str) -> SafeString:
        return _marked(self.reasons, [reason] if reason else [])


def _marked(html: str, chosen: Iterable[str]) -> SafeString:
    for value in chosen:
        html = html.replace(f'value="{escape(value)}"', f'value="{escape(value)}" checked', 1)
    return mark_safe(html)  # rendered by a template; what is put in stands there already


def panel_of(codebook: Codebook) -> Panel:
    """The questions as they are asked now: what is clarified or added reaches open rounds at once."""
    return _published(codebook.digest, codebook.pk, codebook.number)


@lru_cache(maxsize=32)
def _published(digest: str, codebook_id: int, number: int) -> Panel:  # the digest names the content, the rest where
    return _panel(to_document(Version.objects.get(codebook=codebook_id, number=number).document))


def _panel(document: Document) -> Panel:
    document = with_hotkeys(document)
    asked = [f for f in document.facets if not f.retired and f.id != VERDICT]
    questions = tuple(_laid_out([_question(f) for f in asked if f.decided == Facet.Decided.BLIND]))
    verdict = document.facet(VERDICT)
    reasons = verdict.children(NOT_A_BUG) if verdict else ()
    return Panel(
        facets=_render("labeling/_facets.html", questions=questions),
        reasons=_render("labeling/_reasons.html", reasons=reasons),
        reason_names={reason.id: reason.name for reason in reasons},
        questions=questions,
        decided_elsewhere=tuple(f.title for f in asked if f.decided != Facet.Decided.BLIND),
        gone={c.id: c.name for f in asked for c in f.categories if c.retired},
    )


def _render(template: str, **context: object) -> str:
    return re.sub(r">\s*\n\s*<", "><", render_to_string(template, context))


def _question(facet: FacetDoc) -> Question:
    below = facet.below()
    return Question(
        key=facet.id,
        title=facet.title,
        hotkey=facet.hotkey.upper(),
        definition=facet.definition,
        is_many=facet.answers == "many",
        takes_codes=facet.takes_codes,
        options=tuple(_option(facet, category, below) for category in below.get("", ())),
    )


def _laid_out(questions: Sequence[Question]) -> Iterator[Question]:
    """Small facets stand beside each other as far as they fit; a large one, or one left alone, goes in columns."""
    row: list[Question] = []
    for question in questions:
        width = sum(max(each.longest, len(each.title) + 6) + 6 for each in (*row, question))
        if row and (width > ROOM or len(question.options) >= WIDE_FROM):
            yield from _row(row)
            row = []
        row.append(question)
        if len(question.options) >= WIDE_FROM:
            yield from _row(row)
            row = []
    yield from _row(row)


def _row(row: Sequence[Question]) -> Iterator[Question]:
    for question in row:
        is_alone = len(row) == 1 and len(question.options) >= ALONE_FROM
        yield replace(question, columns=(3 if question.longest <= SHORT else 2) if is_alone else 1)


def _option(facet: FacetDoc, category: CategoryDoc, below: Below) -> Option:
    narrower = tuple(_narrower(facet, category, below))
    names = {category.name, *(each.name for each in narrower)}
    return Option(
        uid=category.id,
        name=category.name,
        key=category.hotkey.upper(),
        definition=category.definition,
        include=category.include,
        exclude=category.exclude,
        examples=category.examples,
        is_unverified=category.unverified,
        narrower=narrower,
        apart=tuple(note for note in facet.tell_apart if note.names & names),
    )


def _narrower(facet: FacetDoc, category: CategoryDoc, tree: Below) -> Iterator[Narrower]:
    """All below a category, in order; a key each as far as the digits go."""
    path = {category.name: category.name}
    for place, (depth, below) in enumerate(facet.tree(category.name, below=tree), 1):
        path[below.name] = f"{path[below.parent]} › {below.name}"
        key = below.hotkey.upper() or (str(place) if place <= 9 else "")  # the nine digits
        yield Narrower(uid=below.id, name=below.name, key=key, path=path[below.name] if depth else "")
