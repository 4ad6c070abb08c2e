import datetime as dt
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.stats.draws import (
    EQUAL,
    KINDS,
    NEWEST,
    PROPORTIONAL,
    RANDOM,
    SMALLEST,
    Member,
    canonical,
    digest,
    draw,
    largest_remainder,
    lot,
    newest_first,
    sample_size,
)  # fmt: skip

DAY = dt.datetime(2021, 6, 1, tzinfo=dt.UTC)
moments = st.none() | st.integers(0, 5).map(lambda days: DAY + dt.timedelta(days=days))
pools = st.lists(
    st.builds(Member, st.text(min_size=1, max_size=8), st.sampled_from("abc"), moments),
    min_size=1,
    max_size=30,
    unique_by=lambda member: member.identity,
)
seeds = st.integers(0, 2**31 - 1)
kinds = st.sampled_from(KINDS)
within = st.sampled_from([NEWEST, RANDOM])


def named(result):
    return [member.identity for member in result.order]


@given(pools, kinds, within, seeds, st.randoms())
def test_drawn_again_from_any_order_the_same_list_comes_out(pool, kind, inside, seed, chance):
    shuffled = list(pool)
    chance.shuffle(shuffled)
    count = len(pool) // 2
    first, again = (draw(members, kind=kind, count=count, within=inside, seed=seed) for members in (pool, shuffled))
    assert first == again
    assert digest(pool, {"kind": kind}, seed) == digest(shuffled, {"kind": kind}, seed)


@given(pools, kinds, within, seeds)
def test_the_list_is_the_whole_pool(pool, kind, inside, seed):
    result = draw(pool, kind=kind, count=1, within=inside, seed=seed)
    assert sorted(named(result)) == [member.identity for member in canonical(pool)]
    assert sum(part.size for part in result.strata) == len(pool)


@given(pools, kinds, within, seeds, st.data())
def test_a_larger_quota_goes_on_in_the_same_list(pool, kind, inside, seed, data):
    fewer = data.draw(st.integers(0, len(pool)))
    more = data.draw(st.integers(fewer, len(pool)))
    small, large = (draw(pool, kind=kind, count=count, within=inside, seed=seed) for count in (fewer, more))
    assert small.order == large.order
    if kind != PROPORTIONAL:  # its shares are no mere beginnings, see below
        assert set(small.chosen()) <= set(large.chosen())


