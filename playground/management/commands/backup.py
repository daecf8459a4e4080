"""`python manage.py backup FILE`: writes all sessions to one file."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from playground.management.errors import PlainCommand
from playground.storage.backups.copies import FAILURES, back_up


class Command(PlainCommand):
    """A command that backs up the database; servers may keep running."""

    help = "Write a backup of the database to FILE, also while servers use it."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", type=Path, help="replaced once the new backup is whole")

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        try:
            back_up(file)
        except FAILURES as error:
            raise CommandError(f"No backup was made: {error}") from error
        self.stdout.write(
            f"{file}: {file.stat().st_size:,} bytes. It holds the keys of all sessions: keep it where nobody else reads it."
        )
