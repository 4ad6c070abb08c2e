"""Drawing a sample: the whole pool in order, nothing taken up yet."""

import pytest

from annotator.collection.models import Finding, Harvest, Item, Window
from annotator.history.models import Event
from annotator.sampling.actions import add_bugs, take_up
from annotator.sampling.models import Bug, Drawn, Sample, Stratum
from annotator.sampling.queries import parts
from annotator.screening.models import Candidate, Outcome, Screening
from annotator.web.errors import BadInput, Refused
from tests.factories import ItemFactory, RepositoryFactory
from tests.integration.sampling.conftest import NEWEST_DAY


def listed(sample):
    return list(Drawn.objects.filter(sample=sample).order_by("position").values_list("item__identity", flat=True))


def test_the_whole_pool_is_kept_in_order_and_nothing_is_taken(study, pool, draw, lee):
    sample = draw("newest", count=10)
    assert (sample.number, sample.pool_size, sample.rule) == (
        1,
        40,
        {"kind": "newest", "count": 10, "moment": "merged"},
    )
    assert listed(sample)[:4] == [
        "github.com/axon/axon#1",
        "github.com/lumen/lumen#1",
        "github.com/tessera/tessera#1",
        "github.com/axon/axon#2",
    ]
    assert Drawn.objects.filter(sample=sample, state="reserve").count() == 40
    assert not Bug.objects.exists()
    event = Event.objects.get(verb="drew a sample")
    assert (event.actor_name, event.label, event.new["pool"], event.new["digest"]) == (
        "lee",
        "Main sample",
        40,
        sample.digest,
    )


def test_the_same_seed_gives_the_same_list_and_another_seed_another(pool, draw):
    first, again, other = (
        draw("random", name=name, count=5, seed=seed) for name, seed in (("a", 1), ("b", 1), ("c", 2))
    )
    assert listed(first) == listed(again) != listed(other)
    assert first.digest == again.digest != other.digest


def test_each_stratum_has_its_quota(pool, draw):
    sample = draw("proportional", count=10, within="random")
    assert dict(Stratum.objects.filter(sample=sample).values_list("label", "quota")) == {
        "axon/axon": 3,
        "lumen/lumen": 2,
        "tessera/tessera": 5,
    }


def test_the_smallest_sets_the_quota_of_all(pool, draw):
    found = parts(draw("smallest"))
    assert [(part.label, part.size, part.quota, part.wanted) for part in found] == [
        ("axon/axon", 12, None, 8),
        ("lumen/lumen", 8, None, 8),
        ("tessera/tessera", 20, None, 8),
    ]


def test_what_holds_a_bug_is_not_drawn_again(study, pool, draw, lee):
    add_bugs(study=study, places=[(pool[0], 1)], by=lee)
    assert draw("all").pool_size == 39


def test_the_pool_is_what_screening_keeps(study, pool, draw):
    screening = Screening.objects.create(study=study, number=1, name="Screening 1", state="imported")
    for position, item in enumerate(pool, 1):
        candidate = Candidate.objects.create(study=study, screening=screening, item=item, position=position)
        if position <= 5:
            Outcome.objects.create(candidate=candidate, decision="include", source="unanimous")
    assert draw("all").pool_size == 5


def test_repositories_narrow_the_pool(pool, draw):
    sample = draw("all", repositories=("lumen/lumen",))
    assert (sample.pool_size, sample.rule["repositories"]) == (8, ["lumen/lumen"])


def test_items_without_repository_or_date_have_their_place(study, pool, draw):
    ItemFactory(study=study, repository=None, identity="post 1", merged_at=None)
    sample = draw("smallest", within="newest")
    assert [part.label for part in parts(sample)] == ["axon/axon", "lumen/lumen", "no repository", "tessera/tessera"]
    assert draw("newest", name="undated last", count=1).drawn.last().item.identity == "post 1"


def test_strata_may_be_the_kinds_of_items(study, pool, draw):
    for n in range(3):
        ItemFactory(study=study, kind=Item.Kind.ISSUE, identity=f"issue {n}")
    found = parts(draw("equal", by="kind", count=4))
    assert [(part.label, part.wanted) for part in found] == [("Issue", 3), ("Pull request", 4)]


# --- refusals


def test_an_empty_pool_is_refused(study, draw):
    with pytest.raises(Refused, match="The pool is empty"):
        draw("all")


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ({"kind": "random", "count": 41}, "The pool holds 40 items; 41 are wanted"),
        ({"kind": "random"}, "Say how many bugs are wanted"),
        ({"kind": "dice"}, "“dice” is none of all, newest"),
        ({"kind": "smallest", "by": "kind"}, "All of the pool is of one kind, Pull request"),
        ({"kind": "all", "harvest": 3}, "There is no harvest 3"),
    ],
)
def test_a_rule_that_cannot_be_followed_is_refused(pool, draw, rule, says):
    with pytest.raises(BadInput, match=says):
        draw(**rule)
    assert not Sample.objects.exists()


@pytest.mark.parametrize("name", ["", "  ", "x" * 121, "Main sample"])
def test_a_sample_has_a_name_of_its_own(pool, draw, name):
    draw("all")
    with pytest.raises(BadInput, match="name"):
        draw("all", name=name)


# --- harvests behind the pool


@pytest.fixture
def harvest(study, pool, lee):
    """Done, but for one pull request that was deleted."""
    harvest = Harvest.objects.create(study=study, number=1, created_by=lee, state=Harvest.State.DONE)
    repository = pool[0].repository
    window = Window.objects.create(harvest=harvest, repository=repository, starts=NEWEST_DAY, ends=NEWEST_DAY)
    rows = {"harvest": harvest, "window": window, "repository": repository}
    for item in pool[:12]:
        Finding.objects.create(**rows, number=item.number, state="fetched", item=item)
    Finding.objects.create(**rows, number=99, state="unavailable", reason="410")
    return harvest


def test_an_incomplete_harvest_is_not_drawn_from(harvest, draw):
    with pytest.raises(Refused, match="of harvest 1 are 1 not fetched"):
        draw("all")


def test_a_harvest_that_runs_is_not_drawn_from(harvest, draw):
    Harvest.objects.filter(pk=harvest.pk).update(state=Harvest.State.PAUSED)
    with pytest.raises(Refused, match="harvest 1 is paused"):
        draw("all")


def test_a_written_reason_allows_it_and_stands_beside_sample_and_harvest(harvest, draw):
    sample = draw("all", reason="Its author deleted it.")
    harvest.refresh_from_db()
    assert sample.override_reason == harvest.override_reason == "Its author deleted it."
    assert draw("all", name="the reason stands").override_reason == ""


def test_a_harvest_of_other_repositories_does_not_hinder(study, harvest, draw):
    assert draw("all", repositories=("lumen/lumen",)).pool_size == 8


def test_the_pool_may_be_one_harvest(study, harvest, draw):
    Finding.objects.filter(state="unavailable").delete()
    assert draw("all", harvest=1).pool_size == 12


def test_another_studys_items_are_not_drawn(study, pool, draw, charlie):
    from tests.factories import StudyFactory

    other = StudyFactory()
    ItemFactory(study=other, repository=RepositoryFactory(study=other))
    assert draw("all").pool_size == 40


def test_a_second_sample_does_not_take_what_the_first_has_taken(pool, draw, lee):
    first = draw("newest", count=10)
    take_up(sample=first, by=lee)
    second = draw("all", name="The rest")
    assert second.pool_size == 30
