import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def from_history(apps, schema_editor):
    """What an acceptance said stood in the history and at each pick."""
    event, round_ = apps.get_model("history", "Event"), apps.get_model("labeling", "Round")
    acceptance, pick = apps.get_model("adjudication", "Acceptance"), apps.get_model("adjudication", "AuditPick")
    for said in event.objects.filter(kind="round", verb="accepted the unanimous bugs"):
        if not round_.objects.filter(pk=said.object_id).exists():
            continue
        new = said.new
        made = acceptance.objects.create(
            round_id=said.object_id, bugs=new["bugs"], share=new["share"], seed=new["seed"], by_id=said.actor_id
        )
        acceptance.objects.filter(pk=made.pk).update(at=said.at)
        pick.objects.filter(round_id=said.object_id).update(acceptance=made)


class Migration(migrations.Migration):
    dependencies = [
        ("adjudication", "0004_recorded_where_together"),
        ("history", "0002_event_screening"),
        ("labeling", "0004_words"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Acceptance",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("bugs", models.PositiveIntegerField()),
                ("share", models.FloatField()),
                ("seed", models.BigIntegerField()),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "round",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT, related_name="acceptance", to="labeling.round"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("share__gte", 0), ("share__lte", 1)), name="acceptance_share"
                    )
                ],
            },
        ),
        migrations.AddField(
            model_name="auditpick",
            name="acceptance",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="picks",
                to="adjudication.acceptance",
            ),
        ),
        migrations.RunPython(from_history, migrations.RunPython.noop),
    ]
