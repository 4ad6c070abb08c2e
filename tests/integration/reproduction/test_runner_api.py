"""The routes of a host: its key opens these and no other; no other key opens these."""

import json
import re
from typing import Any

import pytest
from django.urls import URLPattern, URLResolver, get_resolver
from rest_framework.test import APIClient

from annotator.accounts.actions import make_token
from annotator.reproduction import hosts
from annotator.reproduction.models import Run
from tests.factories import StudyFactory, member
from tests.factories.reproduction import VERSION, make_series

CAN = {"pythons": [VERSION], "memory_mb": 8000, "gpus": 0, "gpu_free_mb": [], "runners": {"local": ""}}
RESULT = {
    "outcome": "bug", "said": "As told.", "exit_code": 0, "seconds": 1.5, "cpu_seconds": None, "peak_mb": None,
    "gpu_peak_mb": None, "stdout": "NaN\n", "stderr": "", "measures": {}, "installed": {}, "input_digest": "",
    "may_pass": False,
    "used": {"python": "3.11.7", "locked": "", "image": "", "variables": {"SHOWS": "yes"}, "setup": []},
}  # fmt: skip
ROUTES = ["claim", "renew", "log", "result"]


def asking(key: str) -> Any:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Token {key}")
    return lambda path, body: client.post(f"/api/v1/runner/{path}/", body, format="json")


@pytest.fixture
def key(study, lee) -> str:
    return hosts.add_host(study=study, name="box-1", by=lee)[1]


@pytest.fixture
def series(study, bugs, ada):
    return make_series(bugs[0], ada)


def test_a_host_claims_renews_writes_and_ends(key, series):
    ask = asking(key)
    work = ask("claim", CAN).json()
    lease = {name: work[name] for name in ("run", "lease", "attempt")}
    assert (work["environment"], work["seed"], work["recipe"]["name"]) == ("buggy", 1, "NaN in the sum")
    assert ask("renew", lease).json() == {"go_on": True}
    pieces = [{"sequence": 0, "text": "NaN\n", "is_error": False}]
    assert ask("log", {**lease, "pieces": pieces}).json() == {"go_on": True}
    assert ask("result", {**lease, "result": RESULT}).json() == {"counted": True}
    assert ask("result", {**lease, "result": RESULT}).json() == {"counted": False}
    assert ask("renew", lease).json() == {"go_on": False}
    run = Run.objects.get(key=work["run"])
    assert (run.outcome, run.host.name, run.log.get().text, run.locked.variables) == (
        "bug", "box-1", "NaN\n", {"SHOWS": "yes"},
    )  # fmt: skip


@pytest.mark.parametrize("size", [1, 64])
def test_a_host_cannot_fill_the_log_without_end(key, study, bugs, ada, size):
    make_series(bugs[0], ada, limits={"output_kb": 8})
    ask = asking(key)
    work = ask("claim", CAN).json()
    lease = {name: work[name] for name in ("run", "lease", "attempt")}
    for start in range(0, 128, size):
        pieces = [{"sequence": start + one, "text": "x" * 8000} for one in range(size)]
        assert ask("log", {**lease, "pieces": pieces}).json() == {"go_on": True}
    said = "".join(piece.text for piece in Run.objects.get(key=work["run"]).log.order_by("sequence"))
    assert said == "x" * 16384 + "\n… cut after 16,384 characters\n"


HASH = f"--hash=sha256:{'a' * 64}"
LOCK = f"numpy==1.18.0 \\\n    {HASH} \\\n    {HASH}\nsix==1.16.0 ; python_full_version < '3.12' \\\n    {HASH}\n"


