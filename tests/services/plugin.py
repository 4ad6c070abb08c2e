"""How every test runs: on a database file or server of its own, cut off from the network."""

import functools
import ipaddress
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from django.conf import settings

TESTS = Path(__file__).resolve().parents[1]
WITHOUT_DATABASE = ("architecture", "contract", "unit")  # folders whose tests may ask for none


def pytest_configure(config: pytest.Config) -> None:
    settings.STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
    settings.WHITENOISE_AUTOREFRESH = settings.WHITENOISE_USE_FINDERS = True  # nothing was collected
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.ALLOWED_HOSTS = ["localhost", "127.0.0.1", "testserver"]
    os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")  # Playwright keeps an event loop in the main thread
    hypothesis.settings.register_profile("here", deadline=None)  # a busy machine is no bug
    hypothesis.settings.load_profile("here")
    give_each_worker_its_cache()
    cut_off_network()


def give_each_worker_its_cache() -> None:
    """Redis is shared between the workers of a run, and one that empties its cache must not empty another's."""
    cache = settings.CACHES["default"]
    if cache["BACKEND"].endswith("RedisCache"):
        number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) + 1  # 0 is the broker's
        cache["LOCATION"] += f"?db={number}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    engine = settings.DATABASES["default"]["ENGINE"]
    if engine.endswith("postgresql"):
        once = [item for item in items if runs_once(item)]
        config.hook.pytest_deselected(items=once)
        items[:] = [item for item in items if not runs_once(item)]
        return
    for item in items:
        if "postgresql" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="needs DATABASE_URL=postgres://…; make test gives one"))


def runs_once(item: pytest.Item) -> bool:
    """It asks for no database, so that it has nothing more to say on another one."""
    asks = {"db", "transactional_db"} & set(getattr(item, "fixturenames", ())) or "django_db" in item.keywords
    return item.path.relative_to(TESTS).parts[0] in WITHOUT_DATABASE and not asks and "postgresql" not in item.keywords


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """SQLite in a file, as it runs elsewhere: in memory, threads would share one connection."""
    database = settings.DATABASES["default"]
    if database["ENGINE"].endswith("sqlite3"):
        database.setdefault("TEST", {})["NAME"] = str(tmp_path_factory.mktemp("database") / "test.sqlite3")
        database["OPTIONS"]["init_command"] += "PRAGMA synchronous=OFF;"


@pytest.fixture(scope="session", autouse=True)
def files_of_this_run(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What releases keep lies in a folder of the run's own."""
    settings.MEDIA_ROOT = str(tmp_path_factory.mktemp("files"))


@pytest.fixture(autouse=True)
def empty_cache() -> Iterator[None]:
    """What one test left in the cache is not there for the next."""
    yield
    from django.core.cache import cache

    cache.clear()


@pytest.fixture
def package_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that install real packages: this process too may reach where they come from."""
    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, getattr(socket.socket, name).__wrapped__)


def cut_off_network() -> None:
    """Nothing but this machine can be reached."""
    for name in ("connect", "connect_ex"):
        setattr(socket.socket, name, on_this_machine(getattr(socket.socket, name)))


def on_this_machine(connect: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(connect)
    def guarded(self: socket.socket, address: Any) -> Any:
        if isinstance(address, tuple) and not is_loopback(str(address[0])):
            raise PermissionError(f"tests may not reach {address[0]}")
        return connect(self, address)

    return guarded


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
