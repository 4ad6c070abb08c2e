"""What a sheet brings into a study, and what it never does."""

from typing import Any

import pytest

from annotator.accounts.models import User
from annotator.adjudication.actions import adjudicate
from annotator.adjudication.models import Dispute, Resolution
from annotator.adjudication.queries import final_labels
from annotator.agreement.queries import entries
from annotator.codebook.models import Category
from annotator.collection.models import Context, Item, Repository
from annotator.history.models import Event
from annotator.intake.models import Import
from annotator.labeling.models import Answer, Assignment, Round, RoundBug
from annotator.sampling.models import Bug
from annotator.screening.models import Candidate, Vote
from annotator.studies.models import Membership, Study
from annotator.web.errors import BadInput
from tests.factories import make_codebook
from tests.integration.intake.conftest import bring

KEYED = {"kind": "other", "key": "id"}
STORED = [Item, Repository, Context, Bug, Round, RoundBug, Assignment, Answer, Resolution, Candidate, Vote]
STORED += [Category, User, Membership, Import, Event]


def counts() -> dict[str, int]:
    return {model.__name__: model._default_manager.count() for model in STORED}


def codes(remarks: list[dict[str, Any]]) -> list[tuple[int | None, str]]:
    return [(remark["row"], remark["code"]) for remark in remarks]


def answers(study: Study) -> list[tuple[str, str, str]]:
    rows = Answer.objects.current().filter(round__study=study).order_by("bug__number", "rater__username", "slot")
    return list(rows.values_list("bug__item__key", "rater__username", "category__name"))


def test_bugs_alone_come_in_ready_for_labelling(study: Study, lee: User) -> None:
    rows = [
        ["project", "pr", "title", "gist"],
        ["Tessera", "12 2", "Fix NaN", "a\nb"],
        ["Tessera", "12 1", "Fix NaN", ""],
    ]
    mapping = {"item": {"repository": "project", "number": "pr", "title": "title"}, "context": {"Gist": "gist"}}
    report = bring(study, rows, mapping, by=lee)
    assert (report["items_created"], report["bugs_created"], report["answers"]) == (1, 2, 0)
    assert list(Bug.objects.order_by("number").values_list("item__identity", "ordinal")) == [
        ("tessera#12", 2),
        ("tessera#12", 1),
    ]
    assert list(Context.objects.values_list("ordinal", "values")) == [(2, {"Gist": "a\nb"})]
    assert not Round.objects.exists()
    assert Event.objects.filter(verb="imported a sheet", actor_id=lee.pk).count() == 1


def test_two_raters_side_by_side_form_a_pair(study: Study) -> None:
    rows = [
        ["id", "a", "b", "a says", "sure"],
        ["x", "type", "type", "", ""],
        ["y", "Shape ", "api", "It is the rank.", "fairly sure"],
        ["z", "", "api", "", ""],
    ]
    raters = {"alice": {"cause": "a", "note": "a says", "confidence": "sure"}, "bob": {"cause": "b"}}
    report = bring(study, rows, {"item": KEYED, "raters": raters, "blind": "yes"})
    assert (report["answers"], report["warnings"]) == (5, [])
    round_ = Round.objects.get()
    assert (round_.name, round_.state, round_.blindness) == ("imported", "imported", "declared")
    turn = Assignment.objects.get(bug__item__key="y", rater__username="alice")
    assert (turn.note, turn.confidence, turn.state) == ("It is the rank.", "fairly", "submitted")
    assert Answer.objects.get(assignment=turn).cell == "Shape "
    (entry,) = [entry for entry in entries(study) if entry["raters"] == ["alice", "bob"]]
    assert (entry["n"], entry["excluded"], entry["observed"]) == (2, 1, 0.5)
    places = RoundBug.objects.order_by("position").values_list("bug__item__key", "overlap", "taken")
    assert list(places) == [("x", 2, 2), ("y", 2, 2), ("z", 1, 1)]


