"""Opening, voting and closing: what a vote leaves, and what the close makes of all."""

import datetime as dt

import pytest

from annotator.collection.models import Finding, Harvest, Item, Window
from annotator.history.models import Event
from annotator.overview.past import visible
from annotator.screening.actions import close, open_screening, put_off, take_back, vote
from annotator.screening.choosing import Wanted, choose
from annotator.screening.models import Candidate, Outcome, Reading, Screening, Vote
from annotator.screening.queries import counts, included, open_screening_ids, progress, to_screen
from annotator.screening.turns import last_voted, next_reading, share
from annotator.web.errors import BadInput, Refused
from tests.factories import ItemFactory, RepositoryFactory, UserFactory, member
from tests.factories.screening import item, make_criteria, make_screening, reading, screen


def state(screening) -> dict[int, tuple[str, str, str]]:
    current = Outcome.objects.current().filter(candidate__screening=screening).select_related("criterion", "candidate")
    return {
        one.candidate.position: (one.decision, one.source, one.criterion.code if one.criterion else "")
        for one in current
    }


# --- opening


def test_it_takes_the_newest_first_and_deals_them_in_each_reviewers_order(study, alice, bob, lee):
    make_criteria(study, by=lee)
    for day in (3, 9, 6):
        at = dt.datetime(2026, 1, day, tzinfo=dt.UTC)
        ItemFactory(study=study, title=str(day), identity=f"x{day}", merged_at=at)
    opened = open_screening(study=study, name="A", reviewers=[alice, bob], wanted=Wanted(), seed=5, by=lee)
    found = opened.candidates.order_by("position").values_list("item__title", flat=True)
    assert list(found) == ["9", "6", "3"]
    assert opened.readings.count() == 6
    assert list(opened.reviewers.order_by("username")) == [alice, bob]
    assert Event.objects.get(verb="opened a screening").new["candidates"] == 3


def test_what_is_a_candidate_already_is_not_taken_again(study, alice, lee):
    make_screening(study, reviewers=[alice], by=lee, count=2)
    with pytest.raises(BadInput, match="not a candidate yet"):
        open_screening(study=study, name="B", reviewers=[alice], wanted=Wanted(), by=lee)


def test_items_are_chosen_by_what_they_are(study, lee):
    tessera, axon = (RepositoryFactory(study=study, label=name) for name in ("tessera", "axon"))
    june, july = (dt.datetime(2026, month, 1, tzinfo=dt.UTC) for month in (6, 7))
    ItemFactory(
        study=study, identity="1", title="Fix sum", repository=tessera, labels=["bug", "größer"], opened_at=june
    )
    ItemFactory(study=study, identity="2", title="Mistake in sort", repository=axon, labels=["bugfix"], closed_at=july)
    ItemFactory(study=study, identity="3", title="Add sort", repository=axon, kind="issue")

    def found(**wanted) -> str:
        return "".join(choose(study, Wanted(**wanted)).values_list("identity", flat=True))

    assert found() == "213"
    assert found(repository="axon") == "23"
    assert found(kind="issue") == "3"
    assert found(words="fix, mistake") == "21"
    assert (found(label="bug"), found(label="größer"), found(label='"')) == ("1", "1", "")
    assert found(newest=1) == "2"


def test_items_are_chosen_by_the_harvest_that_found_them(study, lee):
    repository = RepositoryFactory(study=study)
    at = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    harvest = Harvest.objects.create(study=study, number=1, created_by=lee)
    window = Window.objects.create(harvest=harvest, repository=repository, starts=at, ends=at)
    one, _ = ItemFactory(study=study), ItemFactory(study=study)
    Finding.objects.create(harvest=harvest, window=window, repository=repository, number=1, state="fetched", item=one)
    assert list(choose(study, Wanted(harvest=1))) == [one]
    with pytest.raises(BadInput):
        choose(study, Wanted(harvest=2))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"name": " "}, "name"),
        ({"name": "First reading"}, "already"),
        ({"reviewers": []}, "reviewers"),
        ({"overlap": 3}, "3 votes"),
        ({"rule": "by lot"}, "no rule"),
    ],
)
def test_an_opening_that_does_not_hold_together_is_refused(study, screening, alice, bob, lee, changed, said):
    ItemFactory(study=study)
    wanted = {"name": "New", "reviewers": [alice, bob], "overlap": 2, "rule": "majority"} | changed
    with pytest.raises(BadInput, match=said):
        open_screening(study=study, wanted=Wanted(), by=lee, **wanted)


