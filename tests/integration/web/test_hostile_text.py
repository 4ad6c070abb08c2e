"""Text of pull requests, sheets and people is hostile: on no page does any of it run, load or style."""

import re
from html.parser import HTMLParser

import pytest

from annotator.codebook.actions import publish_version
from annotator.codebook.models import Category
from annotator.collection.models import ChangedFile, Comment, Commit, Context, ItemText, Patch
from annotator.labeling.actions import note_further_bug, save_draft, submit
from annotator.labeling.models import Assignment
from annotator.labeling.submission import Pin, Submission
from annotator.overview.rounds.closing import close_round
from tests.factories import make_round
from tests.integration.blindness.addresses import ARGUMENT, routes

HOSTILE = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>{{7*7}}"
LINK = "javascript:alert(1)"
MARKED = f"{HOSTILE}\n\n[a]({LINK}) ![b]({LINK}) <svg onload=alert(1)> <a href='java&#115;cript:x'>c</a> <style>*{{}}</style>"
PAGES = ("agreement", "adjudication", "bugs", "codebook", "history", "members", "rounds", "frameworks")


class Watch(HTMLParser):
    """Notes what would run, load or style."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if (tag == "script" and not given.get("src")) or tag in {"iframe", "object", "embed", "base", "style"}:
            self.found.append((tag, "", None))
        for name, value in attrs:
            is_link = name in {"href", "src", "action", "formaction"} and re.match(
                r"\s*(javascript|data):", value or ""
            )
            if name.startswith("on") or name == "style" or is_link or (tag == "img" and value == "x"):
                self.found.append((tag, name, value))


@pytest.fixture
def hostile(study, bugs, alice, bob, lee):
    """Every text that a person, a sheet or a pull request brings, in a closed round and an open one."""
    item = bugs[0].item
    item.title, item.url, item.author, item.fetched_at = HOSTILE, LINK, HOSTILE, "2026-01-01T00:00Z"
    item.save()
    ItemText.objects.create(item=item, body=MARKED)
    Comment.objects.create(item=item, position=1, author=HOSTILE, body=MARKED, path=HOSTILE, line=3)
    Commit.objects.create(item=item, position=1, sha="<b>", message=HOSTILE, author=HOSTILE)
    for place, text in enumerate([f"@@ -1 +1 @@ {HOSTILE}\n-{HOSTILE}\n+{HOSTILE}!", HOSTILE], 1):
        changed = ChangedFile.objects.create(item=item, position=place, path=f"{HOSTILE}{place}.py", status="modified")
        Patch.objects.create(file=changed, text=text)
    Context.objects.create(
        item=item, ordinal=1, values={HOSTILE: HOSTILE, "link": LINK, "quoted": 'http://a"onclick=x'}
    )
    for category in Category.objects.exclude(facet__key="verdict"):
        category.name, category.definition = f"{HOSTILE}{category.name}", HOSTILE
        category.include = category.exclude = HOSTILE
        category.examples, category.aka = [HOSTILE], [f"{HOSTILE}{category.uid}"]
        category.save()
    publish_version(codebook=study.codebook, by=lee, reason=HOSTILE)
    for person in (alice, bob, lee):
        person.display_name = HOSTILE
        person.save()
    rounds = [make_round(study, bugs=bugs[:1], raters=[alice, bob], by=lee, name=f"{HOSTILE}{n}") for n in (1, 2)]
    for place, rater in enumerate((alice, bob)):
        speak(Assignment.objects.get(round=rounds[0], rater=rater), place)
        draft = {"note": HOSTILE, "answers": {"cause": [HOSTILE]}, "pins": [{"place": HOSTILE, "quote": HOSTILE}]}
        save_draft(assignment=Assignment.objects.get(round=rounds[1], rater=rater), draft=draft, by=rater)
    close_round(round_=rounds[0], by=lee)
    return bugs[0]


def speak(turn: Assignment, place: int) -> None:
    """Raters differ on the first facet."""
    facets = turn.round.study.codebook.facets
    chosen = {key: [facets.get(key=key).categories.order_by("pk")[place].uid] for key in ("cause", "stage")}
    note_further_bug(assignment=turn, note=HOSTILE, by=turn.rater)
    pins = [Pin("line", HOSTILE[:200], HOSTILE, HOSTILE)]
    submit(assignment=turn, submission=Submission(answers=chosen, note=HOSTILE, pins=pins), by=turn.rater)


def addresses(study) -> list[str]:
    causes = list(study.codebook.facets.get(key="cause").categories.order_by("pk").values_list("uid", flat=True))
    values = {"slug": study.slug, "bug": "1", "facet": "cause", "first": "alice", "second": "bob", "uid": causes[0]}
    values |= {"row": causes[0], "column": causes[1], "username": "alice", "position": "1"}
    found = []
    for route in routes():
        names = ARGUMENT.findall(route)
        if route.startswith("/<slug:slug>/") and set(names) <= {*values, "number"}:
            found += [ARGUMENT.sub(lambda one, n=n: ({"number": n} | values)[one[1]], route) for n in ("1", "2")]
    return sorted(set(found))


@pytest.mark.parametrize("who", ["alice", "lee", "ada"])
def test_nothing_of_it_runs_loads_or_styles(request, client, study, hostile, who):
    client.force_login(request.getfixturevalue(who))
    shown = set()
    for address in addresses(study):
        answer = client.get(address)
        if answer.streaming or "html" not in answer["Content-Type"] or answer.status_code != 200:
            continue
        watch = Watch()
        watch.feed(answer.content.decode())
        assert not watch.found, f"{address}: {watch.found[:3]}"
        shown |= {part for part in PAGES if part in address and "alert(1)" in answer.content.decode()}
    assert {"agreement", "bugs", "codebook", "members", "rounds"} <= shown, "the walk must meet the text"
