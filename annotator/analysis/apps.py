from django.apps import AppConfig


class AnalysisConfig(AppConfig):
    name = "annotator.analysis"
    label = "analysis"
    verbose_name = "Analysis"
