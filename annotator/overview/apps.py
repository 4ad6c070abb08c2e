from typing import Any

from django.apps import AppConfig, apps
from django.db.models.signals import post_migrate, pre_migrate


class OverviewConfig(AppConfig):
    name = "annotator.overview"
    label = "overview"
    verbose_name = "Overview"

    def ready(self) -> None:
        from annotator.overview import guards
        from annotator.publication.documents import contribute

        contribute("flow.json", flow_document)

        # Django tells only apps with models, in order: intake is the last of them.
        pre_migrate.connect(guards.before_migrate, sender=apps.get_app_config("intake"))
        post_migrate.connect(guards.after_migrate, sender=apps.get_app_config("intake"))


def flow_document(study: Any) -> Any:
    """Read by a release, which lies below this stage and so cannot ask for it."""
    from annotator.overview.flow.counting import flow_of

    return flow_of(study, with_release=False).document()
