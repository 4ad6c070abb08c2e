import pytest

from annotator.web import health

pytestmark = pytest.mark.django_db


def test_healthz_says_ok_without_sign_in(client):
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


def test_readyz_names_each_dependency(client):
    answer = client.get("/readyz")
    assert answer.status_code == 200, answer.json()
    assert {"status", "database", "migrations", "broker"} == set(answer.json())
    assert answer.json()["database"] == "ok"


def test_readyz_is_503_while_the_broker_is_gone(client, settings, tmp_path):
    settings.REDIS_URL = f"unix://{tmp_path}/nobody.sock"
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["broker"]) == (503, "unavailable")


def test_readyz_is_503_while_migrations_are_pending(client, monkeypatch):
    monkeypatch.setitem(health.CHECKS, "migrations", lambda: "pending")
    assert client.get("/readyz").status_code == 503


def test_metrics_are_for_the_token_alone(client, settings):
    settings.METRICS_TOKEN = "scrape"
    assert client.get("/metrics").status_code == 404
    assert client.get("/metrics", headers={"Authorization": "Bearer guess"}).status_code == 404
    answer = client.get("/metrics", headers={"Authorization": "Bearer scrape"})
    assert answer.status_code == 200
    assert b"django_http_requests_total" in answer.content


def test_without_a_token_nobody_reads_metrics(client):
    assert client.get("/metrics", headers={"Authorization": "Bearer "}).status_code == 404