@pytest.mark.parametrize(
    ("locked", "said"),
    [
        (f"--index-url https://elsewhere.example/simple\n{LOCK}", "--index-url"),
        (f"--extra-index-url=https://elsewhere.example/simple\n{LOCK}", "--extra-index-url"),
        (f"--find-links /srv/wheels\n{LOCK}", "--find-links"),
        (f"-r other.txt\n{LOCK}", "-r other.txt"),
        ("-e git+https://elsewhere.example/x.git\n", "-e git"),
        (f"six @ https://elsewhere.example/six.whl \\\n    {HASH}\n", "six @"),
        (f"https://elsewhere.example/six.whl \\\n    {HASH}\n", "https://"),
        (f"./six.whl \\\n    {HASH}\n", "./six.whl"),
        (f"/srv/six.whl \\\n    {HASH}\n", "/srv/six.whl"),
        (f"six>=1.16.0 \\\n    {HASH}\n", "six>=1.16.0"),
        (f"six==1.16.0 --config-settings=x=y \\\n    {HASH}\n", "--config-settings"),
        (f"six==1.* \\\n    {HASH}\n", "six==1.*"),
        ("six==1.16.0\n", "six==1.16.0 has no hash"),
        ("six==1.16.0 \\\n    --hash=md5:aaaa\n", "has no hash"),
        ("six==1.16.0 \\\n    --hash=sha256:aaaa\n", "a hash of six==1.16.0 is none"),
        (f"{HASH}\n", "begins with a hash"),
    ],
)
def test_a_lock_that_says_more_than_versions_and_hashes_is_refused(key, series, locked, said):
    ask = asking(key)
    work = ask("claim", CAN).json()
    lease = {name: work[name] for name in ("run", "lease", "attempt")}
    used = RESULT["used"] | {"locked": locked}
    answer = ask("result", {**lease, "result": RESULT | {"used": used}})
    (message,) = answer.json()["errors"]["result"]["used"]["locked"]
    assert (answer.status_code, message.startswith("The lock is not taken:")) == (400, True)
    assert said in message and "\n" not in message
    assert Run.objects.get(key=work["run"]).state == "running"


def test_a_lock_as_uv_writes_it_is_taken_and_handed_to_the_next(key, series):
    ask = asking(key)
    work = ask("claim", CAN).json()
    lease = {name: work[name] for name in ("run", "lease", "attempt")}
    used = RESULT["used"] | {"locked": LOCK}
    assert ask("result", {**lease, "result": RESULT | {"used": used}}).json() == {"counted": True}
    assert ask("claim", CAN).json()["locked"] == LOCK


def test_there_may_be_nothing_to_do(key):
    assert asking(key)("claim", CAN).status_code == 204


def test_a_lease_is_its_hosts_alone(key, series, study, lee):
    work = asking(key)("claim", CAN).json()
    other = asking(hosts.add_host(study=study, name="box-2", by=lee)[1])
    lease = {name: work[name] for name in ("run", "lease", "attempt")}
    assert other("renew", lease).json() == {"go_on": False}
    assert other("result", {**lease, "result": RESULT}).json() == {"counted": False}


@pytest.mark.parametrize("path", ROUTES)
def test_no_other_key_opens_them(study, lee, path):
    keys = [
        make_token(user=lee, name="all", scopes=scopes, days=1)[1]
        for scopes in (["runner"], ["read", "write", "runner"], ["write"])
    ]
    for key in keys:
        assert asking(key)(path, CAN).status_code == 403
    assert asking("cc_unknown")(path, CAN).status_code == 401
    signed_in = APIClient()
    signed_in.force_login(lee)
    assert signed_in.post(f"/api/v1/runner/{path}/", CAN, format="json").status_code == 403
    assert APIClient().post(f"/api/v1/runner/{path}/", CAN, format="json").status_code == 401


@pytest.mark.parametrize("path", ROUTES)
def test_a_removed_host_is_let_in_no_more(study, lee, path):
    host, key = hosts.add_host(study=study, name="box-1", by=lee)
    hosts.remove_host(host=host, by=lee)
    assert asking(key)(path, CAN).status_code == 401


def addresses(resolver: Any = None, before: str = "/") -> list[str]:
    found = []
    for entry in (resolver or get_resolver()).url_patterns:
        if isinstance(entry, URLResolver):
            found += addresses(entry, before + str(entry.pattern))
        elif isinstance(entry, URLPattern):
            found.append(before + str(entry.pattern))
    return found


