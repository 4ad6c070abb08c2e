"""One-time links and keys for programs: shown once, stored as a digest."""

import hashlib
import secrets


def new_secret() -> str:
    """256 random bits, fit for an address."""
    return secrets.token_urlsafe(32)


def digest_of(secret: str) -> str:
    """Random as it is, a plain hash is enough to store."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
