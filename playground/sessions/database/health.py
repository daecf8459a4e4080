"""Whether the database answers and takes what is written."""

from __future__ import annotations

import secrets
import time

from django.contrib.sessions.models import Session as BrowserSession
from django.db import transaction
from django.utils import timezone

from playground.models import Session
from playground.sessions.database.asking import LOCKED

# Seconds for which a write that went well is believed.
BELIEVED = 5.0
# A row that nobody reads: written and taken back in one transaction, it needs room all the same.
KEY = "healthz"
ROOM = 16 << 10


class Health:
    """The health of this process's database."""

    def __init__(self) -> None:
        self._written = -BELIEVED

    def check(self) -> None:
        """Raises what the database raises where it does not answer, or takes nothing more."""
        self._require_writable()
        if time.monotonic() - self._written > BELIEVED:
            self._write()
            self._written = time.monotonic()

    @transaction.atomic
    def _require_writable(self) -> None:
        """Take what a writer takes first, which writes nothing: SQLite's lock, or the right to lock a row."""
        list(Session.objects.select_for_update().filter(pk=0))
        LOCKED.end()

    @transaction.atomic
    def _write(self) -> None:
        row = BrowserSession(session_key=KEY, session_data=secrets.token_urlsafe(ROOM), expire_date=timezone.now())
        row.save()
        row.delete()


HEALTH = Health()
