from django.apps import AppConfig
from django.db.models.signals import post_migrate


class OverviewConfig(AppConfig):
    name = "annotator.overview"
    label = "overview"
    verbose_name = "Overview"

    def ready(self) -> None:
        from annotator.overview import guards

        post_migrate.connect(guards.after_migrate, sender=self)
