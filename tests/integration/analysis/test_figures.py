"""Figures: asked for, drawn by a worker, kept under their address, the same bytes from the same data."""

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from django.core.management import call_command
from rest_framework.test import APIClient

from annotator.adjudication.models import Resolution
from annotator.analysis import actions, drawing
from annotator.analysis.asked import KINDS, read_asked
from annotator.analysis.models import Drawing
from annotator.analysis.numbers import numbers
from annotator.analysis.picturing import pdf_of, picture_of, png_of
from annotator.codebook.models import Category
from annotator.history.models import Event
from annotator.overview.rounds.closing import close_round
from annotator.sampling.models import Bug
from annotator.studies.models import Study
from annotator.web.errors import BadInput, Refused
from tests.factories import RepositoryFactory, StudyFactory, answer, make_bugs, make_codebook, make_round, member

PAGE = "/frameworks/analysis/figures/"
HOSTILE = [
    "<script>alert(1)</script>",
    "&amp; \\input{/etc/passwd} $x_1^2$ 50% #",
    "=cmd|'/C calc'!A0",
    "日本語 🐞",
    "- a | b `c` **d**",
]


@pytest.fixture
def closed(study, alice, bob, lee):
    """Twenty bugs of two repositories, labelled alike but for one; closed."""
    bugs = make_bugs(study, 20)
    places = [RepositoryFactory(study=study, label=label) for label in ("axon", "corvid")]
    round_ = make_round(study, bugs=bugs, raters=[alice, bob], by=lee)
    for place, bug in enumerate(bugs):
        bug.item.repository = places[place % 2]
        bug.item.save()
        label = {"cause": ("type", "shape", "api")[place % 3], "stage": "training" if place % 4 else "deployment"}
        answer(round_, bug, alice, label, active_seconds=30 + place)
        answer(round_, bug, bob, label | ({"cause": "shape"} if place == 0 else {}), active_seconds=60)
    close_round(round_=round_, by=lee)
    return study


def asked(kind="cross", **options):
    return read_asked(
        kind, {"by": "cause"} | options if kind != "cross" else {"by": "cause", "across": "repository"} | options
    )


@pytest.fixture
def drawn(closed, lee):
    row = actions.ask(study=closed, asked=asked(), by=lee)
    assert drawing.perform(row.pk)
    row.refresh_from_db()
    return row


def test_worker_draws_what_was_asked_once(closed, lee):
    row = actions.ask(study=closed, asked=asked(), by=lee)
    assert (row.state, drawing.left_waiting()) == ("waiting", [row.pk])
    assert drawing.perform(row.pk)
    row.refresh_from_db()
    assert (row.state, row.lease_until, row.svg[:4], bytes(row.pdf[:5]), bytes(row.png[1:4])) == (
        "drawn",
        None,
        "<svg",
        b"%PDF-",
        b"PNG",
    )
    assert row.drawn_of == row.wanted == numbers(closed, asked()).digest
    assert row.data["n"] == 19
    assert drawing.left_waiting() == []
    assert not drawing.perform(row.pk), "nothing has changed"


def test_same_figure_is_asked_for_once_and_remembered(closed, lee, alice):
    first, again = (actions.ask(study=closed, asked=asked(title="A title"), by=by) for by in (lee, alice))
    assert first.pk == again.pk
    assert first.key != actions.ask(study=closed, asked=asked(), by=lee).key
    assert Event.objects.filter(verb="asked for a figure").count() == 2


def test_what_cannot_be_counted_is_refused_and_nothing_is_stored(closed, lee):
    with pytest.raises(BadInput, match="no facet"):
        actions.ask(study=closed, asked=asked(by="colour"), by=lee)
    assert not Drawing.objects.exists()


@pytest.mark.parametrize(
    ("kind", "ignored"),
    [
        ("distribution", {"across": "stage", "show": "rows", "shape": "heat", "fill": "hatched", "period": "quarter"}),
        ("cross", {"moment": "closed", "other": "nowhere", "published": {"a": 1}, "published_as": "A paper"}),
        ("agreement", {"labels": "alice", "level": "top", "order": "name"}),
        ("trend", {"show": "lift", "fill": "hatched"}),
    ],
)
def test_what_a_kind_makes_nothing_of_makes_no_other_figure(closed, lee, kind, ignored):
    rows = [actions.ask(study=closed, asked=asked(kind, **more), by=lee) for more in ({}, ignored)]
    assert rows[0].pk == rows[1].pk


