from django.apps import AppConfig


class ReproductionConfig(AppConfig):
    name = "annotator.reproduction"
    label = "reproduction"
    verbose_name = "Reproduction"
