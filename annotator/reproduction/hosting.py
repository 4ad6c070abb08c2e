"""A host: asks for work, does it, asks again. No database and no broker, only the platform's four routes."""

import logging
import threading
from dataclasses import dataclass, field

from annotator.reproduction.ledger import Unreachable
from annotator.reproduction.remote import Remote
from annotator.reproduction.running import carry_out
from annotator.reproduction.workshop import KEPT_MB, Workshop

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
    done: int = field(default=0)

    def go_on(self) -> None:
        pause = self.pause
        while not self.stop.is_set():
            try:
                worked = self.once()
                pause = self.pause
            except Unreachable as problem:
                logger.warning("%s; asking again in %.0f s", problem, pause)
                worked, pause = False, min(2 * pause, LONGEST_PAUSE)
            if not worked:
                self.stop.wait(pause)

    def once(self) -> bool:
        """Claim a run and carry it out; False where there was none."""
        work = self.remote.claim(self.workshop.can())
        if work is None:
            return False
        logger.info("%s, %s: begun", work.recipe.get("name"), work.environment)
        counted = carry_out(work, self.remote, self.workshop, stop=self.stop)
        logger.info("%s, %s: %s", work.recipe.get("name"), work.environment, "done" if counted else "no longer wanted")
        self.done += 1
        if self.done % TIDY_EVERY == 0:
            self.workshop.environments.prune(keep_mb=KEPT_MB)
        return True
