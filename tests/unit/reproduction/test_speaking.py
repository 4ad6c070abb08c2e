"""What a script says reaches the ledger whole, in order and once, whatever is cut off on the way."""

from hypothesis import given
from hypothesis import strategies as st

from annotator.clients.sandboxes.job import Stream
from annotator.reproduction.ledger import LONGEST_PIECE, Unreachable, Work, cut
from annotator.reproduction.speaking import Speech

WORK = Work(run="x", lease="x", attempt=1, recipe={}, script="", environment="", repeat=1, seed=1)


class Book:
    """Stores each piece once, as the rows do; now and then it does not answer, or its answer is lost."""

    def __init__(self, fates=()):
        self.pieces, self.fates = {}, list(fates)

    def log(self, work, pieces):
        fate = self.fates.pop(0) if self.fates else "answers"
        if fate == "dead":
            raise Unreachable
        for piece in pieces:
            self.pieces.setdefault(piece.sequence, piece)
        if fate == "answer is lost":
            raise Unreachable

    def text(self, *, is_error=False):
        return "".join(one.text for _, one in sorted(self.pieces.items()) if one.is_error == is_error)


def test_a_character_in_two_pieces_is_one():
    speech = Speech(ledger=(book := Book()), work=WORK)
    for byte in "é – 漢".encode():
        speech.hear(Stream.OUT, bytes([byte]))
    speech.end()
    assert book.text() == "é – 漢"


def test_both_streams_are_told_apart():
    speech = Speech(ledger=(book := Book()), work=WORK)
    for stream, text in [(Stream.OUT, b"a"), (Stream.ERR, b"b"), (Stream.OUT, b"c\x00\xff")]:
        speech.hear(stream, text)
    speech.end()
    assert (book.text(), book.text(is_error=True)) == ("ac��", "b")


@given(
    st.lists(st.binary(min_size=1, max_size=40).map(lambda raw: raw.replace(b"\x00", b" ")), max_size=12),
    st.lists(st.sampled_from(["answers", "dead", "answer is lost"]), max_size=8),
)
def test_whatever_is_cut_off_nothing_comes_twice_or_is_lost(said, fates):
    speech = Speech(ledger=(book := Book(fates)), work=WORK)
    for content in said:
        speech.hear(Stream.OUT, content)
        speech.pass_on(at_once=True)
    for _ in range(len(fates) + 1):
        speech.end()
    assert book.text() == b"".join(said).decode("utf-8", "replace")


def test_a_long_cry_comes_in_pieces_of_bounded_length():
    speech = Speech(ledger=(book := Book()), work=WORK)
    speech.hear(Stream.OUT, b"x" * (3 * LONGEST_PIECE + 1))
    speech.end()
    assert [len(one.text) for _, one in sorted(book.pieces.items())] == [*[LONGEST_PIECE] * 3, 1]


def test_a_long_text_keeps_its_beginning_and_end():
    text = cut("begin" + "x" * 5000 + "end", longest=1000)
    assert text.startswith("begin") and text.endswith("end") and len(text) <= 1000 and "are left out" in text
    assert cut("short", longest=1000) == "short"
