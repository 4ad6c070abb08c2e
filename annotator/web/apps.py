from django.apps import AppConfig


class WebConfig(AppConfig):
    name = "annotator.web"
    label = "web"
    verbose_name = "Page plumbing"
