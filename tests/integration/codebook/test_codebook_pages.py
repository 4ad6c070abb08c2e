"""The codebook's pages: read by the study's people, changed by its leads, unknown to strangers."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotator.accounts.models import User
from annotator.codebook.actions import create_codebook
from annotator.codebook.models import Category, Codebook
from annotator.codebook.queries import as_document
from annotator.codebook.reading import read
from annotator.overview.rounds.closing import close_round
from annotator.studies.models import Study
from tests.factories import StudyFactory, answer, make_bugs, make_round, member

BOOK = """
title: Book of the study
facets:
  - {id: cause, categories: [{name: type, definition: of types}, shape, {name: tensor type, parent: type}]}
  - {id: stage, optional: true, categories: [training, deployment]}
"""


@pytest.fixture
def book(lee: User, alice: User, bob: User) -> Codebook:
    study = StudyFactory(slug="books", title="Study of books")
    member(study, lee, "lead")
    member(study, alice, "rater")
    member(study, bob, "rater")
    return create_codebook(study=study, document=read(BOOK), by=lee)


def client(user: User) -> Client:
    made = Client()
    made.force_login(user)
    return made


def category(book: Codebook, name: str) -> Category:
    return Category.objects.get(facet__codebook=book, name=name)


def filled(**more: Any) -> dict[str, Any]:
    empty = dict.fromkeys(("name", "hotkey", "parent", "definition", "include", "exclude", "examples", "aka"), "")
    return empty | more


def study_of(book: Codebook) -> Study:
    return book.study


# --- reading


def test_the_tree_shows_facets_categories_and_keys(book, alice):
    page = client(alice).get("/books/codebook/").content.decode()
    for text in ("Book of the study", "tensor type", "Stage", "Verdict", "not applicable", "<kbd>.1</kbd>"):
        assert text in page
    assert "Replace from a file" not in page


def test_a_category_is_read_by_a_rater_without_a_form(book, alice):
    page = client(alice).get(f"/books/codebook/categories/{category(book, 'type').uid}/").content.decode()
    assert "of types" in page
    assert 'name="definition"' not in page


def test_the_download_makes_the_same_codebook(book, alice):
    answer_ = client(alice).get("/books/codebook/codebook.yaml")
    assert answer_["Content-Disposition"] == 'attachment; filename="books-codebook.yaml"'
    assert read(answer_.content).with_builtins().facets[0] == as_document(book).facets[0]


def test_a_study_without_codebook_says_what_to_do(lee):
    member(StudyFactory(slug="bare"), lee, "lead")
    assert b"No codebook yet." in client(lee).get("/bare/codebook/").content
    file = SimpleUploadedFile("b.yaml", BOOK.encode())
    assert client(lee).post("/bare/codebook/file/", {"file": file}).status_code == 302
    assert Codebook.objects.get(study__slug="bare").title == "Book of the study"


# --- changing


def test_a_lead_changes_a_category(book, lee):
    row = category(book, "shape")
    given = filled(name="shapes", definition="d", examples="one\n\n two ", aka="form")
    answer_ = client(lee).post(f"/books/codebook/categories/{row.uid}/", given)
    assert answer_.status_code == 302
    row.refresh_from_db()
    assert (row.name, row.definition, row.examples, row.aka) == ("shapes", "d", ["one", "two"], ["form"])


def test_a_clash_is_refused_at_the_field_with_free_keys(book, lee):
    row = category(book, "shape")
    answer_ = client(lee).post(f"/books/codebook/categories/{row.uid}/", filled(name="shape", hotkey="1"))
    assert answer_.status_code == 400
    assert "given twice in facet “Cause”: to “type”" in answer_.context["form"].errors["hotkey"][0]
    assert "Free: 2, 3" in answer_.context["form"].errors["hotkey"][0]


def test_a_name_with_a_line_end_survives_an_edit(book, lee):
    row = category(book, "shape")
    Category.objects.filter(pk=row.pk).update(name="shape\nor so\n")
    client(lee).post(f"/books/codebook/categories/{row.uid}/", filled(name="shapeor so", definition="new"))
    row.refresh_from_db()
    assert (row.name, row.definition) == ("shape\nor so\n", "new")


def test_a_lead_adds_a_category_below_another(book, lee):
    given = filled(name="element type", parent=category(book, "type").uid)
    assert client(lee).post("/books/codebook/facets/cause/categories/", given).status_code == 302
    assert category(book, "element type").parent == category(book, "type")


def test_a_lead_deletes_while_unused(book, lee):
    uid = category(book, "shape").uid
    assert client(lee).post(f"/books/codebook/categories/{uid}/remove/").status_code == 302
    assert not Category.objects.filter(uid=uid).exists()


def test_in_use_a_category_is_retired_and_restored(book, lee, alice, bob):
    make_round(book.study, bugs=make_bugs(book.study, 1), raters=[alice, bob], by=lee)
    uid = category(book, "shape").uid
    lead = client(lee)
    lead.post(f"/books/codebook/categories/{uid}/remove/", {"reason": "too broad"})
    assert category(book, "shape").state == "retired"
    assert b"Take it back into use" in lead.get(f"/books/codebook/categories/{uid}/").content
    lead.post(f"/books/codebook/categories/{uid}/restore/")
    assert category(book, "shape").state == "active"


def test_a_lead_adds_edits_and_removes_a_facet(book, lee):
    lead = client(lee)
    given = {"key": "impact", "name": "Impact", "kind": "ordinal", "answers": "one", "decided": "blind"}
    assert lead.post("/books/codebook/facets/", given).url == "/books/codebook/facets/impact/categories/"
    assert lead.post("/books/codebook/facets/impact/", given | {"name": "Reach"}).status_code == 302
    assert b"Reach" in lead.get("/books/codebook/facets/impact/").content
    assert lead.post("/books/codebook/facets/impact/remove/").status_code == 302
    assert lead.get("/books/codebook/facets/impact/").status_code == 404


def test_in_use_the_shape_of_a_facet_cannot_be_posted(book, lee, alice, bob):
    make_round(book.study, bugs=make_bugs(book.study, 1), raters=[alice, bob], by=lee)
    given = {"name": "Root cause", "kind": "ordinal", "answers": "many", "decided": "rule", "is_optional": "on"}
    assert client(lee).post("/books/codebook/facets/cause/", given).status_code == 302
    facet = book.facets.get(key="cause")
    assert (facet.name, facet.kind, facet.is_many, facet.is_optional) == ("Root cause", "nominal", False, False)


@pytest.mark.parametrize(
    ("content", "wanted"),
    [(b"title: [", "not valid YAML"), (b"title: T", "no facets"), (b"\xff", "UTF-8"), (b"#" * 600_000, "at most")],
)
def test_a_bad_file_changes_nothing(book, lee, content, wanted):
    before = as_document(book)
    answer_ = client(lee).post("/books/codebook/file/", {"file": SimpleUploadedFile("b.yaml", content)})
    assert answer_.status_code == 400
    assert wanted in answer_.content.decode()
    assert as_document(book) == before


def test_a_file_replaces_the_codebook_while_unused_and_not_after(book, lee, alice, bob):
    def send():
        file = SimpleUploadedFile("b.yaml", b"title: New\nfacets: [{id: f, categories: [a]}]")
        return client(lee).post("/books/codebook/file/", {"file": file})

    assert send().status_code == 302
    book.refresh_from_db()
    assert book.title == "New"
    make_round(book.study, bugs=make_bugs(book.study, 1), raters=[alice, bob], by=lee)
    assert send().status_code == 400


# --- counts


def test_counts_are_of_closed_rounds_alone(book, lee, alice, bob):
    bugs = make_bugs(book.study, 2)
    round_ = make_round(book.study, bugs=bugs, raters=[alice, bob], by=lee)
    for rater in (alice, bob):
        for bug in bugs:
            answer(round_, bug, rater, {"cause": "shape", "stage": "training"})
    uid = category(book, "shape").uid
    assert client(lee).get("/books/codebook/uses/?facet=cause").content.strip() == b""
    close_round(round_=round_, by=lee)
    assert (
        f'id="n-{uid}" hx-swap-oob="true">2<' in client(alice).get("/books/codebook/uses/?facet=cause").content.decode()
    )


# --- who may

READ = ["", "codebook.yaml", "facets/cause/", "uses/"]
LEADS = [
    ("get", "file/"),
    ("post", "file/"),
    ("get", "facets/"),
    ("post", "facets/"),
    ("post", "facets/cause/"),
    ("post", "facets/cause/remove/"),
    ("get", "facets/cause/categories/"),
    ("post", "facets/cause/categories/"),
    ("post", "categories/{uid}/"),
    ("post", "categories/{uid}/remove/"),
    ("post", "categories/{uid}/restore/"),
]
EVERY = [*(("get", path) for path in READ), ("get", "categories/{uid}/"), *LEADS]


@pytest.mark.parametrize(("method", "path"), EVERY)
def test_a_stranger_finds_no_codebook(book, charlie, method, path):
    address = "/books/codebook/" + path.format(uid=category(book, "shape").uid)
    assert getattr(client(charlie), method)(address).status_code == 404
    assert getattr(Client(), method)(address).status_code == 302
    assert category(book, "shape").state == "active"


@pytest.mark.parametrize(("method", "path"), LEADS)
def test_only_a_lead_changes_it(book, alice, method, path):
    address = "/books/codebook/" + path.format(uid=category(book, "shape").uid)
    assert getattr(client(alice), method)(address).status_code == 403
    assert category(book, "shape").state == "active"


def test_another_studys_category_is_not_found_here(book, lee, study):
    foreign = Category.objects.filter(facet__codebook__study=study).first()
    assert foreign is not None
    assert client(lee).get(f"/books/codebook/categories/{foreign.uid}/").status_code == 404
    assert client(lee).post(f"/books/codebook/categories/{foreign.uid}/", filled(name="x")).status_code == 404


# --- two people at once


def opened(who: User, row: Category) -> dict[str, Any]:
    """What the form holds when the page is opened."""
    form = client(who).get(f"/books/codebook/categories/{row.uid}/").context["form"]
    return {name: "" if value is None else value for name, value in form.initial.items() if value is not False}


def test_the_second_is_told_keeps_the_text_and_saves_on_top(book, lee, alice):
    member(book.study, alice, "lead")
    row = category(book, "shape")
    first, second = opened(lee, row), opened(alice, row)
    address = f"/books/codebook/categories/{row.uid}/"
    client(lee).post(address, first | {"name": "form", "definition": "Of forms."})
    told = client(alice).post(address, second | {"definition": "Of shapes.", "include": "Wrong rank."})
    page = told.content.decode()
    assert told.status_code == 409
    assert "“shape” was renamed “form”." in page
    form = told.context["form"]
    assert (form["definition"].value(), form["include"].value()) == ("Of shapes.", "Wrong rank.")
    assert form["name"].value() == "form"  # the second had not touched it
    assert form.crossed == [("Definition", "", "Of forms.")]
    row.refresh_from_db()
    assert (row.name, row.definition, row.include) == ("form", "Of forms.", "")
    again = {name: form[name].value() or "" for name in form.fields if name != "is_unverified"}
    assert client(alice).post(address, again).status_code == 302
    row.refresh_from_db()
    assert (row.name, row.definition, row.include) == ("form", "Of shapes.", "Wrong rank.")


def test_what_changed_elsewhere_is_told_and_hinders_nothing(book, lee, alice):
    member(book.study, alice, "lead")
    first, second = category(book, "type"), category(book, "shape")
    typed = opened(alice, second) | {"definition": "Of shapes."}
    client(lee).post(f"/books/codebook/categories/{first.uid}/", opened(lee, first) | {"name": "kind"})
    told = client(alice).post(f"/books/codebook/categories/{second.uid}/", typed, follow=True)
    assert "Meanwhile, elsewhere in the codebook: “type” was renamed “kind”." in told.content.decode()
    second.refresh_from_db()
    assert second.definition == "Of shapes."


def test_a_question_that_somebody_else_changed_is_told_too(book, lee, alice):
    member(book.study, alice, "lead")
    address = "/books/codebook/facets/cause/"
    given = {"name": "Cause", "kind": "nominal", "answers": "one", "decided": "blind", "version": "1"}
    client(lee).post(address, given | {"name": "Root cause"})
    told = client(alice).post(address, given | {"definition": "Why?"})
    assert told.status_code == 400
    assert "The facet “Cause” was renamed “Root cause”" in told.content.decode()
    assert client(alice).post(address, given | {"definition": "Why?", "version": "2"}).status_code == 302


def test_a_program_that_gives_the_version_it_read_is_told(book, lee):
    row = category(book, "shape")
    address = f"/api/v1/studies/books/codebook/categories/{row.uid}/"
    api = client(lee)
    assert api.patch(address, {"name": "form", "version": 1}, content_type="application/json").status_code == 200
    told = api.patch(address, {"definition": "d", "version": 1}, content_type="application/json")
    assert (told.status_code, told["Content-Type"]) == (409, "application/problem+json")
    assert "was renamed “form”" in told.json()["detail"]
    assert api.patch(address, {"definition": "d"}, content_type="application/json").status_code == 200


# --- versions


def test_a_version_is_downloaded_as_it_was(book, lee, alice):
    row = category(book, "shape")
    client(lee).post(f"/books/codebook/categories/{row.uid}/", opened(lee, row) | {"name": "form"})
    answer_ = client(alice).get("/books/codebook/codebook.yaml", {"version": "1"})
    assert answer_["Content-Disposition"] == 'attachment; filename="books-codebook-v1.yaml"'
    assert "form" not in answer_.content.decode()


def test_a_program_reads_a_version_and_what_it_differs_in(book, lee, alice):
    row = category(book, "shape")
    client(lee).post(f"/books/codebook/categories/{row.uid}/", opened(lee, row) | {"name": "form", "definition": "d"})
    told = client(alice).get("/api/v1/studies/books/codebook/versions/2/").json()
    assert (told["number"], told["since"], told["published_by"]) == (2, 1, "lee")
    assert [each["says"] for each in told["differences"]] == [
        "“shape” was renamed “form”",
        "“form” was clarified: definition",
    ]
    assert told["differences"][1]["words"] == [{"what": "definition", "was": "", "now": "d"}]
    assert client(alice).get("/api/v1/studies/books/codebook/versions/9/").status_code == 404
