"""The person who is signed in, read at every request, so the SQL is written once a process."""

from allauth.account.auth_backends import AuthenticationBackend

from annotator.accounts.models import User
from annotator.web.prepared import Prepared

PERSON = Prepared(lambda pk: User.objects.filter(pk=pk)[:1], "pk")


class Backend(AuthenticationBackend):  # type: ignore[misc]  # allauth has no types
    """allauth's own, but for how a person is read."""

    def get_user(self, user_id: int) -> User | None:
        found = PERSON.first(pk=user_id)
        return found if found is not None and self.user_can_authenticate(found) else None
