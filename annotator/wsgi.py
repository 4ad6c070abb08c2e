"""The web application, with every view imported before the server forks its workers."""

import os

from django.core.wsgi import get_wsgi_application
from django.urls import reverse

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotator.settings")

application = get_wsgi_application()
reverse("healthz")  # resolving one name imports them all, once, in memory that the workers share
