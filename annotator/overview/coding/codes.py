"""What comes of the codes that raters proposed, once their round has closed."""

from dataclasses import dataclass

from django.db import transaction

from annotator.accounts.models import User
from annotator.adjudication.doubting import doubt_labels
from annotator.codebook.models import Category
from annotator.labeling import proposals
from annotator.labeling.models import Proposal, Round
from annotator.studies.models import Study
from annotator.web.errors import BadInput

ACCEPT, MERGE, REFUSE = "accept", "merge", "refuse"
ACTS = (ACCEPT, MERGE, REFUSE)


@dataclass(frozen=True)
class Verdict:
    """What a lead says to one proposal; `name` and `into` (uids) where the act needs them."""

    act: str
    name: str = ""
    into: str = ""
    parent: str = ""
    reason: str = ""


@transaction.atomic
def settle_code(*, proposal: Proposal, verdict: Verdict, by: User) -> str:
    """Do it; what was done, in a sentence."""
    old = proposal.category.name
    if verdict.act == ACCEPT:
        made = proposals.accept(proposal=proposal, by=by, name=verdict.name, parent=verdict.parent)
        return f"“{made.name}” is in the codebook."
    if verdict.act == MERGE:
        into = _target(proposal, verdict.into, by=by)
        proposals.merge(proposal=proposal, into=into, by=by, reason=verdict.reason)
        return f"“{old}” counts as “{into.name}”."
    if verdict.act == REFUSE:
        proposals.refuse(proposal=proposal, reason=verdict.reason, by=by)
        back = doubt_labels(category=proposal.category, by=by, why=verdict.reason)
        queued = f" {back} bug{'' if back == 1 else 's'} went back to the queue." if back else ""
        return f"“{old}” is not taken up.{queued}"
    raise BadInput("Accept the code, merge it into another, or refuse it.")


def _target(proposal: Proposal, uid: str, *, by: User) -> Category:
    """Another proposal that it is merged into is accepted by that."""
    into = Category.objects.filter(facet=proposal.category.facet_id, uid=uid).first()
    if into is None:
        raise BadInput("Choose the category that says the same.")
    twin = Proposal.objects.filter(category=into, state=Proposal.State.NEW).first()
    if twin is not None and twin.pk != proposal.pk:
        into = proposals.accept(proposal=twin, by=by)
    return into


def proposal_in(study: Study, round_: Round, uid: str) -> Proposal | None:
    return proposals.of_study(study, round_=round_).filter(category__uid=uid).first()
