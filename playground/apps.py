"""The playground as a Django app."""

from importlib import import_module

from django.apps import AppConfig
from django.conf import settings

from playground.common.catalogs import compile_catalogs


class PlaygroundConfig(AppConfig):
    """The project's one app."""

    name = "playground"
    verbose_name = "Scheduler Playground"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Compile changed message catalogs, so that a clone needs no build step. Packages installed by pip contain no .po files."""
        import_module("playground.storage.age")  # registers a check
        for folder in settings.LOCALE_PATHS:
            compile_catalogs(folder)
