"""The pages of sampling: who sees them, and what a lead does there."""

import pytest

from annotator.sampling.actions import leave, take_up, top_up
from annotator.sampling.models import Bug, Sample

RULE = {"name": "Main sample", "kind": "newest", "count": "10", "by": "repository", "within": "newest"} | {
    "moment": "merged", "seed": "7",
}  # fmt: skip
PAGES = ["sampling/", "sampling/1/", "sampling/1/again/"]
LEADS = ["sampling/new/", "sampling/bugs/1/leave/"]
ACTS = [
    "sampling/new/",
    "sampling/1/take-up/",
    "sampling/1/top-up/",
    "sampling/bugs/1/leave/",
    "sampling/bugs/1/come-back/",
]


@pytest.fixture
def sample(pool, draw, lee):
    sample = draw("equal", count=5)
    take_up(sample=sample, by=lee)
    return sample


@pytest.fixture
def signed_in(client, lee):
    client.force_login(lee)
    return client


def text(response):
    return " ".join(response.content.decode().split())


def test_a_stranger_finds_none_of_them(client, sample, charlie):
    client.force_login(charlie)
    assert {client.get(f"/frameworks/{page}").status_code for page in PAGES + LEADS} == {404}
    assert {client.post(f"/frameworks/{page}", RULE).status_code for page in ACTS} == {404}


def test_a_rater_reads_and_draws_nothing(client, sample, alice):
    client.force_login(alice)
    assert {client.get(f"/frameworks/{page}").status_code for page in PAGES} == {200}
    assert {client.get(f"/frameworks/{page}").status_code for page in LEADS} == {403}
    assert {client.post(f"/frameworks/{page}", RULE).status_code for page in ACTS} == {403}
    assert "Take up" not in text(client.get("/frameworks/sampling/1/"))


def test_another_studys_sample_is_not_there(signed_in, sample):
    from tests.factories import StudyFactory

    Sample.objects.filter(pk=sample.pk).update(study=StudyFactory(slug="other"))
    assert signed_in.get("/frameworks/sampling/1/").status_code == 404


def test_an_empty_study_offers_the_first_step(signed_in, study):
    assert "No sample yet." in text(signed_in.get("/frameworks/sampling/"))
    assert "The pool is empty" in text(signed_in.get("/frameworks/sampling/new/"))


# --- a new one


def test_the_preview_shows_numbers_and_first_places(signed_in, pool):
    page = signed_in.get("/frameworks/sampling/new/", {"kind": "proportional", "count": "10", "within": "newest"})
    shown = page.context["preview"]
    assert (shown.pool_size, shown.wanted) == (40, 10)
    assert [(share.label, share.size, share.wanted) for share in shown.shares] == [
        ("axon/axon", 12, 3), ("lumen/lumen", 8, 2), ("tessera/tessera", 20, 5),
    ]  # fmt: skip
    assert len(shown.first) == 20
    assert not Sample.objects.exists()


def test_with_script_the_preview_alone_is_swapped(signed_in, pool):
    page = signed_in.get("/frameworks/sampling/new/", {"kind": "all"}, headers={"HX-Request": "true"})
    assert page.templates[0].name == "sampling/_preview.html"
    assert "<html" not in page.content.decode()


def test_what_is_previewed_is_drawn(signed_in, pool):
    shown = signed_in.get("/frameworks/sampling/new/", RULE).context["preview"]
    response = signed_in.post("/frameworks/sampling/new/", RULE)
    assert response.headers["Location"] == "/frameworks/sampling/1/"
    assert Sample.objects.get().digest == shown.digest


def test_a_confidence_level_gives_the_number(signed_in, pool):
    level = {"kind": "random", "confidence": "95", "margin": "10"}
    assert signed_in.get("/frameworks/sampling/new/", level).context["preview"].wanted == 29
    signed_in.post("/frameworks/sampling/new/", RULE | level | {"count": ""})
    assert Sample.objects.get().rule == {"kind": "random", "count": 29}


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"count": "41"}, "The pool holds 40 items; 41 are wanted"),
        ({"count": ""}, "Say how many bugs are wanted"),
        ({"kind": "dice"}, "Select a valid choice"),
        ({"seed": "-1"}, "greater than or equal to 0"),
        ({"harvest": "9"}, "Select a valid choice"),
        ({"name": ""}, "This field is required"),
        ({"kind": "proportional", "confidence": "95", "margin": "5", "count": ""}, "order the strata at random"),
    ],
)
def test_what_cannot_be_drawn_is_said_and_nothing_stored(signed_in, pool, wrong, says):
    response = signed_in.post("/frameworks/sampling/new/", RULE | wrong)
    assert response.status_code == 422
    assert says in text(response)
    assert not Sample.objects.exists()
    assert signed_in.get("/frameworks/sampling/new/", RULE | wrong).status_code == 200


