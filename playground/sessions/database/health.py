"""Whether the database answers and takes what is written."""

from __future__ import annotations

import time

from django.contrib.sessions.models import Session as BrowserSession
from django.db import transaction
from django.utils import timezone

from playground.models import Session

# Seconds for which a write that went well is believed.
BELIEVED = 5.0
# A row that nobody reads: written and taken back in one transaction, it needs room all the same.
KEY = "healthz"
ROOM = 16 << 10


class Health:
    """Of this process' database."""

    def __init__(self) -> None:
        self._written = -BELIEVED

    def check(self) -> None:
        """Raises what the database raises where it does not answer, or takes nothing more."""
        Session.objects.exists()
        if time.monotonic() - self._written > BELIEVED:
            self._write()
            self._written = time.monotonic()

    @transaction.atomic
    def _write(self) -> None:
        row = BrowserSession(session_key=KEY, session_data="x" * ROOM, expire_date=timezone.now())
        row.save()
        row.delete()


HEALTH = Health()
