"""Tokens at rest: sealed with a key that the server's secret gives, each for one study and one host.

What a former secret sealed still opens while it stands in SECRET_KEY_FALLBACKS.
"""

import base64
import json

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

PURPOSE = b"concord: tokens of GitHub"


class Unreadable(Exception):
    """Sealed by a secret that is no longer there, or for another study or host."""


def seal(secret: str, *, study_id: int, host: str) -> str:
    return _box().encrypt(json.dumps([study_id, host, secret]).encode()).decode()


def unseal(sealed: str, *, study_id: int, host: str) -> str:
    """Raises Unreadable. A row that was altered to lead to another host does not open."""
    try:
        found = json.loads(_box().decrypt(sealed.encode()))
    except InvalidToken:
        raise Unreadable from None
    if found[:2] != [study_id, host]:
        raise Unreadable
    return str(found[2])


def _box() -> MultiFernet:
    """The first key seals; all open."""
    return MultiFernet([Fernet(_key(secret)) for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)])


def _key(secret: str) -> bytes:
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=PURPOSE).derive(secret.encode())
    return base64.urlsafe_b64encode(derived)
