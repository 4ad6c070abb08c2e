"""How a signed-in person is found again at the next request."""

from allauth.account.auth_backends import AuthenticationBackend

from annotator.accounts.models import User
from annotator.accounts.sessions import person


class Backend(AuthenticationBackend):  # type: ignore[misc]  # allauth has no types
    """allauth's own, but for how a person is read."""

    def get_user(self, user_id: int) -> User | None:
        found = person(user_id)
        return found if found is not None and self.user_can_authenticate(found) else None