def test_a_facet_by_whatever_name_is_the_same_figure(closed, lee):
    names = ("cause", "Cause", "CAUSE")
    assert len({actions.ask(study=closed, asked=asked("time", by=name), by=lee).pk for name in names}) == 1
    with pytest.raises(BadInput, match="no facet"):
        actions.ask(study=closed, asked=asked("agreement", by="colour"), by=lee)


def test_a_title_and_the_name_of_a_study_are_bounded(closed, client, lee):
    client.force_login(lee)
    form = {"kind": "comparison", "by": "cause", "counts": "Type, 5"}
    for name, said in (("title", "A title has at most 200"), ("published_as", "The name of a study has at most 200")):
        answer_ = client.post(PAGE, form | {"published_as": "A paper"} | {name: "x" * 201})
        assert answer_.status_code == 400 and said in answer_.content.decode()
    assert not Drawing.objects.exists()


@pytest.mark.parametrize(("bound", "said"), [("MOST", "This study has 2"), ("MOST_OF_ONE", "You have 2")])
def test_number_of_figures_has_a_bound_and_one_that_nobody_uses_gives_way(
    closed, lee, client, monkeypatch, bound, said
):
    monkeypatch.setattr(actions, bound, 2)
    first, second = (actions.ask(study=closed, asked=asked(title=title), by=lee) for title in ("One", "Two"))
    with pytest.raises(Refused, match=said):
        actions.ask(study=closed, asked=asked(title="Three"), by=lee)
    Drawing.objects.update(used_at="2020-01-01T00:00Z")
    client.force_login(lee)
    assert client.get(f"{PAGE}{first.key}/").status_code == 200
    actions.ask(study=closed, asked=asked(title="Three"), by=lee)
    assert [row.asked["title"] for row in Drawing.objects.order_by("pk")] == ["One", "Three"]
    gone = Event.objects.get(verb="let an unused figure go")
    assert (gone.label, gone.old["key"]) == ("Two", second.key[:12])


def test_one_person_uses_up_no_others_figures(closed, lee, alice, monkeypatch):
    monkeypatch.setattr(actions, "MOST_OF_ONE", 1)
    actions.ask(study=closed, asked=asked(), by=alice)
    with pytest.raises(Refused, match="You have 1 figures"):
        actions.ask(study=closed, asked=asked(title="Mine"), by=alice)
    assert actions.ask(study=closed, asked=asked(title="Mine"), by=lee).asked_by == lee
    assert actions.ask(study=closed, asked=asked(), by=lee).asked_by == alice


def test_figure_held_by_a_worker_is_left_alone_until_its_lease_is_over(closed, lee):
    row = actions.ask(study=closed, asked=asked(), by=lee)
    Drawing.objects.update(lease_until="2999-01-01T00:00Z")
    assert not drawing.perform(row.pk)
    assert drawing.left_waiting() == []
    Drawing.objects.update(lease_until="2020-01-01T00:00Z")
    assert drawing.left_waiting() == [row.pk]
    assert drawing.perform(row.pk)


def test_facet_that_is_gone_is_said_and_the_last_picture_stays(drawn):
    before = drawn.svg
    Drawing.objects.update(asked=drawn.asked | {"by": "colour"})
    assert drawing.perform(drawn.pk)
    drawn.refresh_from_db()
    assert (drawn.state, drawn.svg) == ("failed", before)
    assert "no facet “colour”" in drawn.message


def test_last_picture_stays_until_it_is_redrawn_and_the_page_says_so(client, drawn, lee, closed):
    client.force_login(lee)
    place = f"{PAGE}{drawn.key}/"
    assert "redrawn" not in client.get(place).content.decode()
    Resolution.objects.filter(study=closed, facet__key="cause").update(is_stale=True)
    page = client.get(place)
    assert "It is being redrawn." in page.content.decode() and page.headers["Refresh"] == "3"
    before = client.get(f"{place}figure.svg").content
    assert drawing.perform(drawn.pk)
    assert "redrawn" not in client.get(place).content.decode()
    assert client.get(f"{place}figure.svg").content != before


