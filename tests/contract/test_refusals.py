"""What the REST interface refuses: each time one clear problem document, and nothing stored."""

import json

import pytest
from django.apps import apps

from tests.contract.interface import Interface, schema
from tests.factories import answer

BLANKS = {
    "slug": "frameworks",
    "identity": "github.com-none-none-1",
    "candidate": "1",
    "bug": "1",
    "number": "1",
    "facet": "cause",
    "uid": "0000000000",
    "username": "alice",
    "key": "0000000000000000",
    "kind": "cross",
    "table": "answers",
    "format_": "csv",
    "import_number": "1",
    "file": "finals.csv",
    "rank": "1",
    "version": "1",
    "series": "1",
    "name": "laptop",
}


def rows_stored():
    """Of all tables but the sessions: signing in stores one."""
    models = [model for model in apps.get_models() if model._meta.app_label != "sessions"]
    return {model._meta.label: model._base_manager.count() for model in models}


@pytest.fixture
def place(main_round, bugs):
    return "studies/frameworks/rounds/1/bugs/1/answers/"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"answers": ', "JSON parse error"),
        (b"\xff\xfe", "can't decode byte"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"note": "a\\u0000b"}', "body.note holds a NUL"),
        (b'{"note": "\\ud83d"}', "body.note holds half of a character pair"),
        (b'{"answers": {"\\udc00": ["x"]}}', "body.answers holds half of a character pair"),
        (b'{"answers": {"cause": ["\\u0000"]}}', "body.answers.cause[0] holds a NUL"),
        (b'{"active_seconds": NaN}', "JSON parse error"),
        (b'{"active_seconds": 1e999}', "active_seconds"),
        (b"[]", "Invalid data"),
        (b'{"answers": [1]}', "answers"),
        (b'{"confidence": "very"}', "confidence"),
    ],
)
def test_a_body_that_cannot_be_read_is_refused_in_one_sentence(place, alice, body, said):
    before = rows_stored()
    response = Interface(alice).client.put(f"/api/v1/{place}", body, content_type="application/json")
    assert response.status_code == 400, response.content
    assert response.headers["Content-Type"] == "application/problem+json"
    told = json.loads(response.content)
    assert told["status"] == 400
    assert said in json.dumps(told, ensure_ascii=False)
    assert rows_stored() == before


def test_a_body_of_five_megabytes_is_refused_unread(place, alice):
    body = json.dumps({"note": "x" * 5_000_000})
    response = Interface(alice).client.put(f"/api/v1/{place}", body, content_type="application/json")
    assert response.status_code == 413
    assert json.loads(response.content)["detail"].startswith("The body has more than")


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ({"cause": ["no such"], "stage": ["training"]}, "has no category"),
        ({"cause": ["type", "shape"], "stage": ["training"]}, "takes one answer"),
        ({"cause": ["type"]}, "has no answer yet"),
        ({"cause": ["type"], "stage": ["training"], "colour": ["red"]}, "no facet"),
    ],
)
def test_answers_outside_the_codebook_are_refused(place, alice, answers, said):
    before = rows_stored()
    told = Interface(alice).put(place, {"answers": answers}, status=400)
    assert said in told["detail"]
    assert rows_stored() == before


def test_a_turn_that_is_not_ones_own_does_not_exist(main_round, bugs, alice, bob, lee, study):
    from annotator.studies.models import Membership

    Membership.objects.create(study=study, user=lee, role="rater")
    before = rows_stored()
    Interface(lee).put("studies/frameworks/rounds/1/bugs/1/answers/", {"answers": {}}, status=404)
    Interface(alice).put("studies/frameworks/rounds/1/bugs/99/answers/", {"answers": {}}, status=404)
    Interface(alice).put(f"studies/frameworks/rounds/1/bugs/{10**30}/answers/", {"answers": {}}, status=404)
    assert rows_stored() == before


def test_an_answer_to_a_closed_round_is_refused(main_round, bugs, alice, lee):
    Interface(lee).post("studies/frameworks/rounds/1/close/")
    given = {"answers": {"cause": ["type"], "stage": ["training"]}}
    told = Interface(alice).put("studies/frameworks/rounds/1/bugs/1/answers/", given, status=409)
    assert "closed" in told["detail"]


ODD = ("%00", "%F0%9F", "-1", "99999999999999999999", "a" * 5000, "%27%3B--", "[]")


def filters():
    for path, methods in schema()["paths"].items():
        for parameter in methods.get("get", {}).get("parameters", []):
            if parameter["in"] == "query" and "{slug}" in path:
                yield path, parameter["name"]


@pytest.mark.parametrize(("path", "name"), list(filters()))
def test_odd_filters_give_an_answer_or_a_problem(main_round, lee, path, name):
    client = Interface(lee).client
    client.raise_request_exception = True
    for value in ODD:
        response = client.get(f"{filled(path)}?{name}={value}")
        assert response.status_code < 500, (value, response.content)


@pytest.mark.parametrize(
    "path", ["/frameworks/members/a%00b/", "/frameworks/bugs/?q=%00", "/api/v1/studies/?cursor=%00"]
)
def test_a_nul_in_an_address_is_refused_everywhere(study, lee, path):
    response = Interface(lee).client.get(path)
    assert response.status_code == 400
    assert "NUL character" in response.content.decode()


def operations():
    for path, methods in schema()["paths"].items():
        if "{slug}" in path:
            for method in methods:
                yield method, path


def filled(path):
    for name, value in BLANKS.items():
        path = path.replace(f"{{{name}}}", value)
    assert "{" not in path, path
    return path


def every_operation(asking, status):
    """Ask for each operation with an empty body; each answer has this status and is as the schema says."""
    found = list(operations())
    assert len(found) > 70
    for method, path in found:
        asking.ask(method, filled(path), None if method in ("get", "delete") else {}, status=status)


def test_a_stranger_finds_no_study_anywhere(study, charlie):
    before = rows_stored()
    every_operation(Interface(charlie), 404)
    assert rows_stored() == before


def test_nobody_gets_in_without_a_name(study):
    before = rows_stored()
    every_operation(Interface(), 401)
    assert rows_stored() == before


def test_an_open_round_tells_nobody_of_anothers_answers(main_round, bugs, alice, bob, lee, ada):
    """Whatever Bob does, each GET gives the others the same bytes for the same number of queries."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    paths = [filled(path) for method, path in operations() if method == "get"]

    def told(user):
        asking, found = Interface(user), {}
        for path in paths:
            with CaptureQueriesContext(connection) as queries:
                response = asking.client.get(path)
                content = b"".join(response.streaming_content) if response.streaming else response.content
            found[path] = (response.status_code, content, len(queries))
        return found

    watching = [alice, ada]
    before = {user: told(user) for user in watching}
    answer(main_round, bugs[0], bob, {"cause": "type", "stage": "training"}, note="secret", confidence="sure")
    after = {user: told(user) for user in watching}
    for user in watching:
        for path in paths:
            assert after[user][path] == before[user][path], path


def test_a_rater_sees_own_answers_of_an_open_round_alone(main_round, bugs, alice, bob):
    for rater in (alice, bob):
        answer(main_round, bugs[0], rater, {"cause": "type", "stage": "training"})
    rows = Interface(alice).get("studies/frameworks/answers/")["results"]
    assert {row["rater"] for row in rows} == {"alice"}
