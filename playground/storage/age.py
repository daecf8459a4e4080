"""The refusal of databases that are too old to be migrated."""

from collections.abc import Sequence
from typing import Any

from django.core.checks import Error, Tags, register
from django.db import connections
from django.db.migrations.recorder import MigrationRecorder

TOO_OLD = Error(
    "This database was made before version 0.6, and this version cannot migrate it.",
    hint="Run “manage.py migrate” of Scheduler Playground 0.6.0 on it first.",
    id="playground.E001",
)


@register(Tags.database)
def check_age(databases: Sequence[str] | None = None, **_options: Any) -> list[Error]:
    """Return an error for each database that has only some of the migrations that 0001_version_0_6 replaces."""
    # Django would stop with a KeyError at the first migration that changes a table that is not there.
    applied = [MigrationRecorder(connections[alias]).applied_migrations() for alias in databases or ()]
    first, last = ("playground", "0001_initial"), ("playground", "0010_classroom")
    return [TOO_OLD for each in applied if first in each and last not in each]