@given(pools, within, seeds)
def test_each_stratum_of_a_larger_proportional_draw_begins_with_the_smaller_one(pool, inside, seed):
    small, large = (
        draw(pool, kind=PROPORTIONAL, count=count, within=inside, seed=seed) for count in (len(pool) // 2, len(pool))
    )
    for part in small.strata:
        few, many = ([m for m in result.chosen() if m.stratum == part.label] for result in (small, large))
        assert many[: len(few)] == few


@given(pools, kinds, within, seeds)
def test_as_many_are_chosen_as_are_wanted(pool, kind, inside, seed):
    result = draw(pool, kind=kind, count=len(pool) // 2, within=inside, seed=seed)
    chosen = result.chosen()
    for label, wanted in result.wanted().items():
        assert (
            sum(member.stratum == label or kind not in (SMALLEST, PROPORTIONAL, EQUAL) for member in chosen) == wanted
        )


def test_another_seed_gives_another_list():
    pool = [Member(f"frame/wood#{number}") for number in range(50)]
    assert named(draw(pool, kind=RANDOM, count=10, seed=1)) != named(draw(pool, kind=RANDOM, count=10, seed=2))


def test_a_lot_can_be_checked_with_any_tool():
    """printf '7\\ngithub.com/frame/wood#12' | sha256sum"""
    assert lot(7, "github.com/frame/wood#12") == hashlib.sha256(b"7\ngithub.com/frame/wood#12").hexdigest()


def test_the_order_by_chance_is_fixed_for_ever():
    pool = [Member(f"frame/wood#{number}") for number in range(1, 9)]
    found = [identity.partition("#")[2] for identity in named(draw(pool, kind=RANDOM, seed=2021))]
    assert "".join(found) == "68243715"


def test_newest_comes_first_ties_by_identity_and_undated_last():
    late, early = DAY + dt.timedelta(days=1), DAY
    pool = [Member("d"), Member("c", moment=early), Member("b", moment=late), Member("a", moment=early), Member("A")]
    assert [member.identity for member in newest_first(pool)] == ["b", "a", "c", "A", "d"]


def test_the_smallest_stratum_is_read_whole_and_sets_the_number():
    sizes = {"tensorflow": 900, "pytorch": 307, "mxnet": 700, "dl4j": 500}
    pool = [
        Member(f"{label}#{number}", label, DAY - dt.timedelta(hours=number))
        for label, size in sizes.items()
        for number in range(size)
    ]
    result = draw(pool, kind=SMALLEST, within=NEWEST)
    assert result.wanted() == dict.fromkeys(sorted(sizes), 307)
    assert {part.label: part.quota for part in result.strata} == dict.fromkeys(sorted(sizes))
    chosen = result.chosen()
    assert {member.identity for member in chosen if member.stratum == "mxnet"} == {f"mxnet#{n}" for n in range(307)}
    assert [member.stratum for member in chosen[:8]] == ["dl4j", "mxnet", "pytorch", "tensorflow"] * 2


def test_ten_frameworks_share_664_of_22522_in_proportion():
    """The published total over ten frameworks, whose single sizes are made up here: the largest remainders decide."""
    sizes = dict(zip("abcdefghij", [9210, 4633, 3001, 1899, 1490, 1003, 612, 401, 190, 83], strict=True))
    assert sum(sizes.values()) == 22_522
    shares = largest_remainder(sizes, 664)
    assert sum(shares.values()) == 664
    exact = {label: 664 * size / 22_522 for label, size in sizes.items()}
    assert all(int(exact[label]) <= share <= int(exact[label]) + 1 for label, share in shares.items())
    rounded_up = {label for label, share in shares.items() if share > int(exact[label])}
    rest = {label: exact[label] % 1 for label in sizes}
    assert min(rest[label] for label in rounded_up) > max(rest[label] for label in set(sizes) - rounded_up)
    assert list(shares.values()) == [271, 137, 88, 56, 44, 30, 18, 12, 6, 2]
    pool = [Member(f"{label}#{number}", label) for label, size in sizes.items() for number in range(size)]
    result = draw(pool, kind=PROPORTIONAL, count=664, seed=42)
    assert result.wanted() == shares
    assert len(result.chosen()) == 664


def test_a_proportional_list_mirrors_the_pool_at_every_length():
    pool = [Member(f"{label}#{n}", label) for label, size in {"large": 80, "small": 20}.items() for n in range(size)]
    order = draw(pool, kind=PROPORTIONAL, count=10, seed=5).order
    for length in (5, 10, 50):
        assert sum(member.stratum == "large" for member in order[:length]) == length * 4 // 5


def test_equal_remainders_go_to_the_larger_stratum_then_by_label():
    assert largest_remainder({"a": 1, "b": 1}, 1) == {"a": 1, "b": 0}
    assert largest_remainder({"a": 5, "b": 15}, 2) == {"a": 0, "b": 2}
    assert largest_remainder({"b": 0, "a": 0}, 0) == {"a": 0, "b": 0}


def test_more_than_the_pool_are_no_shares():
    with pytest.raises(ValueError, match="3 of 2"):
        largest_remainder({"a": 1, "b": 1}, 3)


@given(st.dictionaries(st.text(max_size=3), st.integers(0, 500), min_size=1, max_size=10), st.floats(0, 1))
def test_no_share_exceeds_its_stratum_nor_strays_by_one(sizes, part):
    total = sum(sizes.values())
    count = int(part * total)
    shares = largest_remainder(sizes, count)
    assert sum(shares.values()) == count
    assert all(share <= sizes[label] for label, share in shares.items())
    assert all(abs(share * total - count * sizes[label]) < total for label, share in shares.items()) or not total


def test_a_stratum_with_fewer_than_an_equal_share_gives_all_it_has():
    pool = [Member(f"{label}#{n}", label) for label, size in {"few": 3, "many": 30}.items() for n in range(size)]
    assert draw(pool, kind=EQUAL, count=10).wanted() == {"few": 3, "many": 10}


@pytest.mark.parametrize(
    ("population", "confidence", "margin", "size"),
    [
        (22_522, 0.95, 0.05, 378),
        (None, 0.95, 0.05, 385),  # as textbooks have it
        (None, 0.99, 0.05, 664),  # so many bug reports of ten frameworks were drawn
        (100, 0.95, 0.05, 80),  # this and the next by Krejcie and Morgan's table (1970)
        (500, 0.95, 0.05, 218),
        (1_000, 0.95, 0.05, 278),
        (10_000, 0.95, 0.05, 370),
        (1, 0.95, 0.05, 1),
        (0, 0.95, 0.05, 0),
    ],
)
def test_sample_sizes_as_published(population, confidence, margin, size):
    assert sample_size(population=population, confidence=confidence, margin=margin) == size


@given(st.integers(1, 10**6), st.floats(0.5, 0.999), st.floats(0.01, 0.5))
def test_a_sample_is_never_larger_than_its_population(population, confidence, margin):
    assert 0 < sample_size(population=population, confidence=confidence, margin=margin) <= population


@pytest.mark.parametrize("wrong", [{"confidence": 1.0, "margin": 0.05}, {"confidence": 0.95, "margin": 0}])
def test_a_size_needs_a_confidence_and_a_margin(wrong):
    with pytest.raises(ValueError, match="between 0 and 1"):
        sample_size(population=10, **wrong)


def test_a_digest_tells_of_any_change():
    pool = [Member("a", "x", DAY), Member("b", "x", None)]
    first = digest(pool, {"kind": NEWEST}, 1)
    others = [
        digest(pool[:1], {"kind": NEWEST}, 1),
        digest([pool[0], Member("b", "y", None)], {"kind": NEWEST}, 1),
        digest([pool[0], Member("b", "x", DAY)], {"kind": NEWEST}, 1),
        digest(pool, {"kind": RANDOM}, 1),
        digest(pool, {"kind": NEWEST}, 2),
    ]
    assert len({first, *others}) == 6
