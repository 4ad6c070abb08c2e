"""Measure everything once: python -m bench [PART…]. Parts: machine, transfers, harvest, codebook, analysis,
labelling, growth, sandboxes; default all.

By name alone, since they take long: chaos, chaos-sqlite, release.
"""

import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bench import collecting, load, machine, page, report, sandboxes, server
from bench.report import Figure
from tests.services import broker, install, postgres
from tests.services.chaos import compared

EMPTY = "empty signed-in view, same middleware"
SQL = "the same SQL alone"
LOOP = "plain PyGithub loop, seven calls each"


def main(parts: list[str]) -> int:
    install.everything()
    figures: list[Figure] = []
    for name in parts or list(PARTS):
        note(f"measuring {name} …")
        figures += (PARTS | BY_NAME)[name]()
    print(report.table(figures))
    if not parts:
        report.write(figures)
    return 0 if all(figure.is_kept for figure in figures) else 1


@contextmanager
def services() -> Iterator[tuple[dict[str, str], Path]]:
    """PostgreSQL as in production (fsync on), a broker, a folder."""
    with (
        tempfile.TemporaryDirectory(prefix="concord-bench-", dir="/tmp") as folder,
        postgres.cluster(durable=True) as database,
        broker.broker() as redis,
    ):
        yield server.surroundings(database, redis, Path(folder) / "var"), Path(folder)


def labelling() -> list[Figure]:
    """10,000 bugs, 32 raters in rotating pairs."""
    with services() as (environment, _), server.serving(environment, bugs=10_000, raters=32) as site:
        one = load.one_connection(site)
        empty = load.empty_view(site)
        eight, many = load.together(site, raters=8), load.together(site, raters=32)
        session, round_path = site.study["raters"][0], site.study["round"]
        sql = json.loads(server.command(environment, "bench.floors", "save", session, round_path))
    return [
        Figure("save and next, 10,000 bugs, one connection, p50", one.p50_ms, "ms", 25, floor=sql, floor_is=SQL),
        Figure("  the same beside an empty page", one.p50_ms, "ms", 25, floor=empty.p50_ms, floor_is=EMPTY),
        Figure(
            "save and next, 8 raters at once",
            eight.per_second,
            "/s",
            100,
            at_least=True,
            floor=eight.p50_ms,
            floor_is="p50 in ms",
        ),
        Figure(
            "save and next, 32 raters at once",
            many.per_second,
            "/s",
            100,
            at_least=True,
            floor=many.p50_ms,
            floor_is="p50 in ms",
        ),
    ]


def growth() -> list[Figure]:
    """The same with a hundred times as many bugs."""
    p50 = {}
    for bugs in (1_000, 100_000):
        with services() as (environment, _), server.serving(environment, bugs=bugs, raters=2) as site:
            p50[bugs] = load.one_connection(site).p50_ms
    ratio = p50[100_000] / p50[1_000]
    return [
        Figure(
            "save and next, p50 at 100,000 bugs over p50 at 1,000",
            ratio,
            "×",
            1.3,
            floor=p50[1_000],
            floor_is="p50 at 1,000 in ms",
        )
    ]


def transfers() -> list[Figure]:
    with services() as (environment, folder):
        told = json.loads(server.command(environment, "bench.transfers", str(folder)))
    return [
        Figure("import of 10,000 rows, bugs alone", told["import_bare_s"], "s", 3),
        Figure(
            "import of 10,000 rows with 40,000 labels",
            told["import_s"],
            "s",
            3,
            floor=told["import_floor_s"],
            floor_is=SQL,
        ),
        Figure(
            "export of 10,000 bugs × 2 answers", told["export_s"], "s", 1, floor=told["export_floor_s"], floor_is=SQL
        ),
    ]


def harvest() -> list[Figure]:
    """100 pull requests with patches, from a server of our own on loopback."""
    with services() as (environment, _):
        ours, plain = collecting.measured(environment)
    return [
        Figure("harvest, REST requests a pull request", ours.rest, "", 1.05, floor=plain.rest, floor_is=LOOP),
        Figure("harvest, GraphQL questions a pull request", ours.graphql, "", 0.05, floor=plain.graphql, floor_is=LOOP),
        Figure("harvest, time a pull request", ours.ms, "ms", plain.ms, floor=plain.ms, floor_is=LOOP),
    ]


def chaos(database: str = "") -> list[Figure]:
    """5,000 pull requests while web, worker and broker are killed twenty times; seconds beside an undisturbed run's."""
    with services() as (environment, folder):
        environment |= {"DATABASE_URL": database.format(folder=folder)} if database else {}
        calm, storm = compared(environment, folder / "chaos", items=5_000, kills=20, seed=1, say=note)
    killed = ", ".join(f"{part} {times}" for part, times in sorted(storm.killed.items()))
    note(f"held: {storm.counts}; killed: {killed}")
    return [
        Figure("chaos, end state as of an undisturbed harvest", storm.digest == calm.digest, "", 1, at_least=True),
        Figure("chaos, kill -9 of web, worker and broker", sum(storm.killed.values()), "", 20, at_least=True),
        Figure("chaos, items or pages asked for again", sum(map(len, storm.again)), "", storm.killed["worker"]),
        Figure("chaos, seconds", storm.seconds, "s", 3_600, floor=calm.seconds, floor_is="undisturbed"),
    ]


