"""The methods say what is on record, with the record's numbers, and name what is not."""

import html

import pytest
from django.test import Client
from markdown_it import MarkdownIt

from annotator.agreement.queries import pooled
from annotator.publication.checklist import checklist
from annotator.publication.datacard import rounds
from annotator.publication.methods import markdown, parts_of
from annotator.publication.pseudonyms import pseudonyms_of
from annotator.studies.actions import change_protocol
from annotator.studies.models import Membership
from annotator.studies.protocol import Protocol
from tests.factories import make_bugs, make_harvest, make_round
from tests.factories.reproduction import end_all, make_series


def told(study, hide=str):
    return {part.name: part for part in parts_of(study, hide)}


def test_what_was_done_is_told_with_its_numbers(labelled, alice, lee):
    Membership.objects.filter(user=alice).update(experience="six years of PyTorch")
    make_harvest(labelled, items=[labelled.bugs.get(number=1).item], by=lee)
    parts = told(labelled)
    assert "tessera-dl/tessera" in parts["queries"].text
    assert "alice: six years of PyTorch." in parts["raters"].text
    assert parts["raters"].missing == (
        "The experience of bob.",
        "The experience of carol.",
        "How the raters were trained.",
    )
    assert "Main round “Main round”: 11 bugs, 3 raters; nobody could see" in parts["rounds"].text
    kappa = next(each for each in pooled(labelled) if each["facet"] == "impact" and each["raters"] == ["alice", "bob"])
    assert f"(n = {kappa['n']}" in parts["agreement"].text and "blindness enforced" in parts["agreement"].text
    assert (
        "1 (" in parts["disagreements"].text
        and "decided by one person who had not rated the bug" in parts["disagreements"].text
    )


def test_how_often_each_rater_prevailed_is_counted_on_decisions_alone(labelled):
    """Ada decided one facet of one bug: as Carol had answered."""
    said = told(labelled)["disagreements"].text
    assert "carol's blind answer prevailed in 1 of 1 (100 %)." in said
    assert "alice's blind answer prevailed in 0 of 1 (0 %)." in said


def test_what_is_not_on_record_is_missing_and_not_invented(study, bugs):
    parts = told(study)
    for name in ("queries", "screening", "sampling", "raters", "rounds", "agreement"):
        assert parts[name].missing, name
    assert parts["queries"].text == ""
    assert parts["deviations"].text == "None is on record."
    items = {f"{item['source']} {item['number']}": item for item in checklist(list(parts.values()))}
    assert items["GRRAS 13"]["state"] == "missing"
    assert items["GRRAS 1"]["state"] == "in the paper"
    assert len(items) == 25


def test_a_deviation_is_told_with_its_reason(labelled, lee):
    change_protocol(study=labelled, protocol=Protocol(by_majority=True), reason="We are three by now.", by=lee)
    assert "We are three by now." in told(labelled)["deviations"].text


HOSTILE = "*We* are three by now: <script>x</script> | [see](http://x) # `a_b`"
ESCAPED = r"\*We\* are three by now: &lt;script&gt;x&lt;/script&gt; \| \[see\](http://x) \# \`a\_b\`"


def test_what_people_wrote_is_no_markup_in_the_files(labelled, lee):
    """Read as Markdown, it is the text that it was."""
    change_protocol(study=labelled, protocol=Protocol(by_majority=True), reason=HOSTILE, by=lee)
    text = markdown([part.document() for part in parts_of(labelled, str)])
    assert text.count(ESCAPED) == 1 and HOSTILE not in text
    read = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    assert html.unescape(read).count(HOSTILE) == 1
    assert not any(f"<{mark}" in read for mark in ("em", "script", "a ", "code", "table"))
    card = rounds([{"number": 1, "name": HOSTILE, "kind": "main", "blindness": "enforced", "codebook_version": 1}])
    assert ESCAPED in card


def test_an_open_round_is_told_nowhere(labelled, alice, bob, lee):
    before = parts_of(labelled, str)
    make_round(labelled, bugs=make_bugs(labelled, 1), raters=[alice, bob], by=lee, name="Unheard of")
    after = told(labelled)
    assert all(part == after[part.name] for part in before if part.name != "sampling")


@pytest.mark.parametrize("place", ["methods/", "methods.md"])
def test_members_read_it_and_nobody_else(labelled, alice, charlie, place):
    url = f"/tensors/publication/{place}"
    client = Client()
    assert client.get(url).status_code == 302
    client.force_login(charlie)
    assert client.get(url).status_code == 404
    client.force_login(alice)
    assert "prevailed" in client.get(url).content.decode()


def test_who_decides_without_names_reads_pseudonyms(labelled, ada):
    client = Client()
    client.force_login(ada)
    page = client.get("/tensors/publication/methods/").content.decode()
    assert pseudonyms_of(labelled)("alice") in page
    assert "alice" not in page


def test_recipes_of_bugs_in_an_open_round_are_not_counted(labelled, alice, bob, ada, lee):
    shown, kept = make_bugs(labelled, 2)
    for bug in (shown, kept):
        end_all(make_series(bug, ada), buggy="bug", fixed="no_bug")
    assert told(labelled)["reproduction"].text == "2 bugs have recipes, carried out in 8 runs."
    make_round(labelled, bugs=[kept], raters=[alice, bob], by=lee, name="Later")
    assert told(labelled)["reproduction"].text == "1 bug has a recipe, carried out in 4 runs."