def test_criteria_come_first_and_reviewers_are_raters(study, alice, ada, lee):
    ItemFactory(study=study)
    with pytest.raises(BadInput, match="criteria"):
        open_screening(study=study, name="A", reviewers=[alice], wanted=Wanted(), by=lee)
    make_criteria(study, by=lee)
    with pytest.raises(BadInput, match="ada is not a rater"):
        open_screening(study=study, name="A", reviewers=[ada], wanted=Wanted(), by=lee)


def test_fewer_votes_than_reviewers_rotate(study, alice, bob, lee):
    cleo = member(study, UserFactory(username="cleo"), "rater")
    opened = make_screening(study, reviewers=[alice, bob, cleo], by=lee, count=6, overlap=2)
    each = [opened.readings.filter(reviewer=who).count() for who in (alice, bob, cleo)]
    assert each == [4, 4, 4]


# --- voting


def test_a_vote_changes_until_the_close_and_each_change_is_kept(screening, alice):
    screen(screening, alice, {1: "in"}, comment="sure")
    screen(screening, alice, {1: "E1"})
    vote_ = Vote.objects.get()
    assert (vote_.decision, vote_.criterion.code, vote_.comment) == ("exclude", "E1", "")
    events = Event.objects.filter(kind="vote").order_by("pk")
    assert [event.verb for event in events] == ["voted", "changed a vote"]
    assert (events[1].old, events[1].new) == (["include", "", "sure"], ["exclude", "E1", ""])


def test_the_same_vote_twice_counts_once(screening, alice):
    for _ in range(2):
        screen(screening, alice, {1: "in"})
    assert Event.objects.filter(kind="vote").count() == 1


def test_what_happened_blind_is_its_authors_alone_until_the_close(screening, alice, bob, lee):
    screen(screening, alice, {1: "in"})
    seen = {who.username: visible(screening.study, who).filter(kind="vote").count() for who in (alice, bob, lee)}
    assert seen == {"alice": 1, "bob": 0, "lee": 0}
    assert open_screening_ids(screening.study_id) == [screening.pk]
    close(screening=screening, by=lee)
    assert visible(screening.study, bob).filter(kind="vote").count() == 1


@pytest.mark.parametrize(("decision", "criterion"), [("exclude", ""), ("exclude", "E9"), ("maybe", "E1"), ("", "")])
def test_a_vote_to_exclude_cites_a_criterion(screening, alice, decision, criterion):
    with pytest.raises(BadInput):
        vote(reading=reading(screening, 1, alice), decision=decision, criterion=criterion, by=alice)


def test_one_excludes_for_what_does_not_hold(screening, alice):
    (given,) = screen(screening, alice, {1: "i1"})
    assert given.criterion.ground == "does not hold: merged"


@pytest.mark.parametrize("comment", ["x" * 10_001, "a\x00b", "half \ud800"])
def test_a_comment_that_cannot_be_kept_is_refused(screening, alice, comment):
    with pytest.raises(BadInput):
        screen(screening, alice, {1: "in"}, comment=comment)


def test_nobody_votes_for_another(screening, alice, bob):
    with pytest.raises(Refused):
        vote(reading=reading(screening, 1, alice), decision="include", by=bob)


def test_a_vote_taken_back_is_to_be_given_again(screening, alice):
    screen(screening, alice, {1: "E1"}, comment="hm")
    take_back(reading=reading(screening, 1, alice), by=alice)
    assert not Vote.objects.exists()
    assert reading(screening, 1, alice).state == "todo"
    assert Event.objects.get(verb="took back a vote").old == ["exclude", "E1", "hm"]
    take_back(reading=reading(screening, 1, alice), by=alice)
    assert Event.objects.filter(verb="took back a vote").count() == 1


def test_what_is_put_off_comes_last_and_goes_round(screening, alice):
    order = list(Reading.objects.filter(screening=screening, reviewer=alice).order_by("position"))
    for one in order[:2]:
        put_off(reading=one, by=alice)
    assert next_reading(screening, alice) == order[2]
    screen(screening, alice, {one.candidate.position: "in" for one in order[2:]})
    assert next_reading(screening, alice) == order[0]
    put_off(reading=order[0], by=alice)
    assert next_reading(screening, alice) == order[1]
    with pytest.raises(Refused):
        put_off(reading=order[2], by=alice)


def test_ones_share_and_the_one_voted_on_last(screening, alice, bob):
    order = list(Reading.objects.filter(screening=screening, reviewer=alice).order_by("position"))
    screen(screening, alice, {order[0].candidate.position: "in"})
    screen(screening, bob, {1: "in", 2: "in"})
    found = share(screening, alice)
    assert (found.total, found.voted, found.left) == (4, 1, 3)
    screen(screening, alice, {order[2].candidate.position: "in"})
    screen(screening, alice, {order[1].candidate.position: "in"})
    assert last_voted(screening, alice.pk) == order[1].candidate.position
    assert to_screen(screening.study, alice) == 1