def test_same_file_again_stores_nothing_new(study: Study) -> None:
    rows = [["id", "who", "cause", "vote", "more"], ["x", "alice", "type", "TRUE", "m"], ["y", "Dana", "odd", "", ""]]
    mapping = {
        "item": KEYED,
        "rater": "who",
        "answers": {"cause": "cause", "note": "more"},
        "final": {"cause": "cause"},
        "votes": {"bob": {"include": "vote"}},
        "context": {"More": "more"},
        "clean": {"unknown": "add"},
    }
    first = bring(study, rows, mapping)
    stored = counts()
    again = bring(study, rows, mapping)
    assert (first["answers"], first["finals"], first["votes"], first["bugs_created"]) == (2, 2, 1, 2)
    assert first["new_categories"] == [{"facet": "cause", "name": "odd"}]
    assert counts() == stored
    assert (again["bugs_created"], again["bugs_matched"], again["answers"], again["finals"]) == (0, 2, 0, 0)
    assert again["new_categories"] == []


def test_dry_run_stores_nothing_and_reports_the_same(study: Study) -> None:
    rows = [["id", "a"], ["x", "type"], ["y", "new"]]
    mapping = {"item": KEYED, "raters": {"Dana": {"cause": "a"}}, "clean": {"unknown": "add"}}
    before = counts()
    tried = bring(study, rows, mapping, is_dry=True)
    assert counts() == before
    assert bring(study, rows, mapping) == tried


def test_errors_are_all_told_and_nothing_is_stored(study: Study) -> None:
    rows = [
        ["id", "a", "f"],
        ["x", "Crush", "type"],
        ["", "type", ""],
        ["y", "type/api", "boom"],
        ["z", "type", "type"],
    ]
    mapping = {
        "item": KEYED,
        "raters": {"alice": {"cause": "a"}},
        "final": {"cause": "f"},
        "clean": {"split": {"cause": "/"}},
    }
    before = counts()
    report = bring(study, rows, mapping)
    assert codes(report["errors"]) == [
        (2, "unknown_label"),
        (3, "no_identity"),
        (4, "several_answers"),
        (4, "unknown_label"),
    ]
    assert report["errors"][0]["column"] == "a"
    assert counts() == before


def test_footer_without_labels_is_left_out_with_a_warning(study: Study) -> None:
    rows = [
        ["URL", "a", "n"],
        ["https://example.org/1", "type", ""],
        ["Note: red ones are removed", "", ""],
        ["", "", "57"],
    ]
    mapping = {"item": {"kind": "issue", "url": "URL"}, "raters": {"alice": {"cause": "a", "note": "n"}}}
    report = bring(study, rows, mapping)
    assert (report["rows"], report["rows_skipped"], report["answers"]) == (1, 2, 1)
    assert codes(report["warnings"]) == [(3, "row_skipped"), (4, "row_skipped")]


# --- bugs of an item


def test_exact_copies_are_kept_as_the_next_bugs_and_warned_of(study: Study) -> None:
    rows = [["r", "n", "f"], ["T", "7", "type"], ["T", "7", "type"], ["T", "7", "api"], ["T", "7 2", "type"]]
    mapping = {"item": {"repository": "r", "number": "n"}, "final": {"cause": "f"}}
    report = bring(study, rows, mapping)
    assert (report["items_created"], report["bugs_created"], report["finals"]) == (1, 4, 4)
    assert codes(report["warnings"]) == [(2, "matched_by_position"), (3, "duplicate_row")]
    finals = Resolution.objects.order_by("bug__ordinal").values_list("bug__ordinal", "category__name", "source")
    assert list(finals) == [
        (1, "type", "imported"),
        (2, "type", "imported"),
        (3, "type", "imported"),
        (4, "api", "imported"),
    ]


def test_second_raters_file_finds_the_bugs_by_place_and_says_so(study: Study) -> None:
    mapping = {"item": KEYED, "raters": {"alice": {"cause": "c"}}}
    bring(study, [["id", "c"], ["x", "type"], ["x", "api"], ["y", "type"]], mapping)
    mapping["raters"] = {"bob": {"cause": "c"}}
    report = bring(study, [["id", "c"], ["x", "shape"], ["y", "type"], ["x", "api"]], mapping)
    assert (report["bugs_matched"], report["bugs_created"]) == (3, 0)
    assert codes(report["warnings"]) == [(2, "matched_by_position")]
    assert [entry["n"] for entry in entries(study) if entry["raters"] == ["alice", "bob"]] == [3]


