"""The protocol is laid down before; a later change is a deviation with a reason."""

import pytest
from django.test import Client

from annotator.studies.actions import change_protocol
from annotator.studies.models import Deviation
from annotator.studies.protocol import Protocol, protocol_of
from annotator.web.errors import BadInput

FILLED = {
    "decided_by": "adjudicator",
    "hide_names": "on",
    "gate_coefficient": "kappa",
    "gate_method": "lower",
    "gate_bound": "0.7",
    "gate_min_n": "10",
    "notes": "",
}


def lead(lee) -> Client:
    client = Client()
    client.force_login(lee)
    return client


def test_a_study_has_a_protocol_from_the_start(study):
    assert protocol_of(study) == Protocol()
    assert protocol_of(study).hide_names


def test_a_change_is_a_deviation_with_its_reason(study, lee):
    answer = lead(lee).post("/frameworks/protocol/", FILLED | {"reason": "The pilot was too strict."})
    assert answer.status_code == 302
    study.refresh_from_db()
    assert (protocol_of(study).decided_by, protocol_of(study).gate_bound) == ("adjudicator", 0.7)
    deviation = Deviation.objects.get()
    assert deviation.old == {"decided_by": "either", "gate_bound": 0.8}
    assert deviation.new == {"decided_by": "adjudicator", "gate_bound": 0.7}
    assert (deviation.reason, deviation.by) == ("The pilot was too strict.", lee)
    assert b"The pilot was too strict." in lead(lee).get("/frameworks/protocol/").content


def test_without_a_reason_nothing_changes(study, lee):
    answer = lead(lee).post("/frameworks/protocol/", FILLED)
    assert answer.status_code == 400
    assert b"Write down why" in answer.content
    assert not Deviation.objects.exists()


def test_saving_the_same_is_no_deviation(study, lee):
    assert change_protocol(study=study, protocol=Protocol(), reason="", by=lee) is None


@pytest.mark.parametrize(
    "wrong",
    [
        Protocol(decided_by="dice"),
        Protocol(gate_coefficient="r"),
        Protocol(gate_bound=1.5),
        Protocol(gate_bound=float("nan")),
        Protocol(gate_min_n=0),
        Protocol(notes="x" * 10_001),
    ],
)
def test_a_protocol_that_makes_no_sense_is_refused(study, lee, wrong):
    with pytest.raises(BadInput):
        change_protocol(study=study, protocol=wrong, reason="why not", by=lee)
