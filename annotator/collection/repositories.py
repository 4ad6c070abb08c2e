"""A study's repositories, found by their numeric id or by whatever they were ever called."""

from collections.abc import Iterator

from annotator.collection.models import Repository
from annotator.studies.models import Study

GITHUB = "github.com"


class Repositories:
    """Those of a study. A name that one has today leads to it, not to one that had it before."""

    def __init__(self, study: Study) -> None:
        rows = list(Repository.objects.filter(study=study).order_by("pk"))
        self.by_github_id: dict[int | None, Repository] = {
            row.github_id: row for row in rows if row.github_id is not None
        }
        self.by_name: dict[str, Repository] = {}
        for names in (today, formerly):
            for row in rows:
                for name in names(row):
                    self.by_name.setdefault(name, row)

    def find(self, name: str, github_id: int | None = None) -> Repository | None:
        """By host/owner/name in lower case."""
        return self.by_github_id.get(github_id) or self.by_name.get(name)


def today(repository: Repository, host: str = GITHUB) -> Iterator[str]:
    """host/owner/name in lower case, where its place is known; `host` where the row names none."""
    name = f"{repository.owner}/{repository.name}" if repository.owner else repository.label
    if name.count("/") == 1:
        yield f"{repository.host or host}/{name}".lower()


def formerly(repository: Repository, host: str = GITHUB) -> Iterator[str]:
    yield from (f"{repository.host or host}/{name}" for name in repository.names)


def is_called(repository: Repository, host: str, names: set[str]) -> bool:
    """Has it, or had it, one of these names (owner/name in lower case) on this host?"""
    wanted = {f"{host}/{name}" for name in names}
    return bool(wanted & {*today(repository, host), *formerly(repository, host)})
