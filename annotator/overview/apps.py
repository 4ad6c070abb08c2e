from django.apps import AppConfig


class OverviewConfig(AppConfig):
    name = "annotator.overview"
    label = "overview"
    verbose_name = "Overview"
