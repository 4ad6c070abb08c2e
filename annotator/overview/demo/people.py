"""Who is in the demo. The password is printed on the screen: these accounts are for trying things out."""

from collections.abc import Mapping

from annotator.accounts.actions import create_user
from annotator.accounts.models import User
from annotator.codebook.actions import create_codebook
from annotator.codebook.presets import MAIN, preset
from annotator.studies.actions import give_role, start_study
from annotator.studies.models import Role, Study
from annotator.studies.protocol import Protocol
from annotator.web.errors import Refused

SLUG = "demo"
TITLE = "Bugs in deep-learning frameworks"
QUESTION = (
    "Why do bugs arise in Tessera, Lumen, Axon and Corvid, how do they show, and where? "
    "Two raters label each bug, blind to each other; an adjudicator decides what they cannot agree on. "
    "The frameworks and their bugs are made up."
)
PASSWORD = "concord-demo"  # noqa: S105  # shown to everybody who starts the demo
ROLES: Mapping[str, tuple[str, ...]] = {
    "cedar": (Role.LEAD,),
    "alder": (Role.RATER,),
    "birch": (Role.RATER,),
    "maple": (Role.ADJUDICATOR,),
    "fern": (Role.READER,),
}


PROTOCOL = Protocol(gate_method="value", gate_bound=0.7, hide_names=False)


def welcome() -> dict[str, User]:
    """The accounts. A name that somebody holds already is not taken over."""
    taken = User.objects.filter(username__in=ROLES).first()
    if taken:
        raise Refused(f"There is a user {taken.username} already, so the demo study was not made.")
    return {name: create_user(username=name, password=PASSWORD) for name in ROLES}


def found(cast: Mapping[str, User]) -> Study:
    """The study with its members and codebook."""
    lead = cast["cedar"]
    study = start_study(slug=SLUG, title=TITLE, question=QUESTION, protocol=PROTOCOL, by=lead)
    for name, roles in ROLES.items():
        for role in roles:
            give_role(study=study, user=cast[name], role=role, by=lead)
    create_codebook(study=study, document=preset(MAIN), by=lead)
    return study
