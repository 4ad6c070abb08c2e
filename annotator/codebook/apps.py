from django.apps import AppConfig


class CodebookConfig(AppConfig):
    name = "annotator.codebook"
    label = "codebook"
    verbose_name = "Codebook"
