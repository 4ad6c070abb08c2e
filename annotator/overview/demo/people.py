"""Who is in the demo. The password is printed on the screen: these accounts are for trying things out."""

from collections.abc import Mapping

from annotator.accounts.models import User
from annotator.codebook.actions import create_codebook
from annotator.codebook.presets import MAIN, preset
from annotator.history.actions import record
from annotator.studies.models import Membership, Role, Study
from annotator.web.errors import Refused

SLUG = "demo"
TITLE = "Bugs in deep-learning frameworks"
QUESTION = (
    "Why do bugs arise in Tessera, Lumen, Axon and Corvid, how do they show, and where? "
    "Two raters label each bug, blind to each other; maple decides what they cannot agree on. "
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


def welcome() -> dict[str, User]:
    """The accounts. A name that somebody holds already is not taken over."""
    taken = User.objects.filter(username__in=ROLES).first()
    if taken:
        raise Refused(f"There is a user {taken.username} already, so the demo study was not made.")
    return {name: User.objects.create_user(name, password=PASSWORD) for name in ROLES}


def found(cast: Mapping[str, User]) -> Study:
    """The study with its members and codebook."""
    lead = cast["cedar"]
    study = Study.objects.create(slug=SLUG, title=TITLE, question=QUESTION, created_by=lead)
    record("made a study", by=lead, kind="study", object_id=study.pk, label=study.title, study_id=study.pk)
    for name, roles in ROLES.items():
        for role in roles:
            Membership.objects.create(study=study, user=cast[name], role=role)
    create_codebook(study=study, document=preset(MAIN), by=lead)
    return study
