"""A host's ledger: what the platform answers becomes go on, stop, or ask again."""

import json

import pytest

from annotator.clients.platform import NoAnswer, NotAllowed, Platform, Refused, read
from annotator.reproduction.ledger import Piece, Result, Unreachable, Work
from annotator.reproduction.matching import Can
from annotator.reproduction.remote import Remote

WORK = Work(run="r", lease="l", attempt=2, recipe={}, script="", environment="", repeat=1, seed=1)


class Line:
    """Answers in turn."""

    def __init__(self, *answers):
        self.answers, self.asked = list(answers), []

    def post(self, path, body):
        self.asked.append((path, body))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def remote(*answers):
    line = Line(*answers)
    return Remote(lambda: line), line


def test_no_content_is_no_work_and_work_comes_as_it_was_sent():
    ledger, _ = remote(None, WORK.document() | {"further": 1})
    assert ledger.claim(Can()) is None
    assert ledger.claim(Can()) == WORK


def test_each_question_speaks_for_its_lease():
    ledger, line = remote({"go_on": True}, {"go_on": True}, {"counted": True})
    assert ledger.renew(WORK)
    ledger.log(WORK, [Piece(sequence=0, text="x")])
    assert ledger.result(WORK, Result(outcome="bug", said=""))
    assert [path for path, _ in line.asked] == ["renew", "log", "result"]
    assert all((body["run"], body["lease"], body["attempt"]) == ("r", "l", 2) for _, body in line.asked)


def test_a_removed_host_stops():
    ledger, _ = remote(NotAllowed("removed"), NotAllowed("removed"))
    assert ledger.renew(WORK) is False and ledger.result(WORK, Result(outcome="bug", said="")) is False


def test_who_does_not_answer_is_asked_again():
    ledger, _ = remote(*[NoAnswer("dead")] * 3)
    for ask in (lambda: ledger.renew(WORK), lambda: ledger.log(WORK, []), lambda: ledger.claim(Can())):
        with pytest.raises(Unreachable):
            ask()


def test_a_result_that_is_too_long_is_cut():
    ledger, line = remote(Refused("too long", status=413), {"counted": True})
    assert ledger.result(WORK, Result(outcome="bug", said="", stdout="x" * 200_000))
    assert [len(body["result"]["stdout"]) for _, body in line.asked] == [
        200_000,
        len(line.asked[1][1]["result"]["stdout"]),
    ]
    assert len(line.asked[1][1]["result"]["stdout"]) <= 20_000


def test_a_result_that_is_not_taken_is_told_as_a_fault():
    ledger, line = remote(Refused("no such outcome", status=400), {"counted": True})
    assert ledger.result(WORK, Result(outcome="bug", said=""))
    assert line.asked[1][1]["result"]["outcome"] == "fault"


@pytest.mark.parametrize(
    ("status", "body", "raised"),
    [
        (401, {"detail": "unknown"}, NotAllowed),
        (403, {}, NotAllowed),
        (400, {"detail": "bad"}, Refused),
        (413, {}, Refused),
        (302, {}, Refused),
        (503, {}, NoAnswer),
        (500, {}, NoAnswer),
        (200, [], NoAnswer),
    ],
)
def test_what_an_answer_means(status, body, raised):
    with pytest.raises(raised):
        read(status, json.dumps(body).encode())


def test_an_answer_from_somebody_else_is_none():
    with pytest.raises(NoAnswer):
        read(200, b"<html>")
    assert read(204, b"") is None and read(200, b'{"a": 1}') == {"a": 1}


@pytest.mark.parametrize(
    "address", ["http://example.org", "ftp://x", "https://", "https://a@b", "https://x:port", "x", "https://x/?a=1"]
)
def test_a_key_is_sent_over_https_or_to_this_machine_alone(address):
    with pytest.raises(ValueError, match=r"\w"):
        Platform(address, "key")
    for fine in ("https://example.org", "https://example.org/concord/", "http://127.0.0.1:8000", "http://localhost"):
        assert Platform(fine, "key")
