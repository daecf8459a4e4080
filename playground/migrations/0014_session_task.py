"""Sessions know that their lesson's task began in them."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [('playground', '0013_assignments')]
    operations = [migrations.AddField('session', 'task', models.BooleanField(default=False))]
