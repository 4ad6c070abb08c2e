"""What was settled of the demo's first main round, and what is left for whoever tries it."""

from collections.abc import Mapping, Sequence

from annotator.accounts.models import User
from annotator.codebook.choices import Choices
from annotator.labeling.models import Round
from annotator.overview.demo.content import DemoBug, PullRequest
from annotator.sampling.models import Bug


def settle(
    rows: Sequence[tuple[Bug, PullRequest, DemoBug]], *, round_: Round, cast: Mapping[str, User], choices: Choices
) -> None:
    return
