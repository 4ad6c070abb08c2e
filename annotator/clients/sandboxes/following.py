"""Follows a process to its end: hands on what it writes, and has it ended for time, output, memory or at a word."""

import os
import selectors
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from annotator.clients.sandboxes.job import Heard, How, Limits, Stopped, Stream

PIECE = 65_536
TICK = 0.05
LINGER = 10.0  # seconds that a killed process may take to be gone


@dataclass(frozen=True, kw_only=True)
class Seen:
    how: How
    exit_code: int  # of the process that was followed
    seconds: float
    stdout: bytes
    stderr: bytes


@dataclass(kw_only=True)
class Ear:
    """Hears both streams up to the limit of each."""

    heard: Heard
    limit: int
    kept: dict[Stream, bytearray] = field(default_factory=lambda: {stream: bytearray() for stream in Stream})

    def hear(self, stream: Stream, piece: bytes) -> bool:
        """False once there is more than the limit allows."""
        room = self.limit - len(self.kept[stream])
        if room and piece:
            self.kept[stream] += piece[:room]
            self.heard(stream, piece[:room])
        return len(piece) <= room


def follow(
    process: "subprocess.Popen[bytes]",
    *,
    limits: Limits,
    heard: Heard,
    stopped: Stopped,
    kill: Callable[[], None],
    is_full: Callable[[], bool] = lambda: False,
) -> Seen:
    """To the end of the process. `is_full` is asked twenty times a second whether it used too much memory."""
    started = time.monotonic()
    ear = Ear(heard=heard, limit=limits.output_kb * 1024)
    try:
        how = _watched(process, ear=ear, limits=limits, stopped=stopped, kill=kill, is_full=is_full)
        if how is How.EXITED:
            how = _drained(process, ear) or (How.OUT_OF_MEMORY if is_full() else how)
    finally:
        for pipe in (process.stdout, process.stderr):
            if pipe:
                pipe.close()
    return Seen(
        how=how,
        exit_code=process.returncode,
        seconds=time.monotonic() - started,
        stdout=bytes(ear.kept[Stream.OUT]),
        stderr=bytes(ear.kept[Stream.ERR]),
    )


def _watched(
    process: "subprocess.Popen[bytes]",
    *,
    ear: Ear,
    limits: Limits,
    stopped: Stopped,
    kill: Callable[[], None],
    is_full: Callable[[], bool],
) -> How:
    """What ended it. It is over afterwards, also where somebody's ear failed."""
    end = os.pidfd_open(process.pid)
    bounds = Bounds(deadline=time.monotonic() + limits.seconds, stopped=stopped, is_full=is_full)
    try:
        with selectors.DefaultSelector() as waiting:
            how = _until_over(process, waiting, end, ear=ear, bounds=bounds)
        if how is not How.EXITED:
            kill()
    except BaseException:
        kill()
        process.kill()
        raise
    finally:
        _wait(process, kill)
        os.close(end)
    return how


@dataclass(kw_only=True)
class Bounds:
    """Asks now and then whether it has to end."""

    deadline: float
    stopped: Stopped
    is_full: Callable[[], bool]
    looked: float = 0.0
    asked: float = 0.0

    def patience(self) -> float:
        return max(0.0, min(TICK, self.deadline - time.monotonic()))

    def broken(self) -> How | None:
        now = time.monotonic()
        if now >= self.deadline:
            return How.TIMED_OUT
        if now - self.looked >= TICK:
            self.looked = now
            if self.is_full():
                return How.OUT_OF_MEMORY
        if now - self.asked >= 4 * TICK:
            self.asked = now
            if self.stopped():
                return How.CANCELLED
        return None


def _until_over(
    process: "subprocess.Popen[bytes]", waiting: selectors.BaseSelector, end: int, *, ear: Ear, bounds: Bounds
) -> How:
    waiting.register(end, selectors.EVENT_READ)
    for pipe, stream in ((process.stdout, Stream.OUT), (process.stderr, Stream.ERR)):
        if pipe:
            os.set_blocking(pipe.fileno(), False)
            waiting.register(pipe, selectors.EVENT_READ, stream)
    while True:
        ready = waiting.select(bounds.patience())
        for key, _ in ready:
            if key.data and not _hear(waiting, key, ear):
                return How.TOO_MUCH_OUTPUT
        if any(key.fileobj == end for key, _ in ready):
            return How.EXITED
        if how := bounds.broken():
            return how


def _hear(waiting: selectors.BaseSelector, key: selectors.SelectorKey, ear: Ear) -> bool:
    piece = _read(key.fd)
    if piece == b"":
        waiting.unregister(key.fileobj)
    return ear.hear(key.data, piece or b"")


def _read(descriptor: int) -> bytes | None:
    """A piece; nothing at its end; none where there is none yet."""
    try:
        return os.read(descriptor, PIECE)
    except BlockingIOError:
        return None


def _drained(process: "subprocess.Popen[bytes]", ear: Ear) -> How | None:
    """What lay in the pipes when the process was already over."""
    for pipe, stream in ((process.stdout, Stream.OUT), (process.stderr, Stream.ERR)):
        while pipe and (piece := _read(pipe.fileno())):
            if not ear.hear(stream, piece):
                return How.TOO_MUCH_OUTPUT
    return None


def _wait(process: "subprocess.Popen[bytes]", kill: Callable[[], None]) -> None:
    try:
        process.wait(LINGER)
    except subprocess.TimeoutExpired:
        kill()
        process.kill()
        process.wait()
