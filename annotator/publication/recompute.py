#!/usr/bin/env python3
"""Check this data set with Python alone: python check.py. It ends with 0 where everything holds, else with 1.

It compares each file with its hash, the CSV tables with the JSON lines, counts the final labels again and compares
them with tables.json, and works out every kappa again from the raters' answers and compares it with agreement.json.
"""

import csv
import hashlib
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from itertools import chain, combinations, combinations_with_replacement, groupby, zip_longest
from math import isclose, sqrt
from operator import itemgetter
from pathlib import Path
from typing import Any

SUMS, RELEASE = "SHA256SUMS", "release.json"
NO_REPOSITORY = "(no repository)"
NOT_COMPARED = ("joint", "rule", "one_rater")
Cell = tuple[str, str]
Cells = tuple[str, ...]
Label = tuple[str, str, str]  # facet, category, repository


def main() -> int:
    csv.field_size_limit(2**31 - 1)
    folder = Path(__file__).resolve().parent
    wrong: list[str] = []
    for says, check in (
        ("files and their hashes", check_hashes),
        ("rows that are the same in CSV and JSON lines", check_formats),
        ("counts of final labels", check_counts),
        ("agreement figures", check_agreement),
    ):
        try:
            checked, found = check(folder)
        except (OSError, ValueError, KeyError, TypeError, csv.Error) as problem:
            checked, found = 0, [f"{says}: cannot be read: {type(problem).__name__}: {problem}"]
        sys.stdout.write(f"{'WRONG' if found else 'ok':>5}  {checked:,} {says}\n")
        wrong += found
    for line in wrong:
        sys.stderr.write(f"{line}\n")
    return 1 if wrong else 0


# --- files


def check_hashes(folder: Path) -> tuple[int, list[str]]:
    listed = [line.split("  ", 1) for line in (folder / SUMS).read_text("utf-8").splitlines()]
    wrong = [f"{path} is not as it was published" for digest, path in listed if digest_of(folder / path) != digest]
    release = json.loads((folder / RELEASE).read_text("utf-8"))
    content = sorted((each["path"], each["sha256"]) for each in release["content"])
    digest = hashlib.sha256("".join(f"{sha256}  {path}\n" for path, sha256 in content).encode()).hexdigest()
    if digest != release["sha256"] or not set(content) <= {(path, digest) for digest, path in listed}:
        wrong.append(f"{RELEASE} does not name this content")
    return len(listed), wrong