def test_item_is_found_again_by_label_or_address(study: Study) -> None:
    url = "https://github.com/apache/tvm/pull/{}"
    by_url = {"item": {"repository": "r", "number": "n", "url": "u"}}
    bring(study, [["r", "n", "u"], ["TVM", "1", url.format(1)]], by_url)
    report = bring(study, [["r", "n"], ["tvm", "1"], ["TVM", "2"]], {"item": {"repository": "r", "number": "n"}})
    assert (report["bugs_matched"], report["items_created"]) == (1, 1)
    bring(study, [["u"], ["https://github.com/Apache/TVM/issues/2"]], {"item": {"url": "u"}})
    assert sorted(Item.objects.values_list("identity", flat=True)) == [
        "github.com/apache/tvm#1",
        "github.com/apache/tvm#2",
    ]
    assert list(Repository.objects.values_list("label", "owner", "name")) == [("TVM", "apache", "tvm")]


# --- votes


def test_votes_are_joined_by_item_whatever_their_order(study: Study, bob: User) -> None:
    """Raters' files in different orders give kappa 1, by position it would be 0."""
    mapping: dict[str, Any] = {"row": "vote", "item": KEYED, "clean": {"unknown": "add"}}
    sheet = [["id", "c"], *([str(n), c] for n, c in enumerate("PPQQRR", 1))]
    bring(study, sheet, mapping | {"raters": {"alice": {"cause": "c"}}})
    reverse = [["id", "c"], ["7", "P"], *reversed(sheet[1:])]
    bring(study, reverse, mapping | {"raters": {"bob": {"cause": "c"}}})
    (entry,) = [entry for entry in entries(study) if entry["raters"] == ["alice", "bob"]]
    assert (entry["kappa"], entry["n"], entry["excluded"]) == (1.0, 6, 1)


def test_contradictory_repeat_is_an_error_that_names_the_item(study: Study) -> None:
    rows = [["id", "c"], ["3", "type"], ["4", "api"], ["3", "api"]]
    report = bring(study, rows, {"row": "vote", "item": KEYED, "raters": {"bob": {"cause": "c"}}})
    (error,) = report["errors"]
    assert (error["row"], error["column"], error["code"]) == (4, "c", "contradictory_repeat")
    assert error["text"].startswith("3: bob answers cause “type” in row 2 and “api” in row 4")
    assert not Answer.objects.exists()


def test_equal_repeat_counts_once(study: Study) -> None:
    rows = [["id", "who", "c"], ["3", "bob", "type"], ["3", "alice", "api"], ["3", "bob", "type"]]
    report = bring(study, rows, {"item": KEYED, "rater": "who", "answers": {"cause": "c"}})
    assert (report["answers"], report["bugs_created"], codes(report["warnings"])) == (2, 1, [(4, "duplicate_row")])


def test_stored_answer_is_never_overwritten(study: Study) -> None:
    mapping = {"row": "vote", "item": KEYED, "raters": {"bob": {"cause": "c"}}, "final": {"stage": "s"}}
    bring(study, [["id", "c", "s"], ["x", "type", "training"]], mapping)
    report = bring(study, [["id", "c", "s"], ["x", "api", "deployment"], ["y", "api", ""]], mapping)
    assert codes(report["errors"]) == [(2, "contradicts_stored"), (2, "contradicts_stored")]
    assert answers(study) == [("x", "bob", "type")]


