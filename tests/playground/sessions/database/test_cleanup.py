"""cleanup_sessions: what goes, and what stays."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.utils import timezone

from playground.models import ImportPreview, LogEntry, Session
from playground.sessions.database import log, markers
from playground.sessions.protocol.moving import ImportPlan
from playground.sessions.protocol.opening import LogRow

pytestmark = pytest.mark.django_db
NOTHING = ImportPlan([], [], b"")


def made(name: str, days: float = 0, **more: object) -> Session:
    session = log.create(name, "", "")
    log.append(session.pk, LogRow(1, "step", 0, 3, b""))
    used = timezone.now() - timedelta(days=days)
    Session.objects.filter(pk=session.pk).update(used=used, **more)
    return session


def cleaned(*arguments: str) -> str:
    out = StringIO()
    call_command("cleanup_sessions", *arguments, stdout=out)
    return out.getvalue().strip()


def left() -> set[str]:
    return {session.name for session in Session.objects.all()}


def test_sessions_that_nobody_used_go_with_their_logs() -> None:
    made("old", 91)
    made("new", 89)
    assert cleaned() == "1 session removed"
    assert left() == {"new"}
    assert LogEntry.objects.count() == 1


def test_deleted_sessions_go_at_once() -> None:
    made("deleted", deleted=timezone.now())
    assert cleaned() == "1 session removed"
    assert left() == set()


def test_imports_that_were_looked_at_and_left_go_after_a_day() -> None:
    for name, days in (("left", 2.0), ("looked at now", 0.5)):
        session = log.create(name, "", "")
        markers.keep(session.pk, "", "", NOTHING)
        Session.objects.filter(pk=session.pk).update(used=timezone.now() - timedelta(days=days))
    made("with something in it", 2)
    cleaned()
    assert left() == {"looked at now", "with something in it"}


def test_previews_that_were_left_go_after_a_day_and_their_session_stays() -> None:
    session = made("with something in it")
    for days in (2, 0.5):
        token = markers.keep(session.pk, "", "", NOTHING)
        created = timezone.now() - timedelta(days=days)
        ImportPreview.objects.filter(token=token).update(created=created)
    cleaned()
    assert [preview.token for preview in ImportPreview.objects.all()] == [token]
    assert left() == {"with something in it"}


def test_the_age_can_be_given() -> None:
    made("a", 8)
    made("b", 6)
    cleaned("--days", "7")
    assert left() == {"b"}


def test_a_dry_run_removes_nothing() -> None:
    made("old", 91)
    made("older", 92)
    assert cleaned("--dry-run") == "2 sessions to be removed"
    assert len(left()) == 2


def test_a_session_that_runs_stays() -> None:
    made("running", 91, driver="x", driver_until=timezone.now() + timedelta(seconds=10))
    cleaned()
    assert left() == {"running"}


def test_a_fork_outlives_its_origin() -> None:
    origin = made("origin")
    fork = log.copy(origin.pk, 2, "fork", "")
    log.delete(origin.pk)
    cleaned()
    fork.refresh_from_db()
    assert (left(), fork.origin_id, fork.log.count()) == ({"fork"}, None, 1)


def test_many_sessions_go_in_batches() -> None:
    for number in range(120):
        made(str(number), 100)
    assert cleaned() == "120 sessions removed"
    assert left() == set()
