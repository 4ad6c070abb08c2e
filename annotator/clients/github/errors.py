"""What can go wrong with GitHub, in five words. No message ever holds a token."""

from datetime import datetime


class GitHubError(Exception):
    """Any of the five."""


class NotAllowed(GitHubError):
    """No token is left that GitHub takes: wrong, expired or revoked. `keys` names those it refused."""

    def __init__(self, message: str, *, keys: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.keys = keys


class Gone(GitHubError):
    """One thing cannot be had, and why: 404 not found, 410 deleted, 451 blocked for legal reasons, 403 closed to us."""

    def __init__(self, reason: int, what: str) -> None:
        super().__init__(f"{what}: GitHub answers {reason}")
        self.reason = reason
        self.what = what


class Limited(GitHubError):
    """GitHub, or the budget, says to wait: ask again at `until`, not earlier."""

    def __init__(self, until: datetime, resource: str) -> None:
        super().__init__(f"no {resource} request before {until.isoformat(timespec='seconds')}")
        self.until = until
        self.resource = resource


class Unreachable(GitHubError):
    """No usable answer after a few tries (reset, cut off, 5xx): worth another try at `retry_at`."""

    def __init__(self, retry_at: datetime, why: str, *, is_overload: bool = False) -> None:
        super().__init__(f"GitHub did not answer: {why}")
        self.retry_at = retry_at
        self.why = why
        self.is_overload = is_overload  # too much was asked for at once, perhaps


class Broken(GitHubError):
    """An answer that makes no sense or refuses the question; asking the same again will not help."""
