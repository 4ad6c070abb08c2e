from django.apps import AppConfig


class SamplingConfig(AppConfig):
    name = "annotator.sampling"
    label = "sampling"
    verbose_name = "Sampling"
