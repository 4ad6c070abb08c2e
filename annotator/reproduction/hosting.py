"""A host: asks for work, does it, asks again. No database and no broker, only the platform's four routes."""

import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace

from annotator.reproduction import recipes
from annotator.reproduction.ledger import Unreachable, Work
from annotator.reproduction.remote import Remote
from annotator.reproduction.running import carry_out
from annotator.reproduction.workshop import KEPT_MB, SWEEP_EVERY, Workshop
from annotator.web.errors import BadInput

logger = logging.getLogger(__name__)
LONGEST_PAUSE = 60.0
TIDY_EVERY = 200  # runs


@dataclass(kw_only=True)
class Serving:
    """Until `stop` is set; raises NotAllowed where the key opens nothing."""

    remote: Remote
    workshop: Workshop
    stop: threading.Event
    pause: float = 2.0  # seconds between two questions where there was nothing to do
    jobs: int = 1  # at once; a GPU has one in any case
    done: int = field(default=0)
    swept: float = field(default_factory=time.monotonic)
    held: dict[str, int] = field(default_factory=dict)  # MB that each run in hand may use
    guard: threading.Lock = field(default_factory=threading.Lock)

    def go_on(self, *, once: bool = False) -> None:
        """So many jobs side by side; `once`: until there is nothing to do."""
        self.workshop.sweep()
        with ThreadPoolExecutor(self.jobs) as pool:
            for line in as_completed([pool.submit(self._line, once) for _ in range(self.jobs)]):
                try:
                    line.result()
                except BaseException:
                    self.stop.set()  # the others end with it
                    raise

    def _line(self, once: bool) -> None:
        pause = self.pause
        while not self.stop.is_set():
            try:
                worked = self.once()
                pause = self.pause
            except Unreachable as problem:
                if once:
                    raise
                logger.warning("%s; asking again in %.0f s", problem, pause)
                worked, pause = False, min(2 * pause, LONGEST_PAUSE)
            if once and not worked:
                return
            if not worked:
                self.sweep()
                self.stop.wait(pause * self.jobs)

    def sweep(self) -> None:
        """Now and then: what killed hosts of this machine left running."""
        if time.monotonic() - self.swept >= SWEEP_EVERY:
            self.swept = time.monotonic()
            self.workshop.sweep()

    def once(self) -> bool:
        """Claim a run and carry it out; False where there was none."""
        work = self._claimed()
        if work is None:
            return False
        name = f"{work.recipe.get('name')}, {work.environment}"
        logger.info("%s: begun", name)
        try:
            counted = carry_out(work, self.remote, self.workshop, stop=self.stop)
        finally:
            with self.guard:
                del self.held[work.run]
                self.done += 1
        logger.info("%s: %s", name, "done" if counted else "no longer wanted")
        if self.done % TIDY_EVERY == 0:
            self.workshop.environments.prune(keep_mb=KEPT_MB)
        return True

    def _claimed(self) -> Work | None:
        """One at a time, so that together they stay within the memory of the machine."""
        with self.guard:
            work = self.remote.claim(replace(self.workshop.can(), memory_held_mb=sum(self.held.values())))
            if work is not None:
                self.held[work.run] = memory_of(work)
            return work


def memory_of(work: Work) -> int:
    """That it may use, in MB; none where the recipe cannot be read, which ends it at once."""
    try:
        return recipes.from_document(work.recipe).limits.memory_mb
    except BadInput:
        return 0
