import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("adjudication", "0005_acceptance")]

    operations = [
        migrations.RemoveConstraint(model_name="auditpick", name="audit_pick_once"),
        *(
            migrations.RemoveField(model_name="auditpick", name=name)
            for name in ("round", "seed", "share", "drawn_at", "drawn_by")
        ),
        migrations.AlterField(
            model_name="auditpick",
            name="acceptance",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="picks", to="adjudication.acceptance"
            ),
        ),
        migrations.AddConstraint(
            model_name="auditpick",
            constraint=models.UniqueConstraint(fields=("acceptance", "bug"), name="audit_pick_once"),
        ),
    ]
