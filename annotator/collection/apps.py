from django.apps import AppConfig


class CollectionConfig(AppConfig):
    name = "annotator.collection"
    label = "collection"
    verbose_name = "Collection"