# --- one sample


def test_its_list_shows_what_became_of_each_place(signed_in, sample, lee):
    bug = Bug.objects.get(number=1)
    leave(bugs=[bug], reason="duplicate", note="Of bug 3.", by=lee)
    top_up(sample=sample, by=lee)
    page = text(signed_in.get("/frameworks/sampling/1/"))
    assert 'left: duplicate</span> <span class="sm dim">bug 16 came' in page
    assert "for bug 1</span>" in page
    assert "Duplicate: Of bug 3." in page


@pytest.mark.parametrize(
    ("filters", "places"),
    [
        ("", list(range(1, 41))),
        ("?state=taken", list(range(1, 16))),
        ("?state=reserve&stratum=lumen/lumen", [17, 20, 23]),
        ("?state=left", []),
        ("?after=38", [39, 40]),
        ("?after=x&stratum=none", []),
    ],
)
def test_the_list_is_narrowed_and_paged(signed_in, sample, filters, places):
    page = signed_in.get(f"/frameworks/sampling/1/{filters}").context["page"]
    assert [row.place.position for row in page.rows] == places


def test_a_long_list_goes_on_on_the_next_page(signed_in, study, draw):
    from tests.integration.sampling.conftest import fill_pool

    fill_pool(study, {"axon/axon": 60})
    draw("all")
    first = signed_in.get("/frameworks/sampling/1/")
    assert len(first.context["page"].rows) == 50
    assert len(signed_in.get(f"/frameworks/sampling/1/{first.context['next_url']}").context["page"].rows) == 10


def test_the_smallest_is_offered_first(signed_in, pool, draw):
    draw("smallest")
    assert "Read lumen/lumen first." in text(signed_in.get("/frameworks/sampling/1/"))
    response = signed_in.post("/frameworks/sampling/1/take-up/", {"stratum": "lumen/lumen"}, follow=True)
    assert "8 bugs taken up: bug 1 to 8." in text(response)
    assert "Read lumen/lumen first." not in text(response)


def test_a_number_that_is_none_is_refused(signed_in, sample):
    response = signed_in.post("/frameworks/sampling/1/take-up/", {"most": "many"})
    assert response.status_code == 400
    assert "as a whole number" in text(response)


def test_what_left_is_replaced_in_one_step(signed_in, sample, lee):
    leave(bugs=list(Bug.objects.filter(number__lte=2)), reason="not_a_bug", by=lee)
    assert "Replace by the next 2" in text(signed_in.get("/frameworks/sampling/1/"))
    response = signed_in.post("/frameworks/sampling/1/top-up/", follow=True)
    assert "2 bugs replaced: bug 16 to 17 came." in text(response)
    assert signed_in.post("/frameworks/sampling/1/top-up/").status_code == 409


def test_drawn_again_says_that_it_is_the_same(signed_in, sample):
    assert "The same bugs come out." in text(signed_in.get("/frameworks/sampling/1/again/"))


# --- bugs that leave and come back


def test_a_bug_leaves_with_a_reason_and_comes_back(signed_in, sample):
    response = signed_in.post("/frameworks/sampling/bugs/3/leave/", {"reason": "withdrawn", "note": "Too large."})
    assert response.headers["Location"] == "/frameworks/bugs/3/"
    assert Bug.objects.get(number=3).left_reason == "withdrawn"
    assert "It left" in text(signed_in.get("/frameworks/sampling/bugs/3/leave/"))
    signed_in.post("/frameworks/sampling/bugs/3/come-back/", {"reason": "It can be isolated."})
    assert Bug.objects.get(number=3).left_at is None


@pytest.mark.parametrize(
    "sent",
    [{"reason": "withdrawn", "note": ""}, {"reason": "boring", "note": "x"}, {"reason": "not_a_bug", "note": "x"}],
)
def test_without_a_good_reason_it_stays(signed_in, sample, sent):
    assert signed_in.post("/frameworks/sampling/bugs/3/leave/", sent).status_code == 422
    assert Bug.objects.get(number=3).left_at is None
    assert signed_in.post("/frameworks/sampling/bugs/3/come-back/", {"reason": ""}).status_code == 400


@pytest.mark.parametrize("lines", [1, 3])
def test_pages_take_the_same_queries_whatever_the_list(signed_in, study, draw, lines, django_assert_max_num_queries):
    from tests.integration.sampling.conftest import fill_pool

    fill_pool(study, {"axon/axon": 10 * lines, "lumen/lumen": 5 * lines})
    draw("equal", count=2)
    with django_assert_max_num_queries(22):
        signed_in.get("/frameworks/sampling/1/")
