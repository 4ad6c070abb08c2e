"""The stage's pages as one of the cast: read, posted to, and filled in as a browser would."""

from typing import Any

from django.test import Client

from annotator.accounts.models import User
from tests.factories.reproduction import SHOWS

BASE = "/frameworks/reproduction/"
ROW = {"name": "", "python": "", "requirements": "", "expect": "bug", "image": "", "variables": "", "setup": ""}


def at(*parts: Any) -> str:
    return BASE + "".join(f"{part}/" for part in parts)


def as_(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def read(client: Client, address: str, status: int = 200, **headers: str) -> str:
    page = client.get(address, headers=headers)
    assert page.status_code == status, page.content.decode()
    return page.content.decode()


def form(*rows: dict[str, str], **changes: str) -> dict[str, str]:
    """A form as it is sent: two environments that differ by a variable."""
    usual = (
        {"name": "buggy", "python": "3.11", "variables": "SHOWS=yes"},
        {"name": "fixed", "python": "3.11", "variables": "SHOWS=no", "expect": "no_bug"},
    )
    sent = {
        "name": "NaN in the sum", "kind": "contrast", "script_name": "repro.py", "script_text": SHOWS, "repeats": "2",
        "seed": "1", "stdout_matches": "NaN", "stderr_matches": "", "exit_code": "", "exception": "",
        "metric_name": "", "metric_above": "", "metric_below": "", "compare": "stdout", "metric": "", "tolerance": "",
        "seconds": "30", "memory_mb": "512", "gpus": "0", "gpu_memory_mb": "0", "act": "save",
    }  # fmt: skip
    listed = rows or usual
    sent |= {"e-TOTAL_FORMS": str(len(listed)), "e-INITIAL_FORMS": "2"}
    for place, row in enumerate(listed):
        sent |= {f"e-{place}-{key}": value for key, value in (ROW | row).items()}
    return sent | changes
