"""The demo's text keeps its promises: diffs that parse, labels of the preset, quotes that stand in the source."""

import re
from collections import Counter

import pytest
from unidiff import PatchSet

from annotator.codebook.document import NOT_A_BUG, Document, not_applicable, verdict
from annotator.codebook.presets import preset
from annotator.overview.demo.content import FACETS, RATERS, DemoBug, PullRequest, pull_requests

PULLS = pull_requests()
BUGS = [bug for pull in PULLS for bug in pull.bugs]
REASONS = {"slip", "misread", "guideline_gap", "ambiguous", "knowledge", "other"}


def names(facet: str) -> set[str]:
    document: Document = preset("dl-framework-bugs")
    found = document.facet(facet)
    assert found is not None
    known = {category.name for category in found.categories}
    return known | {not_applicable().name} if found.optional else known


def test_sixty_bugs_of_four_frameworks():
    assert len(BUGS) == 60
    assert len(PULLS) == 56
    assert len({pull.repository for pull in PULLS}) == 4
    assert Counter(len(pull.bugs) for pull in PULLS) == {1: 52, 2: 4}


def test_rounds_have_the_sizes_that_the_documentation_names():
    assert Counter(bug.round for bug in BUGS) == {"pilot": 12, "main-1": 20, "main-2": 20, "": 8}


def test_numbers_are_used_once_and_dates_are_in_order():
    assert len({(pull.repository, pull.number) for pull in PULLS}) == len(PULLS)
    for pull in PULLS:
        turns = [turn.at for turn in pull.turns]
        assert turns == sorted(turns), pull.number
        assert pull.opened <= turns[0], pull.number
        assert pull.opened < pull.merged, pull.number


@pytest.mark.parametrize("pull", PULLS, ids=lambda pull: f"{pull.repository}#{pull.number}")
def test_each_patch_is_a_unified_diff_with_right_counts(pull: PullRequest):
    assert 1 <= len(pull.files) <= 4
    assert 1 <= len(pull.turns) <= 4
    for file in pull.files:
        (parsed,) = PatchSet.from_string(f"--- a/{file.path}\n+++ b/{file.path}\n{file.patch}")
        assert parsed.added + parsed.removed > 0
        for hunk in parsed:
            assert hunk.is_valid(), file.path
        starts = [hunk.source_start for hunk in parsed]
        assert starts == sorted(starts), file.path


@pytest.mark.parametrize("facet", FACETS)
def test_labels_and_votes_are_categories_of_the_preset(facet: str):
    known = names(facet)
    used = {bug.labels[facet] for bug in BUGS} | {vote.answers[facet] for bug in BUGS for vote in bug.votes.values()}
    assert used <= known, used - known


def test_a_vote_for_not_a_bug_gives_a_reason_of_the_verdict():
    given = {vote.not_a_bug for bug in BUGS for vote in bug.votes.values()} - {""}
    assert given
    assert given <= {category.name for category in verdict().children(NOT_A_BUG)}


def test_both_raters_voted_on_every_bug_of_a_round_and_say_why():
    for bug in BUGS:
        assert set(bug.votes) == (set(RATERS) if bug.round else set())
        for vote in bug.votes.values():
            assert len(vote.why) > 5
            assert vote.confidence in {"", "sure", "fairly", "unsure"}


@pytest.mark.parametrize("pull", PULLS, ids=lambda pull: f"{pull.repository}#{pull.number}")
def test_what_a_rater_cites_stands_in_the_source(pull: PullRequest):
    for bug in pull.bugs:
        for vote in bug.votes.values():
            assert not vote.cites or pull.quote(vote.cites), vote.cites


def differing(bug: DemoBug) -> set[str]:
    one, other = (bug.votes[rater] for rater in RATERS)
    if bool(one.not_a_bug) != bool(other.not_a_bug):
        return {"verdict"}
    return {facet for facet in FACETS if one.answers[facet] != other.answers[facet]}


def test_only_disputes_of_the_closed_main_round_are_settled():
    for bug in BUGS:
        settled = {settlement.facet for settlement in bug.settled}
        assert settled <= (differing(bug) if bug.round == "main-1" else set())
        for settlement in bug.settled:
            assert settlement.by in {"maple", "discussed"}
            assert (settlement.reason in REASONS) == (settlement.by == "maple")


def test_disputes_are_left_open_for_whoever_tries_the_demo():
    disputes = sum(len(differing(bug)) for bug in BUGS if bug.round == "main-1")
    settled = sum(len(bug.settled) for bug in BUGS)
    assert 4 <= settled < disputes - 4


def test_nobody_s_real_repository_is_named():
    text = " ".join(pull.title + pull.body + pull.url for pull in PULLS)
    assert not re.search(r"github\.com|pytorch|tensorflow", text, re.IGNORECASE)