def digest_of(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def check_formats(folder: Path) -> tuple[int, list[str]]:
    compared, wrong = 0, []
    for path in sorted(folder.glob("*.jsonl")):
        table = path.with_suffix(".csv").name
        records = records_of(folder, table)
        names = next(records, [])
        with path.open(encoding="utf-8", newline="\n") as lines:
            for number, (record, line) in enumerate(zip_longest(records, lines), 1):
                compared += 1
                if record is None or line is None or not is_same_row(names, record, json.loads(line)):
                    wrong.append(f"row {number} of {table} is another in {path.name}")
                    break
    return compared, wrong


def is_same_row(names: list[str], record: list[str], row: dict[str, Any]) -> bool:
    return names == list(row) and record == [as_csv(value) for value in row.values()]


def as_csv(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def records_of(folder: Path, name: str) -> Iterator[list[str]]:
    """The header and the rows of a table; nothing where there is no such file: a table without rows is left out."""
    if (folder / name).exists():
        with (folder / name).open(encoding="utf-8", newline="") as lines:
            yield from records_in(lines)


def records_in(lines: Iterator[str]) -> Iterator[list[str]]:
    """A line without a quote is a row, and is cut at its commas: half the work. From a quote on a row may have more lines."""
    for line in lines:
        yield next(csv.reader(chain([line], lines))) if '"' in line else line.rstrip("\r\n").split(",")


def by_bug(folder: Path, name: str, *columns: str) -> Iterator[Iterable[Cells]]:
    """For each bug its rows, with these columns alone. Tables are sorted by bug."""
    records = records_of(folder, name)
    names = next(records, ["bug", *columns])
    wanted = itemgetter(*map(names.index, columns))
    for _, of_bug in groupby(records, key=itemgetter(names.index("bug"))):
        yield map(wanted, of_bug)


class Once(dict[Cells, Any]):
    """What is made of some cells, made once: millions of rows have few that differ."""

    def __init__(self, make: Callable[[Cells], Any]) -> None:
        self.make = make

    def __missing__(self, cells: Cells) -> Any:
        made = self[cells] = self.make(cells)
        return made


# --- final labels


def check_counts(folder: Path) -> tuple[int, list[str]]:
    told = json.loads((folder / "tables.json").read_text("utf-8"))
    facets: Counter[tuple[str, str]] = Counter()
    places: Counter[tuple[str, str, str]] = Counter()
    crossed: Counter[tuple[str, str, str, str]] = Counter()
    for (one, other), n in label_pairs(folder, told["names"]).items():
        if one == other:
            facets[one[:2]] += n
            places[one] += n
        elif one[0] != other[0]:
            crossed[*one[:2], *other[:2]] += n
            crossed[*other[:2], *one[:2]] += n
    expected: dict[tuple[str, ...], int] = {}
    found: dict[tuple[str, ...], int] = {}
    for facet, counts in told["facets"].items():
        expected |= {(facet, category): n for category, n in counts.items()}
        found |= {key: n for key, n in facets.items() if key[0] == facet}
    for facet, by_place in told["by_repository"].items():
        expected |= {(facet, category, place): n for category, row in by_place.items() for place, n in row.items()}
        found |= {key: n for key, n in places.items() if key[0] == facet}
    for pair, table in told["crosstabs"].items():
        one, _, other = pair.partition(" × ")
        expected |= {(one, a, other, b): n for a, row in table.items() for b, n in row.items()}
        found |= {key: n for key, n in crossed.items() if (key[0], key[2]) == (one, other)}
    wrong = [
        f"{', '.join(key)}: {found.get(key, 0)} labels are in finals.csv, {expected.get(key, 0)} in tables.json"
        for key in sorted({*expected, *found})
        if expected.get(key, 0) != found.get(key, 0)
    ]
    return len(expected), wrong


def label_pairs(folder: Path, names: dict[str, str]) -> Counter[tuple[Label, Label]]:
    """How many bugs have both labels, and how many have one: paired with itself.

    `names`: categories as tables.json calls them, by uid, which tells two of one name apart.
    """
    label = Once(lambda cells: (cells[0], names.get(cells[1], cells[2]), cells[3] or NO_REPOSITORY))
    rows_by_bug = by_bug(folder, "finals.csv", "facet", "category_uid", "category", "repository")
    labels_by_bug = (sorted({label[cells] for cells in rows if cells[1]}) for rows in rows_by_bug)
    return Counter(chain.from_iterable(combinations_with_replacement(labels, 2) for labels in labels_by_bug))


# --- agreement


class Votes:
    """Who answered what, counted for each round and facet, pair by pair and together."""

    def __init__(self) -> None:
        self.pairs: dict[tuple[str, str, str, str], Counter[tuple[frozenset[str], frozenset[str]]]] = defaultdict(
            Counter
        )
        self.together: dict[tuple[str, str], Counter[tuple[str, ...]]] = defaultdict(Counter)

    def count(self, round_: str, facet: str, given: dict[str, frozenset[str]], bugs: int) -> None:
        for one, other in combinations(sorted(given), 2):
            self.pairs[round_, facet, one, other][given[one], given[other]] += bugs
        self.together[round_, facet][tuple(sorted("\n".join(sorted(chosen)) for chosen in given.values()))] += bugs


def votes_in(folder: Path, implied: dict[str, str]) -> Votes:
    """`implied`: of rounds in which someone said that a bug is none, what all others said by answering."""
    votes = Votes()
    for ((round_, facet), pattern), bugs in patterns_in(folder, implied).items():
        given: dict[str, set[str]] = defaultdict(set)
        for rater, uid in pattern:
            given[rater].add(uid)
        votes.count(round_, facet, {rater: frozenset(uids) for rater, uids in given.items()}, bugs)
    return votes


def patterns_in(folder: Path, implied: dict[str, str]) -> Counter[tuple[Cell, tuple[Cell, ...]]]:
    """Bugs by who answered what, (rater, category) after (rater, category), in each (round, facet)."""
    found: Counter[tuple[Cell, tuple[Cell, ...]]] = Counter()
    parted = Once(lambda cells: (cells[:2], cells[2:]))
    for rows in by_bug(folder, "answers.csv", "round", "facet", "rater", "category_uid"):
        given: dict[Cell, tuple[Cell, ...]] = {}
        for cells in rows:
            place, vote = parted[cells]
            given[place] = (*given[place], vote) if place in given else (vote,)
        if implied:
            given |= verdicts(given, implied)
        found.update(given.items())
    return found


def verdicts(given: dict[Cell, tuple[Cell, ...]], implied: dict[str, str]) -> dict[Cell, tuple[Cell, ...]]:
    """What was said of the bug, and what those said who answered and left that out."""
    found = {}
    for round_ in {round_ for round_, _ in given} & implied.keys():
        said = given.get((round_, "verdict"), ())
        raters = {rater for (name, _), votes in given.items() if name == round_ for rater, _ in votes}
        silent = sorted(raters - {rater for rater, _ in said})
        found[round_, "verdict"] = said + tuple((rater, implied[round_]) for rater in silent)
    return found


def check_agreement(folder: Path) -> tuple[int, list[str]]:
    entries = json.loads((folder / "agreement.json").read_text("utf-8"))
    entries = [entry for entry in entries if entry["facet"] != "vote" and entry.get("reason") not in NOT_COMPARED]
    votes = votes_in(folder, implied_verdicts(entries))
    wrong: list[str] = []
    for entry in entries:
        found = figures_of(entry, votes)
        place = f"{entry['round']}, {entry['facet']}, {' and '.join(entry['raters'])}"
        wrong += [
            f"{place}: {name} is {value} by answers.csv, {entry.get(name)} in agreement.json"
            for name, value in found.items()
            if not same(value, entry.get(name))
        ]
    return len(entries), wrong


def implied_verdicts(entries: list[dict[str, Any]]) -> dict[str, str]:
    found = {}
    for entry in entries:
        if entry["facet"] == "verdict" and entry.get("table"):
            uids = dict(zip(entry["table"]["categories"], entry["table"]["uids"], strict=True))
            found[entry["round"]] = uids.get("bug", "")
    return found


def figures_of(entry: dict[str, Any], votes: Votes) -> dict[str, Any]:
    if "fleiss" in entry:
        together = votes.together[entry["round"], entry["facet"]]
        value = None if entry["reason"] == "set_valued" else fleiss(together, len(entry["raters"]))
        return {"n": sum(together.values()), "fleiss": value}
    pairs = votes.pairs[entry["round"], entry["facet"], entry["raters"][0], entry["raters"][1]]
    if entry["reason"] == "set_valued":
        n = sum(pairs.values())
        return {"n": n, "exact_match": sum(count for (a, b), count in pairs.items() if a == b) / n if n else None}
    cells: Counter[Cell] = Counter()
    for (a, b), count in pairs.items():
        cells["".join(a), "".join(b)] += count
    return kappa(cells) | {"table": square(entry["table"], cells)}


def square(table: dict[str, Any] | None, cells: Counter[Cell]) -> dict[str, Any] | None:
    return table and table | {"counts": [[cells[a, b] for b in table["uids"]] for a in table["uids"]]}


def kappa(cells: Counter[Cell]) -> dict[str, Any]:
    """Cohen (1960), with the large-sample standard error of Fleiss, Cohen and Everitt (1969)."""
    n = sum(cells.values())
    if n == 0:
        return {"n": 0, "kappa": None}
    first: Counter[str] = Counter()
    second: Counter[str] = Counter()
    for (a, b), count in cells.items():
        first[a] += count
        second[b] += count
    agreeing = sum(count for (a, b), count in cells.items() if a == b)
    chance = sum(count * second[a] for a, count in first.items())
    found = {"n": n, "observed": agreeing / n, "expected": chance / n**2}
    if chance == n**2:
        return found | {"kappa": None}
    beyond, missed = n**2 - chance, n * (n - agreeing)
    spread = sum(
        count * (n * beyond - (first[a] + second[a]) * missed) ** 2
        if a == b
        else count * (missed * (second[a] + first[b])) ** 2
        for (a, b), count in cells.items()
    )
    centre = n**2 * (beyond - missed) - chance * missed
    value, se = (n * agreeing - chance) / beyond, sqrt(Fraction(n * spread - centre**2, n * beyond**4))
    return found | {
        "kappa": value,
        "se": se,
        "ci": [value - 1.959963984540054 * se, value + 1.959963984540054 * se] if se else None,
    }


def fleiss(patterns: Counter[tuple[str, ...]], raters: int) -> float | None:
    """Fleiss (1971); none where a bug lacks someone's vote."""
    if not patterns or any(len(votes) != raters for votes in patterns):
        return None
    totals: Counter[str] = Counter()
    agreeing = 0
    for votes, count in patterns.items():
        of_bug = Counter(votes)
        agreeing += count * sum(each * (each - 1) for each in of_bug.values())
        for vote, each in of_bug.items():
            totals[vote] += each * count
    n = sum(totals.values())
    observed, expected = Fraction(agreeing, n * (raters - 1)), Fraction(sum(each**2 for each in totals.values()), n**2)
    return None if expected == 1 else float((observed - expected) / (1 - expected))


def same(one: Any, other: Any) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and isinstance(other, int | float):
        return isclose(one, other, rel_tol=1e-12, abs_tol=1e-12)
    return bool(one == other)


if __name__ == "__main__":
    sys.exit(main())