def test_every_format_is_a_file_of_the_same_numbers(client, drawn, lee):
    client.force_login(lee)
    for ending, begins in {
        "svg": b"<svg",
        "pdf": b"%PDF",
        "png": b"\x89PNG",
        "tex": b"\\begin{table}",
        "md": b"**Cause by",
        "csv": b"row,column",
        "json": b"{",
    }.items():
        response = client.get(f"{PAGE}{drawn.key}/figure.{ending}")
        assert response.content.startswith(begins)
        assert response.headers["Content-Disposition"].endswith(f'.{ending}"')
    assert client.get(f"{PAGE}{drawn.key}/figure.exe").status_code == 404


def test_person_asks_on_a_page_and_is_led_to_the_figure(client, closed, alice):
    client.force_login(alice)
    response = client.post(PAGE, {"kind": "distribution", "by": "cause", "order": "name"})
    row = Drawing.objects.get()
    assert response.headers["Location"] == f"{PAGE}{row.key}/"
    assert row.asked == {"kind": "distribution", "by": "cause", "order": "name"}
    assert "being drawn" in client.get(f"{PAGE}{row.key}/").content.decode()
    assert client.get(f"{PAGE}{row.key}/figure.svg").status_code == 404
    assert client.post(PAGE, {"kind": "pie"}).status_code == 400
    assert row.key in client.get(PAGE).content.decode()


def test_published_counts_are_pasted_or_uploaded(client, closed, lee, tmp_path):
    client.force_login(lee)
    client.post(
        PAGE, {"kind": "comparison", "by": "cause", "published_as": "A paper", "counts": "cause;n\nType;5\n\nleak;15"}
    )
    sheet = tmp_path / "counts.csv"
    sheet.write_text('"api",3\n"shape",4\n')
    with sheet.open("rb") as file:
        client.post(PAGE, {"kind": "comparison", "by": "cause", "published_as": "Another", "file": file})
    first, second = Drawing.objects.order_by("pk")
    assert first.asked["published"] == {"Type": 5, "leak": 15}
    assert second.asked["published"] == {"api": 3, "shape": 4}
    assert drawing.perform(first.pk)
    assert "leak" in client.get(f"{PAGE}{first.key}/").content.decode()
    looks = client.post(
        PAGE, {"kind": "comparison", "by": "cause", "published_as": "A paper", "like": first.key, "title": "T"}
    )
    assert Drawing.objects.latest("pk").asked["published"] == {"Type": 5, "leak": 15}
    assert looks.status_code == 302


@pytest.mark.parametrize("counts", ["", "crash", "crash, many", "a,1\na,2", "a,-1\nb,2", "a,0"])
def test_published_counts_that_are_none_are_a_clear_page(client, closed, lee, counts):
    client.force_login(lee)
    response = client.post(PAGE, {"kind": "comparison", "by": "cause", "published_as": "A paper", "counts": counts})
    assert response.status_code == 400
    assert not Drawing.objects.exists()


def test_comparison_is_for_members_of_both_studies(client, closed, alice, lee):
    other = StudyFactory(slug="other", title="The other")
    make_codebook(other, {"cause": ["type", "leak"]})
    member(other, lee, "lead")
    for bug, name in zip(make_bugs(other, 3), ("type", "leak", "leak"), strict=True):
        chosen = Category.objects.get(facet__codebook__study=other, name=name)
        Resolution.objects.create(study=other, bug=bug, facet=chosen.facet, category=chosen, source="imported")
    row = actions.ask(study=closed, asked=asked("comparison", other="other"), by=lee)
    assert drawing.perform(row.pk)
    places = [
        "/frameworks/analysis/tables/comparison/?by=cause&other=other",
        "/frameworks/analysis/tables/comparison/table.csv?by=cause&other=other",
        f"{PAGE}{row.key}/",
        f"{PAGE}{row.key}/figure.svg",
        f"/api/v1/studies/frameworks/figures/{row.key}/",
        f"/api/v1/studies/frameworks/figures/{row.key}/figure.svg",
        "/api/v1/studies/frameworks/tables/comparison/?by=cause&other=other",
    ]
    for user, status in ((lee, 200), (alice, 404)):
        client.force_login(user)
        assert {place: client.get(place).status_code for place in places} == dict.fromkeys(places, status)
        assert (row.key in client.get(PAGE).content.decode()) is (status == 200)
    assert client.post(PAGE, {"kind": "comparison", "by": "cause", "other": "other"}).status_code == 404
    client.force_login(lee)
    assert "leak" in client.get(places[0]).content.decode()


