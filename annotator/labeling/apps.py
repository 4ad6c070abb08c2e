from django.apps import AppConfig


class LabelingConfig(AppConfig):
    name = "annotator.labeling"
    label = "labeling"
    verbose_name = "Labeling"
