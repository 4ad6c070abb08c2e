"""What GitHub says, frozen: plain values, all text kept. An empty author is a deleted account."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal


@dataclass(frozen=True)
class RepositoryCopy:
    """`id` stays through renames and transfers; `name` (owner/name) is today's."""

    id: int
    name: str
    url: str = ""
    is_fork: bool = False
    is_archived: bool = False


@dataclass(frozen=True)
class LabelCopy:
    name: str
    color: str = ""
    description: str = ""


@dataclass(frozen=True)
class CommitCopy:
    """`author` is the account, else the name that git holds."""

    sha: str
    message: str
    author: str
    at: datetime | None


@dataclass(frozen=True)
class CommentCopy:
    """A turn of the discussion; `state` is a review's verdict, path and line an inline comment's place."""

    kind: Literal["comment", "review", "inline"]
    id: int
    author: str
    at: datetime | None
    body: str
    state: str = ""
    path: str = ""
    line: int | None = None
    url: str = ""


@dataclass(frozen=True)
class LinkCopy:
    """An issue that a pull request closes, or a pull request that closes an issue: as GitHub links them."""

    repository: str
    repository_id: int | None
    number: int
    title: str = ""
    state: str = ""
    url: str = ""


@dataclass(frozen=True)
class Missing:
    """Of `what`, `total` exist and `held` are in the copy; `after` is where GitHub would go on."""

    what: str
    held: int
    total: int
    after: str = ""


@dataclass(frozen=True)
class ThreadCopy:
    """What pull requests and issues share. `missing` says what the copy lacks, `notes` what was changed in it."""

    id: int  # GitHub's full database id
    node_id: str
    repository: str
    repository_id: int | None
    number: int
    url: str
    title: str
    body: str
    state: str  # open, closed, merged
    author: str
    opened_at: datetime | None
    updated_at: datetime | None
    closed_at: datetime | None
    labels: tuple[LabelCopy, ...]
    comments: tuple[CommentCopy, ...]
    links: tuple[LinkCopy, ...]
    missing: tuple[Missing, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class PullRequestCopy(ThreadCopy):
    merged_at: datetime | None
    merged_by: str
    base: str
    base_sha: str
    head: str
    head_sha: str
    head_repository: str  # empty: the fork was deleted
    merge_sha: str
    additions: int
    deletions: int
    changed_files: int
    commits: tuple[CommitCopy, ...]

    @property
    def kind(self) -> Literal["pull_request"]:
        return "pull_request"


@dataclass(frozen=True)
class IssueCopy(ThreadCopy):
    state_reason: str

    @property
    def kind(self) -> Literal["issue"]:
        return "issue"


Copy = PullRequestCopy | IssueCopy


@dataclass(frozen=True)
class FileCopy:
    """A changed file. No patch: `note` says why (binary, too_large, or nothing in it changed)."""

    path: str
    old_path: str
    status: str
    additions: int
    deletions: int
    patch: str | None
    note: Literal["", "binary", "too_large", "no_change", "undecodable"] = ""


@dataclass(frozen=True)
class FilesCopy:
    """The changed files of a pull request. `is_unchanged`: as before, by its ETag, and nothing was sent."""

    files: tuple[FileCopy, ...]
    etag: str = ""
    is_unchanged: bool = False
    missing: tuple[Missing, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Glance:
    """Enough of a hit to see whether a copy is still up to date."""

    id: int
    number: int
    updated_at: datetime | None


@dataclass(frozen=True)
class Hole:
    """A hit that came empty, and what GitHub said about it."""

    position: int
    why: str