def note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def codebook() -> list[Figure]:
    """1,000 categories, 100,000 answers: each change previewed, made and undone."""
    with services() as (environment, _):
        told = json.loads(server.command(environment, "bench.living"))
    for name, act in told.items():
        line = f"  {name:24} preview {act['preview_s'] * 1000:6.0f} ms, takes effect in {act['apply_s']:.2f} s"
        print(f"{line}, {act['answers']:,} answers", file=sys.stderr)
    preview, act = (max(told, key=lambda name: told[name][what]) for what in ("preview_s", "apply_s"))
    return [
        Figure(f"1,000 categories: slowest preview ({preview})", told[preview]["preview_s"] * 1000, "ms", 500),
        Figure(f"1,000 categories: slowest to take effect ({act})", told[act]["apply_s"], "s", 2),
    ]


def starts() -> list[Figure]:
    """A script in the sandbox beside the bare process and, where there is an engine, beside docker run."""
    told = sandboxes.measured()
    docker = told.docker if told.docker is not None else float("nan")
    note(f"  bare {told.bare:.1f} ms, sandboxed {told.sandboxed:.1f} ms, docker run {docker:.0f} ms")
    return [
        Figure(
            "sandbox, start over the bare process", told.overhead, "ms", 30, floor=told.bare, floor_is="bare process"
        ),
        Figure(
            "kept environment, asked for until its Python ran",
            told.environment,
            "ms",
            100,
            floor=told.docker,
            floor_is="docker run of nothing" if told.docker is not None else "no container engine here",
        ),
    ]


def analysis() -> list[Figure]:
    """1,000,000 bugs, two raters, four facets: every table on each database."""
    found = []
    with services() as (environment, folder):
        for name, url in (("PostgreSQL", environment["DATABASE_URL"]), ("SQLite", f"sqlite:///{folder}/large.sqlite3")):
            told = json.loads(server.command(environment | {"DATABASE_URL": url}, "bench.analysis"))
            note(f"  {name}: seeded in {told.pop('seed_s'):.0f} s")
            found += [Figure(f"1,000,000 bugs, {name}: {table}", seconds, "s", 1) for table, seconds in told.items()]
    return found


def newcomer() -> list[Figure]:
    """What somebody has who clones the project and types make run."""
    with (
        tempfile.TemporaryDirectory(prefix="concord-bench-", dir="/tmp") as folder,
        machine.newcomer(Path(folder) / "concord") as started,
    ):
        session = machine.sign_in(started.port, machine.RATERS[0])
        round_path = machine.open_round(started.port, session)
        cold = page.cold(f"http://127.0.0.1:{started.port}{round_path}label/", session)
        before, after = memory(started, round_path)
    return [
        Figure("from clone to served page", started.seconds, "s", 60),
        Figure("labelling page, cold, on the wire", cold.bytes / 1000, "KB", 150),
        Figure("labelling page, cold, requests", cold.requests, "", 12),
        Figure("all processes after a journey and a kappa, PSS", before, "MB", 350),
        Figure("  growth over 500 more pages", after - before, "MB", 5),
    ]


def memory(started: machine.Machine, round_path: str) -> tuple[float, float]:
    """PSS once the demo's recipe has run and the round is labelled and closed, and again after many more pages."""
    for name in machine.RATERS:
        machine.label_all(started.port, machine.sign_in(started.port, name), round_path)
    lead = machine.sign_in(started.port, machine.LEAD)
    machine.close(started.port, lead, round_path)
    machine.wait_for_runs(started.port, lead)
    pages = load.Rater(started.port, lead, round_path)
    read(pages, 100)
    before = machine.pss_mb(started)
    read(pages, 500)
    return before, machine.pss_mb(started)


def read(person: load.Rater, times: int) -> None:
    for place in range(times):
        person.ask("GET", ("/demo/", "/demo/bugs/", "/demo/history/")[place % 3])


def releasing() -> list[Figure]:
    """1,000,000 bugs, two raters, four facets, on both databases."""
    found = []
    for name in ("PostgreSQL", "SQLite"):
        with services() as (environment, folder):
            environment |= {"DATABASE_URL": f"sqlite:///{folder / 'large.sqlite3'}"} if name == "SQLite" else {}
            told = json.loads(server.command(environment, "bench.releasing", "1000000", str(folder)))
        floor = "COPY of the same rows" if name == "PostgreSQL" else "sqlite3's dump of the same rows"
        found += [
            Figure(
                f"release of 1,000,000 bugs, {name}",
                told["release_s"],
                "s",
                60,
                floor=told["floor_s"],
                floor_is=f"{floor}, without the raters beside each other",
            ),
            Figure("  its largest memory", told["peak_mb"], "MB", 500),
            Figure(
                "  export of the answers as CSV",
                told["export_s"],
                "s",
                told["dump_s"] * 2,
                floor=told["dump_s"],
                floor_is=floor,
            ),
        ]
    return found


PARTS: dict[str, Callable[[], list[Figure]]] = {
    "machine": newcomer,
    "transfers": transfers,
    "harvest": harvest,
    "codebook": codebook,
    "analysis": analysis,
    "labelling": labelling,
    "growth": growth,
    "sandboxes": starts,
}
# Longer than a look at the figures may take: by name alone.
BY_NAME: dict[str, Callable[[], list[Figure]]] = {
    "chaos": chaos,
    "release": releasing,
    "chaos-sqlite": lambda: chaos("sqlite:///{folder}/chaos.sqlite3"),
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