def test_sheet_brings_no_answer_of_who_adjudicated_the_bug_here(study: Study, ada: User) -> None:
    raters = {"alice": {"cause": "a"}, "bob": {"cause": "b"}}
    bring(study, [["id", "a", "b"], ["x", "type", "api"]], {"item": KEYED, "raters": raters})
    dispute = Dispute.objects.select_related("bug", "facet").get()
    label = dispute.facet.categories.filter(name="api")
    adjudicate(bug=dispute.bug, facet=dispute.facet, categories=label, reason="slip", by=ada)
    report = bring(study, [["id", "c"], ["x", "api"]], {"item": KEYED, "raters": {"ada": {"cause": "c"}}})
    assert codes(report["errors"]) == [(2, "adjudicated_here")]


def test_blanks_are_no_agreement(study: Study) -> None:
    """Four rows that both left empty: kappa 1/3 on six, not .697 on ten."""
    a, b = "XXYYXY", "XYYYXX"
    rows = [["id", "a", "b"], *([str(n), x, y] for n, (x, y) in enumerate(zip(a, b, strict=True)))]
    rows += [["6", "", ""], ["7", " ", "\n"], ["8", "\u200b", ""], ["9"]]
    mapping = {
        "item": KEYED,
        "raters": {"alice": {"cause": "a"}, "bob": {"cause": "b"}},
        "clean": {"unknown": "add", "trim": False, "fold_case": False},
    }
    bring(study, rows, mapping)
    (entry,) = [entry for entry in entries(study) if len(entry["raters"]) == 2]
    assert entry["kappa"] == pytest.approx(1 / 3, abs=1e-12)
    assert (entry["n"], entry["excluded"]) == (6, 4)


def test_as_it_stands_every_cell_is_its_own_category(study: Study) -> None:
    words = ["None", "NA", "null", "007", "1e5", " x", "x", "X", "TRUE", "nan"]
    rows = [["id", "c"], *([str(n), word] for n, word in enumerate(words))]
    clean = {"trim": False, "fold_case": False, "blank": [""], "unknown": "add"}
    report = bring(study, rows, {"item": KEYED, "raters": {"alice": {"cause": "c"}}, "clean": clean})
    assert [added["name"] for added in report["new_categories"]] == words
    assert [category for _, _, category in answers(study)] == words


def test_set_valued_facet_takes_each_label_once(study: Study) -> None:
    study.codebook.facets.filter(key="cause").update(is_many=True)
    mapping = {"item": KEYED, "raters": {"alice": {"cause": "c"}}, "clean": {"split": {"cause": "[,/]"}}}
    report = bring(study, [["id", "c"], ["x", "type, api / TYPE"]], mapping)
    assert report["answers"] == 2
    assert list(Answer.objects.order_by("slot").values_list("slot", "category__name", "cell")) == [
        (0, "type", "type, api / TYPE"),
        (1, "api", "type, api / TYPE"),
    ]
    assert bring(study, [["id", "c"], ["x", "api/type"]], mapping)["errors"] == []
    assert codes(bring(study, [["id", "c"], ["x", "api"]], mapping)["errors"]) == [(2, "contradicts_stored")]


def test_not_a_bug_keeps_its_reason(study: Study) -> None:
    mapping = {"item": KEYED, "raters": {"alice": {"verdict": "v"}}}
    bring(study, [["id", "v"], ["x", "not a bug"], ["y", "Duplicate"], ["z", "bug"]], mapping)
    assert [category for _, _, category in answers(study)] == ["not a bug", "not a bug", "bug"]
    reason = Assignment.objects.get(bug__item__key="y").not_a_bug_reason
    assert Category.objects.get(uid=reason).name == "duplicate"


# --- people


def test_rater_who_is_not_there_becomes_a_member_without_password(study: Study) -> None:
    rows = [["id", "who", "c"], ["x", "Dana Díaz", "type"], ["y", "dana diaz", "api"], ["z", " Alice", "api"]]
    report = bring(study, rows, {"item": KEYED, "rater": "who", "answers": {"cause": "c"}})
    assert codes(report["warnings"]) == [(2, "new_person"), (3, "names_joined")]
    dana = User.objects.get(username="dana-diaz")
    assert (dana.display_name, dana.has_usable_password()) == ("Dana Díaz", False)
    assert Membership.objects.filter(study=study, user=dana).values_list("role", flat=True).get() == "rater"
    assert {rater for _, rater, _ in answers(study)} == {"alice", "dana-diaz"}


