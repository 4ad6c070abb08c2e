"""People and the keys of their programs."""

import re
from typing import Any

from django.contrib.auth.models import AbstractUser
from django.core.validators import RegexValidator
from django.db import models

USERNAME = re.compile(r"^[a-z0-9][a-z0-9._-]*\Z")


class User(AbstractUser):
    """A person. The user name is a slug; the display name is free."""

    first_name = None  # type: ignore[assignment]  # one free display name serves everybody
    last_name = None  # type: ignore[assignment]
    username = models.CharField(
        max_length=60,
        unique=True,
        validators=[
            RegexValidator(USERNAME, "Small letters, digits, dots and dashes, beginning with a letter or digit.")
        ],
    )
    display_name = models.CharField(max_length=150, blank=True)

    REQUIRED_FIELDS = []

    def __str__(self) -> str:
        return self.display_name or self.username

    def get_full_name(self) -> str:
        return self.display_name or self.username

    def get_short_name(self) -> str:
        return self.username


class Token(models.Model):
    """A key of a user for programs: hashed, scoped, expiring."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=100)
    digest = models.CharField(max_length=64, unique=True)
    hint = models.CharField(max_length=8)  # its first characters, to tell keys apart
    scopes: "models.JSONField[Any, Any]" = models.JSONField(default=list)  # of read, write, runner
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.name} ({self.hint}…)"


class PasswordLink(models.Model):
    """A one-time link by which a person sets a new password."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    digest = models.CharField(max_length=64, unique=True)
    created_by = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)
    replaces = models.CharField(max_length=64)  # digest of the password's hash that the link is there to replace

    def __str__(self) -> str:
        return f"password link of {self.user.username}"
