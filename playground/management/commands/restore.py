"""`python manage.py restore FILE`: restores the database of a backup."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from playground.management.errors import PlainCommand
from playground.storage.backups.copies import FAILURES, restore


class Command(PlainCommand):
    """A command that restores a backup completely, or leaves the database unchanged. Servers must be stopped first."""

    help = "Restore the database from FILE, which `backup` wrote. Stop the servers first."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", type=Path, help="a backup")
        parser.add_argument("--force", action="store_true", help="also where sessions are lost by it")

    def handle(self, *args: Any, file: Path, force: bool, **options: Any) -> None:
        try:
            older = restore(file, force)
        except FAILURES as error:
            raise CommandError(f"Nothing was restored: {error}") from error
        self.stdout.write(f"{file} is restored.")
        if older:
            self.stdout.write("It is of an older version: run `manage.py migrate` before a server is started.")
