"""The project's settings, with one more address: the floor of every signed-in page."""

from annotator.settings import *  # noqa: F403

ROOT_URLCONF = "bench.urls"
