from django.apps import AppConfig


class PublicationConfig(AppConfig):
    name = "annotator.publication"
    label = "publication"
    verbose_name = "Publication"
