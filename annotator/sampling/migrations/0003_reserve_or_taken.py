from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("sampling", "0002_samples")]

    operations = [
        migrations.RemoveConstraint(model_name="drawn", name="drawn_state_at"),
        migrations.RenameField(model_name="drawn", old_name="state_at", new_name="taken_at"),
        migrations.AlterField(
            model_name="drawn",
            name="state",
            field=models.CharField(
                choices=[("reserve", "Reserve"), ("taken", "Taken up")], default="reserve", max_length=7
            ),
        ),
        migrations.AddConstraint(
            model_name="drawn",
            constraint=models.CheckConstraint(
                condition=models.Q(("state", "reserve"), ("taken_at", None))
                | models.Q(("state", "taken"), ("taken_at__isnull", False)),
                name="drawn_taken_at",
            ),
        ),
    ]
