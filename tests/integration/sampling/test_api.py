"""Samples over REST: all that the pages can do."""

import pytest

from annotator.sampling.models import Bug, Sample
from tests.contract.interface import Interface

BASE = "studies/frameworks"
RULE = {"kind": "equal", "count": 5, "by": "repository", "within": "newest", "moment": "merged"}
WANTED = {"name": "Main sample", "rule": RULE, "seed": 7}


@pytest.fixture
def lead(lee, pool) -> Interface:
    return Interface(lee)


@pytest.fixture
def drawn(lead):
    return lead.post(f"{BASE}/samples/", WANTED, status=201)


def test_a_sample_is_previewed_drawn_and_taken_up(lead):
    shown = lead.post(f"{BASE}/samples/preview/", {"rule": RULE, "seed": 7})
    assert (shown["pool"], shown["wanted"], len(shown["first"]), shown["lacks"]) == (40, 15, 20, "")
    assert not Sample.objects.exists()
    drawn = lead.post(f"{BASE}/samples/", WANTED, status=201)
    assert (drawn["number"], drawn["digest"], drawn["rule"]) == (1, shown["digest"], RULE)
    assert [one["name"] for one in lead.get(f"{BASE}/samples/")["results"]] == ["Main sample"]
    taken = lead.post(f"{BASE}/samples/1/take-up/", {"stratum": "lumen/lumen", "most": 2})
    assert taken == {"bugs": [1, 2]}
    assert len(lead.post(f"{BASE}/samples/1/take-up/")["bugs"]) == 13
    strata = lead.get(f"{BASE}/samples/1/")["strata"]
    assert [(part["stratum"], part["wanted"], part["bugs"], part["reserve"]) for part in strata] == [
        ("axon/axon", 5, 5, 7), ("lumen/lumen", 5, 5, 3), ("tessera/tessera", 5, 5, 15),
    ]  # fmt: skip


def test_a_bug_leaves_is_replaced_and_the_list_tells(lead, drawn):
    lead.post(f"{BASE}/samples/1/take-up/")
    gone = lead.post(f"{BASE}/bugs/1/leave/", {"reason": "duplicate", "note": "Of bug 4."})
    assert (gone["number"], gone["left"], gone["note"]) == (1, "duplicate", "Of bug 4.")
    (made,) = lead.post(f"{BASE}/samples/1/top-ups/", status=201)["top_ups"]
    assert (made["left"], made["came"], made["by"]) == (1, 16, "lee")
    assert lead.get(f"{BASE}/samples/1/top-ups/")["results"] == [made]
    (left,) = lead.get(f"{BASE}/samples/1/places/?state=left")["results"]
    assert left["bugs"] == [{"number": 1, "left": "duplicate", "replaces": None, "replaced_by": 16}]
    assert lead.get(f"{BASE}/bugs/1/")["left"] == "duplicate"
    lead.post(f"{BASE}/bugs/1/come-back/", {"reason": "By mistake."}, status=409)


def test_a_bug_comes_back(lead, drawn):
    lead.post(f"{BASE}/samples/1/take-up/")
    lead.post(f"{BASE}/bugs/1/leave/", {"reason": "withdrawn", "note": "Too large."})
    back = lead.post(f"{BASE}/bugs/1/come-back/", {"reason": "By mistake."})
    assert (back["left"], back["left_at"]) == ("", None)


def test_a_confidence_level_gives_the_number(lead):
    sent = WANTED | {"rule": {"kind": "random"}, "confidence": 95, "margin": 10}
    assert lead.post(f"{BASE}/samples/", sent, status=201)["rule"] == {"kind": "random", "count": 29}


def test_places_are_paged_by_position(lead, drawn):
    first = lead.get(f"{BASE}/samples/1/places/?page_size=30")
    assert [place["position"] for place in first["results"]] == list(range(1, 31))
    rest = lead.get(first["next"].removeprefix("http://testserver"))
    assert [place["position"] for place in rest["results"]] == list(range(31, 41))
    assert lead.get(f"{BASE}/samples/1/places/?stratum=none")["results"] == []


def test_drawn_again(lead, drawn):
    again = lead.get(f"{BASE}/samples/1/again/")
    assert (again["same"], again["holds"], again["digest"], again["changes"]) == (True, True, drawn["digest"], [])


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (WANTED | {"rule": {"kind": "dice"}}, 400),
        (WANTED | {"rule": {"kind": "random", "count": 41}}, 400),
        (WANTED | {"rule": {"kind": "random"}}, 400),
        (WANTED | {"rule": RULE, "confidence": 95}, 400),
        (WANTED | {"seed": -1}, 400),
        (WANTED | {"name": ""}, 400),
        (WANTED | {"rule": {"kind": "all", "repositories": ["none"]}}, 409),
    ],
)
def test_what_cannot_be_drawn_is_refused(lead, sent, status):
    lead.post(f"{BASE}/samples/", sent, status=status)
    assert not Sample.objects.exists()


def test_nothing_left_to_do_is_refused(lead, drawn):
    lead.post(f"{BASE}/samples/1/top-ups/", status=409)
    lead.post(f"{BASE}/samples/1/take-up/", {"stratum": "corvid"}, status=400)
    lead.post(f"{BASE}/bugs/1/leave/", {"reason": "withdrawn", "note": "x"}, status=404)


def test_a_rater_reads_and_a_stranger_finds_nothing(drawn, alice, charlie):
    rater, stranger = Interface(alice), Interface(charlie)
    for place in ("samples/", "samples/1/", "samples/1/places/", "samples/1/top-ups/", "samples/1/again/"):
        rater.get(f"{BASE}/{place}")
        stranger.ask("get", f"{BASE}/{place}", status=404)
    for place in ("samples/", "samples/preview/"):
        rater.post(f"{BASE}/{place}", WANTED, status=403)
        stranger.post(f"{BASE}/{place}", WANTED, status=404)
    for place in ("samples/1/take-up/", "samples/1/top-ups/", "bugs/1/leave/", "bugs/1/come-back/"):
        rater.post(f"{BASE}/{place}", status=403)
        stranger.post(f"{BASE}/{place}", status=404)
    assert not Bug.objects.exists()
