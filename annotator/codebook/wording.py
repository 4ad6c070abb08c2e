"""A change in one sentence, without its full stop."""

from collections.abc import Mapping
from typing import Any

from annotator.codebook.differing import TOP, WORDING, listed, quoted
from annotator.codebook.models import Change

Act = Change.Act
VERBS: dict[str, str] = {
    Act.MERGE: "merged categories",
    Act.SPLIT: "split a category",
    Act.REDEFINE: "changed the meaning of a category",
}
FIELDS = WORDING | {
    "is_unverified": WORDING["unverified"],
    "rank": "place on the scale",
    "parent": "place in the tree",
    "is_code": "whether it waits to be placed",
}
MOST_NAMED = 6


def sentence(change: Change, names: Mapping[str, str] | None = None) -> str:
    """`names` of categories that the change itself did not note, by id."""
    known = {**(names or {}), **change.new.get("names", {})}
    return {
        Act.RENAME: _renamed,
        Act.CLARIFY: _clarified,
        Act.MOVE: _moved,
        Act.MERGE: _merged,
        Act.SPLIT: _split,
    }.get(Act(change.act), _plain)(change, known)


def _named(change: Change, known: Mapping[str, str], *, besides: str = "") -> str:
    uids = [uid for uid in change.categories if uid != besides]
    names = [known.get(uid, uid) for uid in uids]
    return listed(names) if len(names) <= MOST_NAMED else f"{len(names)} categories"


def _verb(change: Change, *, besides: str = "", is_one: bool = False) -> str:
    """“Was”, or what is to be where the change still waits."""
    is_one = is_one or len([uid for uid in change.categories if uid != besides]) == 1
    if change.applied_at is None:
        return "is to be" if is_one else "are to be"
    return "was" if is_one else "were"


def _renamed(change: Change, known: Mapping[str, str]) -> str:
    fields: Any = change.old["fields"], change.new["fields"]
    return f"{quoted(fields[0]['name'])} was renamed {quoted(fields[1]['name'])}"


def _clarified(change: Change, known: Mapping[str, str]) -> str:
    what = ", ".join(FIELDS.get(name, name) for name in change.new["fields"])
    return f"{_named(change, known)} was clarified: {what}"


def _moved(change: Change, known: Mapping[str, str]) -> str:
    places = change.new.get("places")
    if places:
        to = {place["parent"] for place in places.values()}
        where = f"below {quoted(known.get(next(iter(to)), ''))}" if len(to) == 1 and "" not in to else "in the tree"
        return f"{_named(change, known)} {_verb(change)} moved {where if to != {''} else f'to {TOP}'}"
    fields = change.new["fields"]
    if "parent" not in fields:
        return f"{_named(change, known)} was moved on the scale"
    where = f"below {quoted(known.get(fields['parent'], ''))}" if fields["parent"] else f"to {TOP}"
    return f"{_named(change, known)} was moved {where}"


def _merged(change: Change, known: Mapping[str, str]) -> str:
    if change.undoes_id:
        return f"The split of {quoted(known.get(change.categories[0], ''))} {_verb(change, is_one=True)} taken back"
    into = change.new["into"]
    return f"{_named(change, known, besides=into)} {_verb(change, besides=into)} merged into {quoted(known[into])}"


def _split(change: Change, known: Mapping[str, str]) -> str:
    parts = listed(part["name"] for part in change.new["parts"])
    return f"{quoted(known[change.new['of']])} {_verb(change, is_one=True)} split into {parts}"


def _plain(change: Change, known: Mapping[str, str]) -> str:
    named, verb = _named(change, known), _verb(change)
    if change.act == Act.RESTORE and change.undoes_id and change.undoes and change.undoes.act == Act.MERGE:
        into = change.undoes.new["into"]
        sources = _named(change, known, besides=into)
        return f"The merge of {sources} into {quoted(known.get(into, into))} {_verb(change, is_one=True)} taken back"
    said = {
        Act.ADD: "added",
        Act.REDEFINE: "given its old meaning back" if change.undoes_id else "changed in meaning",
        Act.RETIRE: "deleted" if change.new.get("deleted") else "retired",
        Act.RESTORE: "taken back into use",
    }[Act(change.act)]
    return f"{named} {verb} {said}"
