"""What load balancers and monitors ask."""

import hmac
from collections.abc import Callable

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.migrations.executor import MigrationExecutor
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django_prometheus.exports import ExportToDjangoView
from redis import Redis


@require_safe
@never_cache
def healthz(request: HttpRequest) -> HttpResponse:
    """This process answers."""
    return JsonResponse({"status": "ok"})


@require_safe
@never_cache
def readyz(request: HttpRequest) -> HttpResponse:
    """Everything that it needs answers too: 200, or 503 with the state of each."""
    states = {name: state(check) for name, check in CHECKS.items()}
    ready = all(said in ("ok", "not configured") for said in states.values())
    return JsonResponse({"status": "ok" if ready else "unavailable", **states}, status=200 if ready else 503)


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Prometheus' figures, for the holder of METRICS_TOKEN alone: counts of requests tell what raters do."""
    given = request.headers.get("Authorization", "")
    wanted = f"Bearer {settings.METRICS_TOKEN}"
    if not settings.METRICS_TOKEN or not hmac.compare_digest(given.encode(), wanted.encode()):
        raise Http404
    response: HttpResponse = ExportToDjangoView(request)
    return response


def state(check: Callable[[], str]) -> str:
    try:
        return check()
    except Exception:  # a client raises what it likes; the caller needs to know only that it fails
        return "unavailable"


def database() -> str:
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute("SELECT 1")
    return "ok"


def migrations() -> str:
    executor = MigrationExecutor(connections[DEFAULT_DB_ALIAS])
    return "pending" if executor.migration_plan(executor.loader.graph.leaf_nodes()) else "ok"


def broker() -> str:
    if not settings.REDIS_URL:
        return "not configured"
    with Redis.from_url(settings.REDIS_URL, socket_connect_timeout=1, socket_timeout=1) as client:
        client.ping()
    return "ok"


CHECKS: dict[str, Callable[[], str]] = {"database": database, "migrations": migrations, "broker": broker}
