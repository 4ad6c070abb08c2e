"""How much is asked for at once: a page that GitHub can't answer in its ten seconds is halved, and that is remembered."""

from dataclasses import dataclass, field

LARGEST = 50
GOOD_PAGES = 8  # as many in a row, and the next may be twice as large again


@dataclass
class PageSize:
    """Kept by the caller across clients where it should be remembered for longer."""

    size: int = LARGEST
    ceiling: int = LARGEST
    _good: int = field(default=0, repr=False)
    _is_trial: bool = field(default=False, repr=False)

    def failed(self) -> None:
        if self._is_trial:  # it was right to be smaller: don't try again
            self.ceiling = max(1, self.size // 2)
        self.size = max(1, self.size // 2)
        self._good, self._is_trial = 0, False

    def worked(self) -> None:
        self._good += 1
        self._is_trial = False
        if self._good >= GOOD_PAGES and self.size < self.ceiling:
            self.size = min(self.ceiling, self.size * 2)
            self._good, self._is_trial = 0, True
