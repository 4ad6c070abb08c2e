"""What a harvest looks for: read from what people write, said in words, the same again when asked again."""

import datetime as dt

import pytest

from annotator.collection.saying import in_words, reason_in_words
from annotator.collection.wanted import Wanted, from_document, lines, read_list, unique, words
from annotator.web.errors import BadInput

MAIN = Wanted(
    ("axon/axon", "lumen/lumen"),
    moment="merged",
    first=dt.date(2018, 6, 1),
    last=dt.date(2021, 10, 31),
    words=("fix", "defect", "error"),
    limit=250,
)


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (
            MAIN,
            "Pull requests of axon/axon and lumen/lumen, merged from 1 June 2018 to 31 October 2021 (UTC days, "
            "both included), where a word of the title or of a label begins with fix, defect or error. "
            "The newest 250 of each repository.",
        ),
        (Wanted(("a/b",)), "Pull requests of a/b, opened until now."),
        (
            Wanted(("a/b",), kind="issue", moment="closed", labels=("type:bug", "silent"), first=dt.date(2020, 1, 2)),
            "Issues of a/b, closed from 2 January 2020 until now, with the labels “type:bug” and “silent”.",
        ),
        (
            Wanted(("a/b",), moment="updated", state="open", authors=("ada",)),
            "Open pull requests of a/b, last changed until now, opened by ada.",
        ),
        (
            Wanted(tuple(f"a/{place}" for place in range(6)), limit=1),
            "Pull requests of a/0, a/1, a/2 and 3 more, opened until now. The newest 1 of each repository.",
        ),
        (Wanted(("a/b",), listed=("a/b#1",)), "1 pull request or issue of a/b, named one by one."),
    ],
)
def test_a_query_is_said_in_words(wanted, said):
    assert in_words(wanted) == said


def test_another_host_is_named():
    assert in_words(Wanted(("a/b",)), "ghe.example.org") == "Pull requests of a/b on ghe.example.org, opened until now."


def test_reasons_are_said_in_words():
    assert reason_in_words("451") == "451: blocked for legal reasons"
    assert (reason_in_words("no_answer"), reason_in_words("418")) == ("no answer", "418")


def test_what_is_stored_reads_back_the_same():
    for wanted in (MAIN, Wanted(("a/b",), listed=("a/b#1",)), Wanted(("a/b",), state="open", authors=("ada",))):
        assert from_document(wanted.document()) == wanted


def test_what_an_earlier_version_stored_still_reads():
    stored = MAIN.document()
    for later in ("state", "authors", "listed"):
        del stored[later]
    assert from_document(stored) == MAIN
    assert from_document(stored | {"unheard_of": 1}) == MAIN


@pytest.mark.parametrize(
    ("more", "state"),
    [
        ({"moment": "merged"}, "merged"),
        ({"moment": "closed"}, "closed"),
        ({"moment": "closed", "state": "merged"}, "merged"),
        ({"moment": "created"}, ""),
        ({"moment": "created", "state": "open"}, "open"),
        ({"moment": "updated", "state": "closed"}, "closed"),
    ],
)
def test_what_was_closed_in_a_period_is_closed(more, state):
    assert Wanted(("a/b",), **more).query("a/b").state == state


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"kind": "issue", "state": "merged"}, "not merged"),
        ({"moment": "merged", "state": "closed"}, "is merged"),
        ({"moment": "closed", "state": "open"}, "is not open"),
        ({"authors": ("a b",)}, "no user name"),
        ({"labels": (" ",)}, "not empty"),
        ({"words": ("x" * 201,)}, "at most 200"),
        ({"limit": 0}, "at least 1"),
    ],
)
def test_what_cannot_be_is_said(more, said):
    with pytest.raises(BadInput, match=said):
        Wanted(("a/b",), **more)


def test_a_list_is_read_from_addresses_of_all_kinds():
    sent = lines(
        """https://github.com/Frame/Wood/pull/3
        http://www.github.com/frame/wood/pulls/3/files?w=1#diff, github.com/frame/wood/issues/4
        other/place#5"""
    )
    wanted, host = read_list(sent, host="github.com")
    assert (wanted.listed, wanted.repositories, host) == (
        ("Frame/Wood#3", "Frame/Wood#4", "other/place#5"),
        ("Frame/Wood", "other/place"),
        "github.com",
    )
    assert (wanted.listed_of("frame/wood"), wanted.listed_of("other/place")) == ([3, 4], [5])


@pytest.mark.parametrize(
    "address",
    [
        "https://github.com/a/b",
        "https://github.com/a/b/commit/1234567",
        "https://github.com/a/b/pull/0",
        f"https://github.com/a/b/pull/{2**31}",
        "a/b",
        "a/b#x",
        "javascript:alert(1)",
        "https://github.com/a/b/pull/1 and more",
    ],
)
def test_what_is_no_address_is_named(address):
    with pytest.raises(BadInput, match="is no address of a pull request or issue"):
        read_list([address], host="github.com")


def test_an_empty_list_or_one_of_two_hosts_is_refused():
    with pytest.raises(BadInput, match="The list is empty"):
        read_list([], host="github.com")
    with pytest.raises(BadInput, match="start a harvest for each host"):
        read_list(["https://github.com/a/b/pull/1", "https://ghe.example/a/b/pull/1"], host="github.com")


def test_names_are_taken_from_addresses_and_kept_once():
    sent = ["Frame/Wood", "https://github.com/frame/wood", "https://github.com/other/place.git", "frame/wood/"]
    assert unique(sent)[:2] == ("Frame/Wood", "other/place")
    assert words("fix, Fix defect") == ("fix", "defect")