def test_progress_is_the_leads_and_ones_own(study, screening, alice, bob, lee, ada):
    screen(screening, alice, {1: "in"})
    seen = {
        who.username: [
            (one.reviewer.username, one.voted) for one in progress(screening, viewer=who, is_lead=who == lee)
        ]
        for who in (alice, bob, lee, ada)
    }
    assert seen == {"alice": [("alice", 1)], "bob": [("bob", 0)], "lee": [("alice", 1), ("bob", 0)], "ada": []}
    member(study, lee, "rater")
    own = make_screening(study, reviewers=[lee, alice], by=lee)
    assert [one.reviewer for one in progress(own, viewer=lee, is_lead=True)] == [lee]


def test_votes_are_visible_to_their_author_until_the_close(screening, alice, bob, lee):
    screen(screening, alice, {1: "in"})
    assert [Vote.objects.visible_to(who).count() for who in (alice, bob, lee)] == [1, 0, 0]
    close(screening=screening, by=lee)
    assert Vote.objects.visible_to(bob).count() == 1


# --- closing


def test_the_close_writes_what_the_rule_decides(screening, alice, bob, lee):
    screen(screening, alice, {1: "in", 2: "E1", 3: "in", 4: "in"})
    screen(screening, bob, {1: "in", 2: "E2", 3: "E1"})
    close(screening=screening, by=lee)
    assert state(screening) == {1: ("include", "unanimous", ""), 2: ("exclude", "unanimous", "E1")}
    told = counts(screening.study)
    assert (told.conflict, told.unread, told.kept, told.excluded) == (2, 0, 1, {"new feature": 1})
    assert told.adds_up
    assert list(included(screening.study)) == [item(screening, 1)]


def test_the_reason_is_what_most_cite(study, alice, bob, lee):
    cleo = member(study, UserFactory(username="cleo"), "rater")
    opened = make_screening(study, reviewers=[alice, bob, cleo], by=lee, count=1, rule="majority")
    screen(opened, alice, {1: "E2"})
    screen(opened, bob, {1: "I1"})
    screen(opened, cleo, {1: "E2"})
    close(screening=opened, by=lee)
    assert state(opened) == {1: ("exclude", "unanimous", "E2")}


def test_what_nobody_read_is_neither_in_nor_out(screening, alice, lee):
    close(screening=screening, by=lee)
    told = counts(screening.study)
    assert (told.unread, told.conflict, told.kept, told.adds_up) == (4, 0, 0, True)


def test_while_it_is_open_only_the_number_is_known(screening, alice, bob):
    screen(screening, alice, {1: "in", 2: "E1"})
    screen(screening, bob, {1: "in", 2: "E1"})
    told = counts(screening.study)
    assert (told.candidates, told.reading, told.kept, told.all_excluded, told.adds_up) == (4, 4, 0, 0, True)
    assert not included(screening.study).exists()


def test_without_a_screening_every_item_is_in(study, bugs):
    assert included(study).count() == 6
    assert counts(study).candidates == 0


def test_closed_is_final(screening, alice, lee):
    close(screening=screening, by=lee)
    with pytest.raises(Refused):
        close(screening=screening, by=lee)
    for act in (take_back, put_off):
        with pytest.raises(Refused, match="closed"):
            act(reading=reading(screening, 1, alice), by=alice)
    with pytest.raises(Refused, match="closed"):
        screen(screening, alice, {1: "in"})


def test_votes_of_a_sheet_are_not_closed(study, lee):
    brought = Screening.objects.create(study=study, number=1, name="Imported votes", state="imported")
    with pytest.raises(Refused, match="sheet"):
        close(screening=brought, by=lee)


def test_a_large_screening_closes_in_few_queries(study, alice, bob, lee, django_assert_max_num_queries):
    opened = make_screening(study, reviewers=[alice, bob], by=lee, count=60)
    rows = [
        Vote(candidate=one, reviewer=who, decision="include")
        for one in Candidate.objects.filter(screening=opened)
        for who in (alice, bob)
    ]
    Vote.objects.bulk_create(rows)
    with django_assert_max_num_queries(16):
        close(screening=opened, by=lee)
    assert counts(study).kept == 60


def test_items_of_another_study_stay_out(study, screening, lee):
    other = ItemFactory(study=type(study).objects.create(slug="other", title="Other"))
    assert list(included(other.study)) == [other]
    assert Item.objects.filter(study=study).count() == 4