def test_lead_who_rated_becomes_a_rater_as_well(study: Study, lee: User) -> None:
    report = bring(study, [["id", "c"], ["x", "type"]], {"item": KEYED, "raters": {"lee": {"cause": "c"}}})
    assert [remark["code"] for remark in report["warnings"]] == ["new_role"]
    assert set(Membership.objects.filter(user=lee).values_list("role", flat=True)) == {"lead", "rater"}


def test_row_with_an_answer_of_nobody_is_an_error(study: Study) -> None:
    rows = [["id", "who", "c"], ["x", "", "type"], ["y", "", ""]]
    report = bring(study, rows, {"item": KEYED, "rater": "who", "answers": {"cause": "c"}})
    assert codes(report["errors"]) == [(2, "unknown_rater")]


# --- rounds


def test_rounds_may_be_named_by_a_column(study: Study) -> None:
    rows = [["id", "r", "c"], ["x", "Pilot", "type"], ["y", "Main 1", "api"], ["z", "", "api"]]
    bring(study, rows, {"item": KEYED, "round": {"column": "r"}, "raters": {"alice": {"cause": "c"}}})
    found = Round.objects.order_by("number").values_list("name", "round_bugs__bug__item__key")
    assert list(found) == [("Pilot", "x"), ("Main 1", "y"), ("imported", "z")]


def test_round_that_is_labelled_here_takes_no_sheet(study: Study, main_round: Round) -> None:
    mapping = {"item": KEYED, "round": "Round 1", "raters": {"alice": {"cause": "c"}}}
    with pytest.raises(BadInput, match="is labelled here \\(open\\) and takes no sheet"):
        bring(study, [["id", "c"], ["x", "type"]], mapping)


def test_imported_round_keeps_what_was_said_of_its_blindness(study: Study) -> None:
    mapping = {"item": KEYED, "blind": "no", "raters": {"alice": {"cause": "c"}}}
    bring(study, [["id", "c"], ["x", "type"]], mapping)
    with pytest.raises(BadInput, match="“blind: no”: say the same"):
        bring(study, [["id", "c"], ["x", "type"]], mapping | {"blind": "yes"})


def test_sheets_own_final_label_wins_over_what_its_raters_agree_on(study: Study) -> None:
    rows = [["id", "a", "b", "f"], ["x", "type", "type", "api"], ["y", "type", "type", ""]]
    raters = {"alice": {"cause": "a"}, "bob": {"cause": "b"}}
    bring(study, rows, {"item": KEYED, "raters": raters, "final": {"cause": "f"}})
    found = final_labels(study).order_by("bug__number").values_list("bug__item__key", "category__name", "source")
    assert list(found) == [("x", "api", "imported"), ("y", "type", "unanimous")]


# --- screening


def test_screening_votes_make_candidates_and_no_bugs(study: Study) -> None:
    rows = [
        ["u", "a", "why", "b"],
        ["https://example.org/1", "TRUE", "seen", "FALSE"],
        ["https://example.org/2", "", "", "x"],
    ]
    votes = {
        "alice": {"include": "a", "when": ["TRUE"], "reason": "why"},
        "bob": {"include": "b", "when": ["TRUE", "X"]},
    }
    report = bring(study, rows, {"item": {"kind": "issue", "url": "u"}, "votes": votes})
    assert (report["votes"], report["items_created"], report["bugs_created"]) == (3, 2, 0)
    found = Vote.objects.order_by("candidate__item__url", "reviewer__username")
    assert list(found.values_list("reviewer__username", "decision", "comment", "cell")) == [
        ("alice", "include", "seen", "TRUE"),
        ("bob", "exclude", "", "FALSE"),
        ("bob", "include", "", "x"),
    ]
    assert (Candidate.objects.count(), Bug.objects.count()) == (2, 0)


# --- mappings that do not fit


