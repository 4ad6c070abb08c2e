"""What the labelling page sends, read into plain values. What may be answered is checked by the action."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from django.http import QueryDict

from annotator.labeling.models import Assignment, Evidence
from annotator.labeling.submission import Pin, Submission
from annotator.web.errors import BadInput
from annotator.web.numbers import whole

FACET = "f-"  # prefix of a facet's field
SKIP_REASONS = (
    "I wrote or reviewed it",
    "Needs knowledge I do not have",
    "Text or diff is incomplete",
    "Another reason",
)
PIN_KEYS = ("kind", "anchor", "place", "quote")


@dataclass(frozen=True)
class ShownPin(Pin):
    @property
    def as_json(self) -> str:
        return json.dumps({key: getattr(self, key) for key in PIN_KEYS}, ensure_ascii=False)


@dataclass(frozen=True)
class Filled:
    """The state of the answer form: as sent, as kept in a draft, or as submitted before."""

    answers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    not_a_bug: str = ""
    confidence: str = ""
    note: str = ""
    pins: tuple[ShownPin, ...] = ()
    active_seconds: int = 0
    revision: int = 0  # the one that the page showed

    @property
    def chosen(self) -> list[str]:
        return [uid for uids in self.answers.values() for uid in uids]

    def as_draft(self) -> dict[str, Any]:
        return {
            "answers": {key: list(uids) for key, uids in self.answers.items()},
            "not_a_bug": self.not_a_bug,
            "confidence": self.confidence,
            "note": self.note,
            "pins": [{key: getattr(pin, key) for key in PIN_KEYS} for pin in self.pins],
            "active_seconds": self.active_seconds,
        }

    def submission(self, *, is_bug: bool) -> Submission:
        """Ready to submit; its key names base and content, so the same sent twice is the same."""
        made = Submission(
            answers=self.answers if is_bug else {},
            not_a_bug="" if is_bug else self.not_a_bug,
            confidence=self.confidence,
            note=self.note,
            pins=self.pins,
            active_seconds=self.active_seconds,
        )
        content = self.as_draft() | {"active_seconds": 0, "revision": self.revision, "is_bug": is_bug}
        digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()
        return replace(made, key=digest[:40])


def read(sent: QueryDict) -> Filled:
    """What came with a request. BadInput where it cannot come from the page."""
    confidence = sent.get("confidence", "")
    if confidence and confidence not in Assignment.Confidence.values:
        raise BadInput("The confidence is one of sure, fairly and unsure, or is not given.")
    return Filled(
        answers={
            key.removeprefix(FACET): tuple(uid for uid in sent.getlist(key) if uid)
            for key in sent
            if key.startswith(FACET) and any(sent.getlist(key))
        },
        not_a_bug=sent.get("not_a_bug", ""),
        confidence=confidence,
        note=sent.get("note", "").replace("\r\n", "\n").strip(),
        pins=tuple(_pins(sent)),
        active_seconds=whole(sent.get("active_seconds", "")) or 0,
        revision=whole(sent.get("revision", "")) or 0,
    )


def _pins(sent: QueryDict) -> list[ShownPin]:
    pins = [_pin(text) for text in sent.getlist("pin")]
    if quote := sent.get("pin_quote", "").strip():  # by hand, without script
        pins.append(ShownPin(Evidence.Kind.DESCRIPTION, "desc", sent.get("pin_place", "").strip(), quote))
    return pins


def _pin(text: str) -> ShownPin:
    try:
        raw = json.loads(text)
        pin = ShownPin(**{key: str(raw[key]) for key in PIN_KEYS})
    except (ValueError, TypeError, KeyError):
        raise BadInput("A pin cannot be read. Remove it and pin the line again.") from None
    if pin.kind not in Evidence.Kind.values:
        raise BadInput("A pin is on a line, a comment or the description. Remove it and pin again.")
    return pin


def from_draft(draft: Any, *, revision: int) -> Filled:
    """What was kept. Programs write drafts too, so nothing is taken for granted."""
    if not isinstance(draft, dict):
        return Filled(revision=revision)
    answers, pins, seconds = (draft.get(key) for key in ("answers", "pins", "active_seconds"))
    return Filled(
        answers={str(key): tuple(map(str, uids)) for key, uids in answers.items() if isinstance(uids, list)}
        if isinstance(answers, dict)
        else {},
        not_a_bug=_text(draft.get("not_a_bug")),
        confidence=_text(draft.get("confidence")),
        note=_text(draft.get("note")),
        pins=tuple(_kept_pin(pin) for pin in pins if isinstance(pin, dict)) if isinstance(pins, list) else (),
        active_seconds=seconds if isinstance(seconds, int) and seconds > 0 else 0,
        revision=revision,
    )


def _kept_pin(pin: Mapping[str, Any]) -> ShownPin:
    return ShownPin(**{key: _text(pin.get(key)) for key in PIN_KEYS})


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