@pytest.mark.parametrize("path", ["", "tables/cross/", "tables/cross/table.csv?by=cause&across=stage", "figures/"])
def test_a_stranger_finds_nothing(client, closed, charlie, path):
    client.force_login(charlie)
    assert client.get(f"/frameworks/analysis/{path}").status_code == 404


def test_list_tells_what_was_asked_beside_a_preview(client, drawn, closed, lee):
    more = {"labels": "unanimous", "level": "top", "colours": "grey", "title": "By *name*"}
    actions.ask(study=closed, asked=asked("distribution", **more), by=lee)
    client.force_login(lee)
    page = client.get(PAGE).content.decode()
    assert "One facet across another: Cause × repositories" in page
    assert "Distribution · Cause · unanimous labels · top categories · greys" in page
    (preview,) = re.findall(r"<img [^>]*>", page)
    assert f"{drawn.key}/figure.svg?inline" in preview and 'loading="lazy"' in preview and 'alt="Preview of"' in preview
    assert client.get(f"{PAGE}{drawn.key}/figure.svg?inline").headers["Content-Type"] == "image/svg+xml"


def test_figure_of_another_study_is_not_found(client, drawn, lee):
    other = StudyFactory(slug="other")
    member(other, lee, "lead")
    client.force_login(lee)
    assert client.get(f"/other/analysis/figures/{drawn.key}/").status_code == 404
    assert client.get(f"/api/v1/studies/other/figures/{drawn.key}/").status_code == 404


def test_interface_gives_tables_and_figures(closed, alice):
    client = APIClient()
    client.force_authenticate(alice)
    base = "/api/v1/studies/frameworks/"
    table = client.get(f"{base}tables/cross/?by=cause&across=repository&whole=1").json()
    assert table["n"] == 19 and sum(row[2] for row in table["rows"]) == 19
    assert [turn["labels"] for turn in table["turns"]] == ["unanimous", "alice", "bob"]
    assert client.get(f"{base}tables/pie/").status_code == 404
    assert client.get(f"{base}tables/cross/?by=cause").json()["detail"].startswith("Say which facet")
    made = client.post(f"{base}figures/", {"kind": "distribution", "by": "cause"}, format="json")
    assert (made.status_code, made.json()["state"]) == (202, "waiting")
    key = made.json()["key"]
    assert client.get(f"{base}figures/{key}/figure.pdf").status_code == 404
    assert drawing.perform(Drawing.objects.get().pk)
    told = client.get(f"{base}figures/{key}/").json()
    assert (told["state"], told["is_stale"], told["numbers"]["n"]) == ("drawn", False, 19)
    assert client.get(f"{base}figures/{key}/figure.pdf").content.startswith(b"%PDF")
    assert [row["key"] for row in client.get(f"{base}figures/").json()] == [key]


ALL = [("distribution", {}), ("cross", {}), ("cross", {"fill": "hatched"}), ("cross", {"across": "stage", "show": "rows"}), ("cross", {"show": "lift"}),
       ("cross", {"colours": "grey", "fill": "hatched"}), ("correlation", {}), ("association", {"by": ""}), ("trend", {}), ("time", {}),
       ("agreement", {"by": ""}), ("comparison", {"published": {"type": 3, "leak": 9}, "published_as": "A paper"})]  # fmt: skip


@pytest.mark.parametrize(("kind", "options"), ALL)
def test_same_data_give_the_same_bytes(closed, kind, options):
    one = asked(kind, **options)
    pictures = [picture_of(numbers(closed, one), one) for _ in range(2)]
    assert pictures[0] == pictures[1]
    assert pdf_of(pictures[0]) == pdf_of(pictures[1])
    assert png_of(pictures[0]) == png_of(pictures[1])
    assert ElementTree.fromstring(pictures[0]).tag.endswith("svg")


def test_same_bytes_come_from_another_process(closed, tmp_path):
    one = asked()
    here = picture_of(numbers(closed, one), one)
    code = "import sys, json; from annotator.clients.renderer import svg_of; sys.stdout.write(svg_of(json.load(sys.stdin)))"
    import json

    from annotator.analysis.specs import spec_of

    spec = json.dumps(spec_of(numbers(closed, one), one))
    root = Path(__file__).resolve().parents[3]
    there = subprocess.run(
        [sys.executable, "-c", code], input=spec, capture_output=True, text=True, check=True, cwd=root
    )
    assert there.stdout == here


