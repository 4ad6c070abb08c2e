"""manage.py create_study"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from annotator.codebook import presets
from annotator.codebook.document import Document
from annotator.codebook.models import Codebook
from annotator.codebook.plain import MAX_BYTES
from annotator.codebook.reading import read
from annotator.overview.actions import create_study
from annotator.studies.models import Membership, Role
from annotator.web.command import Command as Base
from annotator.web.errors import BadInput


class Command(Base):
    help = "Start a study with a codebook and members."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="short name in addresses: small letters, digits, dashes")
        parser.add_argument("--title", required=True)
        parser.add_argument("--codebook", required=True, metavar="PRESET|FILE.yaml", help="see the command codebooks")
        parser.add_argument("--member", action="append", default=[], metavar="NAME:ROLE", help="may be given again")

    def answer(self, **options: Any) -> dict[str, Any]:
        study = create_study(
            slug=options["slug"],
            title=options["title"],
            document=codebook_named(options["codebook"]),
            members=[member(text) for text in options["member"]],
            by=None,
        )
        codebook = Codebook.objects.get(study=study)
        roles = Membership.objects.filter(study=study).order_by("pk").values_list("user__username", "role")
        return {
            "slug": study.slug,
            "title": study.title,
            "codebook": {"title": codebook.title, "version": codebook.number, "digest": codebook.digest},
            "members": [{"name": name, "role": role} for name, role in roles],
        }

    def show(self, result: Any) -> None:
        self.stdout.write(f"Started {result['slug']}: {result['title']} (codebook: {result['codebook']['title']})")
        for entry in result["members"]:
            self.stdout.write(f"  {entry['name']}: {entry['role']}")


def codebook_named(text: str) -> Document:
    """A shipped codebook by its slug, else one from a file."""
    if text in presets.slugs():
        return presets.preset(text)
    try:
        with Path(text).open("rb") as file:
            return read(file.read(MAX_BYTES + 1))
    except (OSError, ValueError):
        known = ", ".join(presets.slugs())
        raise BadInput(f"“{text[:200]}” is neither a file that can be read nor one of the presets {known}.") from None


def member(text: str) -> tuple[str, str]:
    name, colon, role = text.rpartition(":")
    if not colon or not name.strip() or role not in Role.values:
        raise BadInput(f"“{text[:80]}” is no member: write NAME:ROLE, with a role among {', '.join(Role.values)}.")
    return name.strip(), role
