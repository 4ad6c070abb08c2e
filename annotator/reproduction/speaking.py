"""What a script says while it runs, passed on in pieces."""

import codecs
import threading
import time
from dataclasses import dataclass, field

from annotator.clients.sandboxes.job import Stream
from annotator.reproduction.ledger import LONGEST_PIECE, MOST_PIECES, Ledger, Piece, Unreachable, Work

EVERY = 0.7  # seconds between two deliveries
MOST_HELD = 1_000_000  # characters that wait for a ledger that does not answer; what is more is in the result alone


def decoder() -> codecs.IncrementalDecoder:
    return codecs.getincrementaldecoder("utf-8")("replace")


@dataclass(kw_only=True)
class Speech:
    """Collects output from whichever thread hears it; passes it on from the one that runs the job."""

    ledger: Ledger
    work: Work
    decoders: dict[Stream, codecs.IncrementalDecoder] = field(
        default_factory=lambda: {stream: decoder() for stream in Stream}
    )
    waiting: list[Piece] = field(default_factory=list)
    sent: list[Piece] = field(default_factory=list)  # and not known to be stored
    held: int = 0
    sequence: int = 0
    passed_on: float = field(default_factory=time.monotonic)
    guard: threading.Lock = field(default_factory=threading.Lock)

    def hear(self, stream: Stream, content: bytes) -> None:
        with self.guard:
            self._keep(stream, self.decoders[stream].decode(content))

    def _keep(self, stream: Stream, text: str) -> None:
        text = text.replace("\x00", "�")
        for start in range(0, len(text), LONGEST_PIECE):
            part = text[start : start + LONGEST_PIECE]
            if self.held + len(part) > MOST_HELD:
                return
            self.waiting.append(Piece(sequence=self.sequence, text=part, is_error=stream == Stream.ERR))
            self.sequence += 1
            self.held += len(part)

    def pass_on(self, *, at_once: bool = False) -> None:
        """Deliver what waits, if it is time."""
        if not self.waiting or not (at_once or time.monotonic() - self.passed_on >= EVERY):
            return
        with self.guard:
            self.sent = self.sent or joined(self.waiting)[:MOST_PIECES]
            sent = self.sent
        self.passed_on = time.monotonic()
        try:
            self.ledger.log(self.work, sent)
        except Unreachable:
            return  # perhaps it was stored: the same pieces follow again, under the same numbers
        with self.guard:
            self.sent = []
            self.waiting = [piece for piece in self.waiting if piece.sequence > sent[-1].sequence]
            self.held = sum(len(piece.text) for piece in self.waiting)

    def end(self) -> None:
        """What is left, as far as the ledger takes it: the whole output comes with the result as well."""
        with self.guard:
            for stream, each in self.decoders.items():
                self._keep(stream, each.decode(b"", final=True))
        for _ in range(1 + len(self.waiting) // MOST_PIECES):
            self.pass_on(at_once=True)


def joined(pieces: list[Piece]) -> list[Piece]:
    """Neighbours of one stream as one piece, named by the last one's sequence: fewer rows, the same text."""
    found: list[Piece] = []
    for piece in pieces:
        last = found[-1] if found else None
        if last and last.is_error == piece.is_error and len(last.text) + len(piece.text) <= LONGEST_PIECE:
            found[-1] = Piece(sequence=piece.sequence, text=last.text + piece.text, is_error=piece.is_error)
        else:
            found.append(piece)
    return found
