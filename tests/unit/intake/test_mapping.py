"""Mapping files: read strictly, written back the same."""

import json

import pytest

from annotator.intake.mapping import Clean, read_mapping, to_yaml
from annotator.intake.mapping_parts import Column, Constant
from annotator.web.errors import BadInput

WHOLE = """
row: bug
round: {column: Round}
blind: yes
sheet: data
header_rows: 2
item: {kind: pull_request, repository: project, number: pr_id, url: pr_url, title: title, key: null, ordinal: null}
raters:
  alice: {symptom: "Symptom A", note: "Comment A", confidence: {value: sure}}
  bob: {symptom: "#15", verdict: "#16"}
final: {symptom: symptom, root_cause: root_cause}
votes: {alice: {include: "Reviewer 1", when: [TRUE, yes], reason: Comment}}
context: {Patch files: patch_file, Gist: gist_url}
clean:
  trim: false
  fold_case: false
  normalise: NFKC
  blank: ["", None]
  aliases: {root_cause: {"Type Confusion": "Type Issue", 007: "true"}}
  split: {component: "[,/]"}
  unknown: add
"""


def test_every_key_is_read() -> None:
    found = read_mapping(WHOLE)
    assert found.item.number == Column("pr_id")
    assert (found.item.key, found.item.ordinal) == (None, None)
    assert (found.round, found.blind, found.sheet, found.header_rows) == (Column("Round"), "yes", "data", 2)
    assert found.raters["alice"].facets == {"symptom": Column("Symptom A")}
    assert found.raters["alice"].confidence == Constant("sure")
    assert found.raters["bob"].facets == {"symptom": Column("#15"), "verdict": Column("#16")}
    assert found.votes["alice"].when == ("TRUE", "yes")
    assert found.clean == Clean(
        trim=False,
        fold_case=False,
        normalise="NFKC",
        blank=("", "None"),
        aliases={"root_cause": {"Type Confusion": "Type Issue", "007": "true"}},
        split={"component": "[,/]"},
        unknown="add",
    )


def test_long_form_is_read() -> None:
    found = read_mapping("item: {key: id}\nrater: reviewer\nanswers: {symptom: s, note: n}")
    assert (found.row, found.rater) == ("vote", Column("reviewer"))
    assert found.answers is not None
    assert found.answers.note == Column("n")


def test_what_is_left_out_has_its_default() -> None:
    found = read_mapping("item: {key: id}")
    assert (found.row, found.round, found.blind, found.header_rows) == ("bug", Constant("imported"), "unknown", 1)
    assert found.clean == Clean()
    assert found.item.kind == "other"
    assert read_mapping("item: {url: u}").item.kind == "pull_request"


def test_as_it_stands_normalises_nothing() -> None:
    found = read_mapping('item: {key: id}\nclean: {trim: false, fold_case: false, blank: [""], unknown: add}')
    assert found.clean == Clean(trim=False, fold_case=False, normalise="", blank=("",), unknown="add")


@pytest.mark.parametrize("text", [WHOLE, "item: {key: id}", "item: {url: u}\nrater: r\nanswers: {f: c}"])
def test_mapping_is_written_back_the_same(text: str) -> None:
    found = read_mapping(text)
    assert read_mapping(to_yaml(found)) == found


def test_json_is_read_with_its_surrogate_pairs() -> None:
    found = read_mapping(json.dumps({"item": {"key": "ключ 🐞"}, "clean": {"trim": True}}))
    assert found.item.key == Column("ключ 🐞")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        ("- a", "must be a list of “name: value” pairs, not a list"),
        ("item: {key: k}\nrows: bug", "unknown key “rows”; known are row,"),
        ("item: {key: k, id: x}", "unknown key “item.id”"),
        ("item: {key: k}\nitem: {key: l}", "Line 2 of the mapping gives “item” a second time"),
        ("row: rows\nitem: {key: k}", "row must be one of bug, vote, not “rows”"),
        ("item: {title: t}", "“item” must name a column for key, url or number"),
        ("raters: {a: {f: c}}", "“item” must name"),
        ("item: {key: [1, 2]}", "item.key must name a column"),
        ("item: {key: {column: x}}", "item.key must name a column"),
        ("item: {key: k, kind: commit}", "item.kind must be one of pull_request, issue, other"),
        ("item: {key: k}\nheader_rows: two", "header_rows must be a whole number"),
        ("item: {key: k}\nraters: {alice: {}}", "raters.alice names no column"),
        ("item: {key: k}\nraters: [alice]", "raters must be a list of “name: value” pairs"),
        ("item: {key: k}\nraters: {a: {f: c}}\nrater: r\nanswers: {f: c}", "not both"),
        ("item: {key: k}\nrater: r", "go together"),
        ("item: {key: k}\nvotes: {a: {when: [x]}}", "votes.a.include must name the column"),
        ("item: {key: k}\nvotes: {a: {include: c, if: [x]}}", "unknown key “votes.a.if”"),
        ("item: {key: k}\nblind: perhaps", "blind must be one of yes, no, unknown"),
        ("item: {key: k}\nclean: {trim: often}", "clean.trim must be true or false"),
        ("item: {key: k}\nclean: {unknown: drop}", "clean.unknown must be one of error, add"),
        ("item: {key: k}\nclean: {normalise: NFX}", "clean.normalise must be one of"),
        ("item: {key: k}\nclean: {blank: {a: b}}", "clean.blank must be a list of texts"),
        ('item: {key: k}\nclean: {split: {f: "["}}', "clean.split.f is no regular expression"),
        ('item: {key: k}\nclean: {split: {f: ",*"}}', "matches between any two letters"),
        ('item: {key: k}\nclean: {split: {f: "(a+)+b"}}', "too involved"),
        ("item: [", "no YAML"),
        ("item: !!python/name:os.system k", "has the tag"),
        ("[" * 9000, "nested too deeply"),
        ('item: {key: "\\ud800"}', "lone surrogate"),
        (b"item: {key: \xff}", "not UTF-8"),
        ("item: {key: k}\n? [a]\n: b", "a key that is no text"),
    ],
)
def test_mistake_is_said_with_its_place(text: str | bytes, said: str) -> None:
    with pytest.raises(BadInput) as refusal:
        read_mapping(text)
    assert said in str(refusal.value)