def test_a_hosts_key_opens_no_other_route(key, study, bugs, ada):
    make_series(bugs[0], ada)
    filled = {"slug": "frameworks", "number": "1", "bug": "1", "series": "1", "version": "1"}
    opened, tried = [], 0
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Token {key}")
    for route in addresses():
        if not route.startswith("/api/v1/") or "/runner/" in route or route.endswith(("schema/", "docs/")):
            continue
        address = re.sub(r"<(?:\w+:)?(\w+)>", lambda name: filled.get(name[1], "1"), route)
        for method in ("get", "post", "put", "patch", "delete"):
            tried += 1
            status = getattr(client, method)(address, {}, format="json").status_code
            if status not in (403, 405) and not (route == "/api/v1/" and method == "get"):
                opened.append((method, route, status))
    assert tried > 500 and opened == []


UNFIT = [
    ("claim", {}),
    ("claim", {**CAN, "memory_mb": "lots"}),
    ("renew", {"run": "x"}),
    ("log", {"run": "x", "lease": "x", "attempt": 1, "pieces": [{"sequence": -1, "text": "x"}]}),
    ("log", {"run": "x", "lease": "x", "attempt": 1, "pieces": [{"sequence": 1, "text": "x" * 20_000}]}),
    ("result", {"run": "x", "lease": "x", "attempt": 1, "result": {**RESULT, "outcome": "splendid"}}),
    ("result", {"run": "x", "lease": "x", "attempt": 1, "result": {**RESULT, "stdout": "x" * 500_000}}),
    ("result", {"run": "x", "lease": "x", "attempt": 1, "result": {**RESULT, "stdout": "a\x00b"}}),
]


def test_what_is_not_as_it_should_be_is_refused(key, series):
    for path, body in UNFIT:
        assert asking(key)(path, body).status_code == 400, (path, str(body)[:200])
    assert set(series.runs.values_list("state", flat=True)) == {"waiting"}


def test_a_host_of_another_study_gets_nothing_of_this(series, lee):
    other = StudyFactory(slug="other")
    member(other, lee, "lead")
    assert asking(hosts.add_host(study=other, name="box-1", by=lee)[1])("claim", CAN).status_code == 204


@pytest.mark.parametrize(
    "wrong",
    [
        {"seconds": "nan"},
        {"seconds": "inf"},
        {"peak_mb": -1},
        {"cpu_seconds": "-inf"},
        {"installed": {"a\x00": "1"}},
    ],
)
def test_a_result_that_could_not_be_told_is_refused_and_the_lease_stays(key, series, wrong):
    ask = asking(key)
    work = ask("claim", CAN).json()
    lease = {name: work[name] for name in ("run", "lease", "attempt")}
    assert ask("result", {**lease, "result": RESULT | wrong}).status_code == 400
    assert ask("renew", lease).json() == {"go_on": True}


def test_measures_are_stored_as_every_database_holds_them(key, series, client, lee):
    ask = asking(key)
    work = ask("claim", CAN).json()
    lease = {name: work[name] for name in ("run", "lease", "attempt")}
    body = json.dumps({**lease, "result": RESULT | {"measures": {"observed": {"value": [0]}}}})
    sent = APIClient().post(
        "/api/v1/runner/result/",
        body.replace("[0]", "[1e999]"),
        content_type="application/json",
        HTTP_AUTHORIZATION=f"Token {key}",
    )
    assert sent.json() == {"counted": True}
    assert Run.objects.get(key=work["run"]).measures == {"observed": {"value": ["inf"]}}
    client.force_login(lee)
    assert client.get(f"/api/v1/studies/{series.recipe.study.slug}/runs/{work['run']}/").status_code == 200


def test_measures_nested_without_end_are_refused(key, series):
    ask = asking(key)
    work = ask("claim", CAN).json()
    lease = {name: work[name] for name in ("run", "lease", "attempt")}
    deep: list[Any] = []
    for _ in range(60):
        deep = [deep]
    assert ask("result", {**lease, "result": RESULT | {"measures": {"observed": deep}}}).status_code == 400


def test_a_host_with_numbers_beyond_every_machine_is_refused(key):
    assert asking(key)("claim", CAN | {"memory_mb": 10**400}).status_code == 400
    assert asking(key)("claim", CAN | {"gpu_free_mb": [10**400]}).status_code == 400
