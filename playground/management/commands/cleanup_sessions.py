"""`python manage.py cleanup_sessions`: removes outdated sessions."""

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from playground.classroom import rooms
from playground.management.errors import PlainCommand
from playground.models import Session
from playground.sessions.database import lessons, markers

BATCH = 50


class Command(PlainCommand):
    """A command that removes deleted sessions, sessions and lessons unused for the retention days, and imports only previewed for a day.
    Forks of them stay. Outdated classrooms are removed with their answers.
    """

    help = "Remove deleted sessions and those that were not used for SESSION_RETENTION_DAYS days."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--days", type=int, default=settings.SESSION_RETENTION_DAYS, help="days without use (default: %(default)s)"
        )
        parser.add_argument("--dry-run", action="store_true", help="only say what would be removed")

    def handle(self, *args: Any, days: int, dry_run: bool, **options: Any) -> None:
        """Remove in small batches, so that no writer waits for long."""
        now = timezone.now()
        abandoned = Q(log_seq=0, import_previews__isnull=False, used__lt=now - timedelta(days=1))
        old = Q(deleted__isnull=False) | Q(used__lt=now - timedelta(days=days)) | abandoned
        chosen = Session.objects.filter(old).exclude(Q(driver_until__gt=timezone.now())).distinct()
        count = chosen.count()
        old_rooms = rooms.find_outdated_rooms().count()
        if not dry_run:
            rooms.find_outdated_rooms().delete()
            while keys := list(chosen.values_list("pk", flat=True)[:BATCH]):
                Session.objects.filter(pk__in=keys).delete()
            markers.drop_old()
            lessons.drop_unused(now - timedelta(days=days))
        self.stdout.write(f"{count} session{'' if count == 1 else 's'} {'to be ' * dry_run}removed")
        if old_rooms:
            self.stdout.write(f"{old_rooms} classroom{'' if old_rooms == 1 else 's'} {'to be ' * dry_run}removed")
