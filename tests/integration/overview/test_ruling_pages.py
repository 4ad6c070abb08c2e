"""The editor of path rules: what each takes, in which order, from a file, and beside what was settled."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from rest_framework.test import APIClient

from annotator.adjudication.item import item_of
from annotator.adjudication.models import Resolution
from annotator.codebook.actions import edit_facet
from annotator.codebook.changes import FacetChange
from annotator.codebook.path_rules import Rule, Rules, set_rules
from annotator.collection.models import ChangedFile, Repository
from annotator.overview.rounds.closing import close_round
from annotator.overview.rules.standing import ruled
from tests.factories import answer, make_round


@pytest.fixture
def facet(study, bugs, lee):
    """Two repositories with files; the first has rules."""
    for name, some in (("Axon", bugs[:3]), ("Lumen", bugs[3:])):
        repository = Repository.objects.create(study=study, label=name)
        for bug in some:
            bug.item.repository = repository
            bug.item.save()
            ChangedFile.objects.create(item=bug.item, position=0, path="core/types/a.c")
            ChangedFile.objects.create(item=bug.item, position=1, path=f"docs/{name}/x.md")
    facet = study.codebook.facets.select_related("codebook").get(key="cause")
    rules = [Rule("core/", uid(facet, "type")), Rule("core/types/", uid(facet, "api"))]
    set_rules(facet=facet, repository="Axon", rules=rules, by=lee)
    return facet


def uid(facet, name):
    return facet.categories.get(name=name).uid


@pytest.fixture
def lead(client, lee):
    client.force_login(lee)
    return client


ADDRESS = "/frameworks/codebook/facets/cause/rules/"


def send(client, rules, **more):
    rows = {name: [getattr(rule, name) for rule in rules] for name in ("prefix", "category", "note")}
    return client.post(ADDRESS, {"repository": "Axon", "act": "save"} | rows | more)


def kept(facet, repository="Axon"):
    return [rule.prefix for rule in Rules(facet).by_repository.get(repository, [])]


def test_each_rule_says_how_many_files_it_takes(study, facet):
    axon, lumen, any_repository = ruled(study, facet)
    assert [(line.rule.prefix, line.category, line.files) for line in axon.lines] == [
        ("core/", "type", 3),
        ("core/types/", "api", 0),  # the one before takes all
    ]
    assert (axon.files, axon.unmatched, axon.folders) == (6, 3, (("docs/Axon/", 3),))
    assert (lumen.lines, lumen.unmatched, any_repository.files) == ((), 6, 12)


def test_the_page_shows_rules_counts_and_folders(lead, facet):
    text = lead.get(f"{ADDRESS}?repository=Axon").content.decode()
    for word in ('value="core/types/"', "docs/Axon/", "Any repository", "Lumen"):
        assert word in text


def test_rules_are_kept_in_the_order_of_the_rows(lead, facet):
    rules = [Rule("core/types/", uid(facet, "api")), Rule("core/", uid(facet, "type"), "rest"), Rule("", "")]
    assert send(lead, rules, reason="The narrow one first.").status_code == 302
    assert kept(facet) == ["core/types/", "core/"]


@pytest.mark.parametrize(
    ("act", "order"),
    [
        ("move:0:down", ["b/", "a/", "c/"]),
        ("move:2:up", ["a/", "c/", "b/"]),
        ("move:0:up", ["a/", "b/", "c/"]),
        ("drop:1", ["a/", "c/"]),
        ("move:x:up", ["a/", "b/", "c/"]),
    ],
)
def test_without_script_buttons_move_and_retire(lead, facet, act, order):
    send(lead, [Rule("a/"), Rule("b/"), Rule("c/")], act=act)
    assert kept(facet) == order


def test_what_cannot_be_kept_is_said_and_stays_in_the_fields(lead, facet):
    page = send(lead, [Rule("a/"), Rule("a/")])
    assert page.status_code == 400
    assert page.content.decode().count('value="a/"') == 2
    assert kept(facet) == ["core/", "core/types/"]


def test_a_file_comes_in_and_goes_out(lead, facet):
    content = json.dumps({"rules": {"Lumen": [{"prefix": "core/", "level": "shape"}]}}).encode()
    sent = {"act": "import", "file": SimpleUploadedFile("rules.json", content)}
    assert lead.post(ADDRESS, sent).status_code == 302
    assert kept(facet, "Lumen") == ["core/"]
    assert json.loads(lead.get(f"{ADDRESS}rules.json").content)["rules"].keys() == {"Axon", "Lumen"}
    assert lead.post(ADDRESS, {"act": "import"}).status_code == 400


def test_a_facet_by_rule_is_labelled_on_demand(lead, study, facet, bugs, alice, bob, lee):
    assert send(lead, [], act="derive").status_code == 400
    edit_facet(facet=facet, by=lee, change=FacetChange(decided="rule"))
    round_ = make_round(study, bugs=bugs[:2], raters=[alice, bob], by=lee)
    for bug in bugs[:2]:
        for rater in (alice, bob):
            answer(round_, bug, rater, {"stage": "training"})
    close_round(round_=round_, by=lee)
    send(lead, [Rule("core/", uid(facet, "shape"))])
    page = lead.post(ADDRESS, {"act": "derive", "repository": "Axon"}, follow=True).content.decode()
    assert "2 bugs labelled by rule" in page
    assert Resolution.objects.current().filter(facet=facet, category__name="shape").count() == 2


def test_the_report_puts_rules_beside_labels(lead, study, facet, bugs, alice, bob, lee):
    round_ = make_round(study, bugs=bugs[:3], raters=[alice, bob], by=lee)
    for bug, name in zip(bugs[:3], ["type", "type", "shape"], strict=True):
        for rater in (alice, bob):
            answer(round_, bug, rater, {"cause": name, "stage": "training"})
    close_round(round_=round_, by=lee)
    text = " ".join(lead.get(ADDRESS).content.decode().split())
    assert "Of 3 bugs with a label that did not come of rules: one value and right <b>2</b>" in text
    api = APIClient()
    api.force_authenticate(alice)
    told = api.get("/api/v1/studies/frameworks/codebook/facets/cause/rules/report/").json()
    assert (told["right"], told["wrong"], told["cells"]) == (2, 1, {"type": {"shape": 1, "type": 2}})


def test_a_joint_facet_shows_the_suggestion_to_the_group(study, facet, bugs, alice, bob, lee):
    edit_facet(facet=facet, by=lee, change=FacetChange(decided="joint"))
    round_ = make_round(study, bugs=bugs[:1], raters=[alice, bob], by=lee)
    for rater in (alice, bob):
        answer(round_, bugs[0], rater, {"stage": "training"})
    close_round(round_=round_, by=lee)
    shown = item_of(bugs[0], facet_key="cause")
    assert [one.name for one in shown.suggested.categories] == ["type"]
    assert item_of(bugs[0], facet_key="stage").suggested is None


def test_who_may(client, facet, alice, charlie):
    client.force_login(alice)
    assert "Keep the rules" not in client.get(ADDRESS).content.decode()
    assert send(client, []).status_code == 403
    client.force_login(charlie)
    for address in (ADDRESS, f"{ADDRESS}rules.json"):
        assert client.get(address).status_code == 404
    assert client.get(reverse("ruling:rules", args=["frameworks", "verdict"])).status_code == 404


def test_over_rest(study, facet, lee, alice):
    api = APIClient()
    api.force_authenticate(lee)
    address = "/api/v1/studies/frameworks/codebook/facets/cause/rules/"
    sent = {"rules": {"Lumen": [{"prefix": "core/", "level": "shape"}, {"prefix": "docs/", "level": None}]}}
    told = {one["repository"]: one for one in api.put(address, sent, format="json").json()}
    assert [(rule["name"], rule["files"]) for rule in told["Lumen"]["rules"]] == [("shape", 3), ("", 3)]
    assert told["Axon"]["folders"] == {"docs/Axon/": 3}
    bad = {"rules": {"Lumen": [{"prefix": "core/", "level": "nothing"}]}}
    assert api.put(address, bad, format="json").status_code == 400
    assert api.post(f"{address}derive/").status_code == 409
    api.force_authenticate(alice)
    assert api.put(address, sent, format="json").status_code == 403
