from django.apps import AppConfig


class HistoryConfig(AppConfig):
    name = "annotator.history"
    label = "history"
    verbose_name = "History"
