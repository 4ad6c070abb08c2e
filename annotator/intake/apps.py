from django.apps import AppConfig


class IntakeConfig(AppConfig):
    name = "annotator.intake"
    label = "intake"
    verbose_name = "Intake"
