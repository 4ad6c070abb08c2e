"""The demo study, made once."""

from typing import Any

from annotator.overview.demo import people, story
from annotator.web.command import Command as Base


class Command(Base):
    help = "make the demo study and its accounts, unless it is there"

    def answer(self, **options: Any) -> dict[str, Any]:
        created = story.load()
        accounts = [{"user": name, "roles": list(roles)} for name, roles in people.ROLES.items()]
        return {"study": people.SLUG, "created": created, "accounts": accounts, "password": people.PASSWORD}

    def show(self, result: Any) -> None:
        width = max(len(account["user"]) for account in result["accounts"])
        self.stdout.write(f"Demo study /{result['study']}/, password of all its accounts: {result['password']}")
        for account in result["accounts"]:
            self.stdout.write(f"  {account['user']:{width}}  {', '.join(account['roles'])}")
