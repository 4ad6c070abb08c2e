"""What every model and every key between stages keeps to."""

import pytest
from django.apps import apps
from django.db import models

OURS = [model for model in apps.get_models() if model.__module__.startswith("annotator.")]


def name(model: type[models.Model]) -> str:
    return model._meta.label


@pytest.mark.parametrize("model", OURS, ids=name)
def test_a_models_docstring_says_what_a_row_is(model):
    generated = f"{model.__name__}({', '.join(field.name for field in model._meta.fields)})"
    assert model.__doc__ not in (None, "", generated)


def keys_between_stages() -> list[models.ForeignKey]:
    return [
        field
        for model in OURS
        for field in model._meta.get_fields()
        if isinstance(field, models.ForeignKey) and field.related_model._meta.app_label != model._meta.app_label
    ]


@pytest.mark.parametrize("key", keys_between_stages(), ids=str)
def test_a_key_between_stages_protects_what_it_points_at(key):
    assert key.remote_field.on_delete is models.PROTECT


def test_there_are_keys_between_stages():
    assert len(keys_between_stages()) > 10