def test_every_kind_is_drawn():
    assert {kind for kind, _ in ALL} == set(KINDS)


def test_hostile_names_are_only_text_in_a_picture(study, lee):
    cause = Category.objects.filter(facet__codebook__study=study, facet__key="cause").order_by("position")
    for bug, category, name in zip(make_bugs(study, 3), cause, HOSTILE, strict=False):
        category.name = name
        category.save()
        Resolution.objects.create(study=study, bug=bug, facet=category.facet, category=category, source="imported")
    one = asked("distribution", title=HOSTILE[0])
    svg = picture_of(numbers(study, one), one)
    texts = [
        element.text for element in ElementTree.fromstring(svg).iter() if element.text and element.tag.endswith("text")
    ]
    assert HOSTILE[0] in texts
    assert "<script" not in svg


def test_command_writes_each_format_and_stores_nothing(closed, tmp_path, capsys):
    for ending in ("svg", "pdf", "png", "tex", "md", "csv", "json"):
        call_command(
            "figure",
            "frameworks",
            "cross",
            "--by",
            "cause",
            "--across",
            "repository",
            "--out",
            str(tmp_path / f"f.{ending}"),
        )
        assert (tmp_path / f"f.{ending}").stat().st_size > 100
    assert (tmp_path / "f.svg").read_text() == picture_of(numbers(closed, asked()), asked())
    assert not Drawing.objects.exists()
    capsys.readouterr()


@pytest.mark.parametrize(("arguments", "said"), [
    (["nowhere", "cross"], "no study"), (["frameworks", "pie"], "no table"), (["frameworks", "cross", "--by", "cause"], "across"),
    (["frameworks", "agreement", "--out", "/tmp/x.exe"], "ends otherwise"), (["frameworks", "agreement", "--out", "/nowhere/x.svg"], "cannot be written"),
])  # fmt: skip
def test_command_refuses_in_one_line(closed, capsys, arguments, said):
    with pytest.raises(SystemExit) as exit_:
        call_command("figure", *arguments, "--json")
    out, err = capsys.readouterr()
    assert (exit_.value.code, out, err.strip().count("\n")) == (2, "", 0)
    assert said in err


def test_sweep_wakes_for_those_that_nobody_was_woken_for(closed, lee, monkeypatch):
    from annotator.analysis import tasks
    from annotator.web import wake

    row = actions.ask(study=closed, asked=asked(), by=lee)
    woken = []
    monkeypatch.setattr(wake, "wake", lambda task, *arguments, queue: woken.append((task, *arguments)))
    assert tasks.sweep() == 1
    assert woken == [("annotator.analysis.tasks.draw", row.pk)]
    assert tasks.draw(row.pk)
    assert tasks.sweep() == 0


def test_number_of_bugs_in_a_figure_is_that_of_its_table(drawn, closed):
    assert re.search(r"n = 19 bugs; left out: 1 in dispute", drawn.svg)
    assert Bug.objects.filter(study=closed).count() == 20
    assert Study.objects.get().drawings.count() == 1


def test_table_as_a_file_is_that_of_the_page_where_nothing_is_chosen(client, closed, lee):
    client.force_login(lee)
    plain = client.get("/frameworks/analysis/tables/cross/table.csv")
    assert plain.content == client.get("/frameworks/analysis/tables/cross/table.csv?by=cause&across=repository").content
    assert client.get("/frameworks/analysis/tables/cross/table.csv?by=colour").status_code == 400


def test_history_tells_nobody_the_title_of_a_study_compared_with(client, closed, alice, lee):
    other = StudyFactory(slug="other", title="Embargoed matter")
    make_codebook(other, {"cause": ["type", "leak"]})
    member(other, lee, "lead")
    client.force_login(lee)
    assert client.post(PAGE, {"kind": "comparison", "by": "cause", "other": "other"}).status_code == 302
    client.force_login(alice)
    told = client.get("/frameworks/history/").content.decode()
    assert "asked for a figure" in told.lower()
    assert "Embargoed" not in told
