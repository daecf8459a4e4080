"""The playground as a Django app."""

from django.apps import AppConfig


class PlaygroundConfig(AppConfig):
    """The project's one app."""

    name = "playground"
    verbose_name = "Scheduler Playground"
    default_auto_field = "django.db.models.BigAutoField"
