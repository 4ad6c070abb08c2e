"""Who a name in a sheet is."""

import hashlib
import re
import unicodedata

from annotator.intake.cleaning import trim
from annotator.intake.plans import Known, KnownPerson, Plan, PlannedPerson

LONGEST_USERNAME, LONGEST_NAME = 60, 150
RATER = "rater"


def username_of(name: str) -> str:
    """The name as a slug; one without Latin letters gets a name made of it."""
    plain = unicodedata.normalize("NFKD", trim(name)).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9._-]+", "-", plain).strip("-._")[:LONGEST_USERNAME].strip("-._")
    return slug or f"rater-{hashlib.sha256(trim(name).encode()).hexdigest()[:8]}"


class People:
    """Finds the people of a sheet among the members, else plans new ones. Whose account is in use joins by a link alone."""

    def __init__(self, known: Known, plan: Plan) -> None:
        self.known, self.plan = known, plan
        self.by_username = {person.username: person for person in known.people}
        self.by_display = {person.display_name.casefold(): person for person in known.people if person.display_name}
        self.found: dict[str, PlannedPerson] = {}
        self.planned: dict[str, PlannedPerson] = {}

    def of(self, name: str, *, row: int | None = None, column: str = "") -> PlannedPerson:
        found = self.found.get(name)
        if found is None:
            found = self.found[name] = self.find(trim(name), row, column)
        return found

    def find(self, name: str, row: int | None, column: str) -> PlannedPerson:
        username = username_of(name)
        member = self.by_username.get(name) or self.by_username.get(username) or self.by_display.get(name.casefold())
        username = member.username if member else username
        person = self.planned.get(username)
        if person is not None:
            self.warn_joined(person, name, row, column)
            return person
        person = self.member(member, name, row, column) if member else self.newcomer(name, username, row, column)
        self.planned[username] = person
        self.plan.people.append(person)
        return person

    def warn_joined(self, person: PlannedPerson, name: str, row: int | None, column: str) -> None:
        if name.casefold() != person.name.casefold() and name != person.username:
            text = f"“{name}” and “{person.name}” count as the same person, {person.username}."
            self.plan.warn(row, column, "names_joined", text)

    def member(self, member: KnownPerson, name: str, row: int | None, column: str) -> PlannedPerson:
        needs_role = RATER not in member.roles
        if needs_role:
            self.plan.warn(row, column, "new_role", f"{member.username} is in the study and becomes a rater as well.")
        return PlannedPerson(name, member.username, id=member.id, needs_role=needs_role)

    def newcomer(self, name: str, username: str, row: int | None, column: str) -> PlannedPerson:
        account, is_used = self.known.accounts.get(username, (None, False))
        if is_used:
            text = f"{username} has an account here and is no member of this study: invite this person, or write another name."
            self.plan.fail(row, column, "not_a_member", text)
        elif account:
            text = f"{username} was made by a sheet before and becomes a rater of this study too."
            self.plan.warn(row, column, "new_person", text)
        else:
            text = f"{name} isn't there yet: the account {username} is made, without a password, with the role rater."
            self.plan.warn(row, column, "new_person", text)
        return PlannedPerson(name[:LONGEST_NAME], username, id=account)
