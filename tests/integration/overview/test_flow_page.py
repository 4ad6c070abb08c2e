"""The flow in the browser and over REST: the picture, the numbers behind it, and the files."""

from xml.etree import ElementTree

import pytest
from django.core.cache import cache

from annotator.clients.renderer import pdf_of
from annotator.overview import tasks
from annotator.overview.flow import files
from annotator.overview.flow.counting import flow_of
from annotator.overview.flow.drawing import NARROW, WIDE, drawing_of, svg_of
from annotator.sampling.actions import draw_sample, leave, take_up
from annotator.sampling.models import Bug
from annotator.sampling.rules import Rule
from tests.contract.interface import Interface
from tests.integration.sampling.conftest import fill_pool

PAGE = "/frameworks/flow/"
FILES = ["flow.svg", "flow.json", "flow.pdf"]


@pytest.fixture
def sample(study, lee):
    fill_pool(study, {"axon/axon": 12, "lumen/lumen": 8})
    sample = draw_sample(study=study, name="Main sample", rule=Rule(kind="equal", count=4), seed=1, by=lee)
    take_up(sample=sample, by=lee)
    return sample


@pytest.fixture(autouse=True)
def empty_cache():
    cache.clear()


@pytest.fixture
def woken(monkeypatch):
    """What a worker would be woken for."""
    heard = []
    monkeypatch.setattr(files, "wake", lambda task, *arguments: heard.append((task, *arguments)))
    return heard


def text(response):
    return " ".join(response.content.decode().split())


def test_members_see_it_and_strangers_do_not(client, sample, alice, charlie):
    client.force_login(alice)
    assert {client.get(PAGE + file).status_code for file in ["", *FILES]} == {200}
    client.force_login(charlie)
    assert {client.get(PAGE + file).status_code for file in ["", *FILES]} == {404}


def test_the_page_shows_what_fell_out_with_the_way_to_it(client, sample, lee):
    leave(bugs=[Bug.objects.get(number=1)], reason="duplicate", note="Of bug 2.", by=lee)
    client.force_login(lee)
    page = client.get(PAGE)
    assert "It adds up." in text(page)
    assert '<a href="/frameworks/bugs/?state=duplicate">1</a>' in text(page)
    assert "Out: 8" in text(page)


def test_every_link_leads_to_so_many(client, sample, lee):
    leave(bugs=list(Bug.objects.filter(number__lte=2)), reason="withdrawn", note="Too large.", by=lee)
    client.force_login(lee)
    for step in flow_of(sample.study).steps:
        for one in (step, *step.excluded):
            if one.url.startswith("/frameworks/bugs/?"):
                assert len(client.get(one.url).context["page"].rows) == one.n, one.url
            elif one.url:
                assert client.get(one.url).status_code == 200, one.url


def test_what_does_not_add_up_is_said(client, study, sample, lee):
    Bug.objects.create(study=study, item=Bug.objects.get(number=1).item, ordinal=2, number=99)
    client.force_login(lee)
    page = text(client.get(PAGE))
    assert "It does not add up." in page
    assert "Of bug 99 nothing is on record" in page


def test_an_empty_study_has_a_page(client, study, lee):
    client.force_login(lee)
    assert "Brought in: 0 items" in text(client.get(PAGE))


# --- the picture


@pytest.mark.parametrize("layout", [WIDE, NARROW])
def test_boxes_stay_on_the_picture_and_do_not_overlap(sample, layout):
    drawing = drawing_of(flow_of(sample.study), layout)
    assert all(box.x + box.width <= drawing.width and box.y + box.height <= drawing.height for box in drawing.boxes)
    for place, one in enumerate(drawing.boxes):
        for other in drawing.boxes[place + 1 :]:
            apart = one.y + one.height <= other.y or one.x + one.width <= other.x or other.x + other.width <= one.x
            assert apart, (one, other)


def test_a_file_stands_alone_and_hostile_names_do_no_harm(sample):
    sample.study.title = '<script>alert(1)</script> & "more"'
    svg = svg_of(flow_of(sample.study), title=sample.study.title)
    root = ElementTree.fromstring(svg)
    assert root.find("{http://www.w3.org/2000/svg}title").text == sample.study.title
    assert "script>" not in svg.replace("&lt;script&gt;", "").replace("&lt;/script&gt;", "")
    assert "href" not in svg and "style" not in svg


# --- files


def test_svg_and_json_are_the_same_bytes_each_time(client, sample, lee):
    client.force_login(lee)
    for file, kind in (("flow.svg", "image/svg+xml"), ("flow.json", "application/json")):
        first, second = client.get(PAGE + file), client.get(PAGE + file)
        assert first.content == second.content
        assert first.headers["Content-Type"] == kind
        assert first.headers["Content-Disposition"] == f'attachment; filename="frameworks-{file}"'
    assert first.content.decode() == flow_of(sample.study).text()


def test_a_worker_draws_the_pdf_and_it_is_kept_while_the_counts_stay(client, sample, lee, woken):
    client.force_login(lee)
    waiting = client.get(PAGE + "flow.pdf")
    assert "The picture is being drawn" in text(waiting)
    assert waiting.headers["Refresh"] == "3"
    assert woken == [("annotator.overview.tasks.draw_flow", sample.study_id)]
    assert tasks.draw_flow(sample.study_id)
    first = client.get(PAGE + "flow.pdf")
    assert first.headers["Content-Type"] == "application/pdf"
    assert first.content.startswith(b"%PDF-1.7")
    assert client.get(PAGE + "flow.pdf").content == first.content
    assert len(woken) == 1
    cache.clear()
    tasks.draw_flow(sample.study_id)
    assert client.get(PAGE + "flow.pdf").content == first.content
    leave(bugs=[Bug.objects.get(number=1)], reason="withdrawn", note="Too large.", by=lee)
    assert "The picture is being drawn" in text(client.get(PAGE + "flow.pdf"))


def test_a_study_that_is_gone_is_not_drawn(db):
    assert tasks.draw_flow(0) is False


def test_a_cache_that_is_down_is_no_error(client, sample, lee, woken, monkeypatch):
    def down(*_):
        raise ConnectionError("no cache")

    monkeypatch.setattr(files.cache, "get", down)
    client.force_login(lee)
    assert "The picture is being drawn" in text(client.get(PAGE + "flow.pdf"))


def test_fonts_come_in_the_same_order_each_time():
    """Three of them: one for what the others lack."""
    lines = [("bold", "Found"), ("normal", "Held κ Ж"), ("bold", "漢字")]
    texts = "".join(f'<text y="{20 * y}" font-weight="{w}">{t}</text>' for y, (w, t) in enumerate(lines, 1))
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" width="200" height="90" font-family="sans-serif">{texts}</svg>'
    assert len({pdf_of(svg) for _ in range(20)}) == 1


def test_a_picture_without_text_is_drawn(db):
    assert pdf_of('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>').startswith(b"%PDF")


# --- REST


def test_over_rest(sample, alice, charlie, woken):
    rater = Interface(alice)
    assert rater.get("studies/frameworks/flow/") == flow_of(sample.study).document()
    assert rater.get("studies/frameworks/flow/flow.svg").startswith(b"<svg ")
    assert rater.ask("get", "studies/frameworks/flow/flow.pdf", status=202) == {"retry_after": 3}
    tasks.draw_flow(sample.study_id)
    assert rater.get("studies/frameworks/flow/flow.pdf").startswith(b"%PDF")
    for place in ("", "flow.svg", "flow.pdf"):
        Interface(charlie).ask("get", f"studies/frameworks/flow/{place}", status=404)
