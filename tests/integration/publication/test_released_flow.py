"""The flow goes as far as the latest release, and a release tells of what led to it."""

import json

from annotator.adjudication import actions as adjudication
from annotator.adjudication.models import Dispute
from annotator.codebook.models import Category
from annotator.overview.flow.counting import flow_of


def steps(study):
    flow = flow_of(study)
    assert flow.steps[-1].is_balanced
    return {step.name: (step.n, {part.reason: part.n for part in step.excluded}) for step in flow.steps}


def settle_next(study, ada):
    """All that is open about one bug."""
    bug = Dispute.objects.filter(study=study, is_open=True).exclude(facet__key="verdict").latest("bug__number").bug
    for dispute in Dispute.objects.filter(bug=bug, is_open=True):
        first = Category.objects.filter(facet=dispute.facet).first()
        decision = {"categories": [first], "reason": "slip", "note": "Read once more."}
        adjudication.adjudicate(bug=bug, facet=dispute.facet, by=ada, **decision)


def test_before_a_release_the_flow_ends_with_what_is_settled(labelled):
    assert list(steps(labelled))[-1] == "settled"


def test_a_release_is_the_last_step_and_what_came_later_is_told(labelled, released, ada):
    folder, _ = released()
    settled, _ = steps(labelled)["settled"]
    assert steps(labelled)["released"] == (settled, {})
    assert json.loads((folder / "flow.json").read_text())["steps"][-1]["name"] == "settled"

    settle_next(labelled, ada)
    assert steps(labelled)["settled"] == (settled + 1, {"settled since release 1": 1})
    assert steps(labelled)["released"] == (settled, {})