@pytest.mark.parametrize(
    ("mapping", "said"),
    [
        ({"item": {"key": "nr"}}, "item.key: The sheet has no column “nr”. It has id, c."),
        ({"item": KEYED, "raters": {"a": {"cause": "x", "stage": "y"}}}, "1 more places of the mapping do not fit"),
        (
            {"item": KEYED, "final": {"colour": "c"}},
            "final: the study has no facet “colour”; it has cause, stage, verdict",
        ),
        ({"item": KEYED, "final": {"cause": "c"}, "clean": {"aliases": {"colour": {}}}}, "no facet “colour”"),
    ],
)
def test_mapping_that_does_not_fit_is_refused(study: Study, mapping: dict[str, Any], said: str) -> None:
    before = counts()
    with pytest.raises(BadInput) as refusal:
        bring(study, [["id", "c"], ["x", "type"]], mapping)
    assert said in str(refusal.value)
    assert counts() == before


def test_sheet_without_data_or_items_is_refused(study: Study) -> None:
    with pytest.raises(BadInput, match="no rows below its header"):
        bring(study, [["id", "c"]], {"item": KEYED})
    with pytest.raises(BadInput, match="No row of the sheet names an item"):
        bring(study, [["id", "c", "d"], ["", "", "a note"]], {"item": KEYED, "final": {"cause": "c"}})


def test_alias_that_leads_nowhere_is_an_error(study: Study) -> None:
    mapping = {"item": KEYED, "final": {"cause": "c"}, "clean": {"aliases": {"Cause": {"boom": "Crush"}}}}
    report = bring(study, [["id", "c"], ["x", "type"]], mapping)
    assert [(error["code"], error["column"]) for error in report["errors"]] == [
        ("alias_to_nothing", "clean.aliases.cause")
    ]


def test_nul_in_a_mapped_cell_is_an_error_and_elsewhere_no_matter(study: Study) -> None:
    rows = [["id", "c", "unused"], ["x", "type\x00", ""], ["y", "type", "\x00"]]
    report = bring(study, rows, {"item": KEYED, "final": {"cause": "c"}})
    assert (2, "unstorable") in codes(report["errors"])
    assert {row for row, _ in codes(report["errors"])} == {2}


def test_text_is_stored_byte_for_byte(study: Study) -> None:
    title, memo = 'Fix "NaN" loss, again\nwhen lr=1e-3', "=SUM(1,2)\r\n\t🐞\u2028'lone"
    mapping = {
        "item": {**KEYED, "title": "t"},
        "context": {"Memo": "m"},
        "raters": {"alice": {"cause": "c", "note": "m"}},
    }
    bring(study, [["id", "t", "m", "c"], ["x", title, memo, "type"]], mapping)
    assert Item.objects.get().title == title
    assert Context.objects.get().values == {"Memo": memo}
    assert Assignment.objects.get().note == memo


def test_number_of_queries_does_not_grow_with_the_sheet(study: Study, django_assert_max_num_queries: Any) -> None:
    rows = [["id", "a", "b"], *([str(n), "type", "api"] for n in range(300))]
    mapping = {"item": KEYED, "raters": {"alice": {"cause": "a"}, "bob": {"cause": "b"}}}
    with django_assert_max_num_queries(120):
        bring(study, rows, mapping)


def test_another_studys_items_are_not_met(study: Study, lee: User) -> None:
    from tests.factories import StudyFactory, member

    other = StudyFactory(slug="other")
    member(other, lee, "lead")
    make_codebook(other, {"cause": ["type"]})
    mapping = {"item": KEYED, "final": {"cause": "c"}}
    bring(study, [["id", "c"], ["x", "type"]], mapping)
    report = bring(other, [["id", "c"], ["x", "type"]], mapping)
    assert (report["items_created"], report["bugs_matched"]) == (1, 0)


def test_column_of_free_text_is_no_facet(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotator.intake.planning.MAX_CATEGORIES", 30)
    rows = [["id", "c"], *([str(n), f"text {n}"] for n in range(30))]
    report = bring(study, rows, {"item": KEYED, "final": {"cause": "c"}, "clean": {"unknown": "add"}})
    assert [error["code"] for error in report["errors"]] == ["too_many_categories"]
