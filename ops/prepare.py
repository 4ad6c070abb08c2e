"""Bring a data folder up to date: tables, the demo study once, static files."""

import os

import django
from django.core.management import call_command


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotator.settings")
    django.setup()
    call_command("migrate", interactive=False, verbosity=0, skip_checks=True)
    call_command("collectstatic", interactive=False, verbosity=0, skip_checks=True)
    call_command("demo")


if __name__ == "__main__":
    main()
