"""The log in the database: of two writers one wins."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Iterator
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import IntegrityError, OperationalError, connection, transaction
from django.utils import timezone

from playground.models import LogEntry, Session
from playground.sessions.database import asking, log
from playground.sessions.protocol.errors import Conflict, LimitReached, SessionGone, TooOften
from playground.sessions.protocol.opening import LogRow

pytestmark = pytest.mark.django_db(transaction=True)


def made(*spans: tuple[str, int, int]) -> Session:
    session = log.create("Test", "", "")
    for seq, (kind, at, to) in enumerate(spans, 1):
        log.append(session.pk, LogRow(seq, kind, at, to, log.pack({"n": seq}), size=100))
    session.refresh_from_db()
    return session


def test_the_head_moves_with_the_log() -> None:
    session = made(("command", 0, 1), ("step", 1, 5))
    assert (session.head, session.log_seq) == (5, 2)
    assert session.log_bytes == 200


def test_what_is_written_is_read_again() -> None:
    before = timezone.now()
    session = made(("command", 0, 1), ("play", 1, 5))
    log.advance(session.pk, 2, 5, 9)
    session.refresh_from_db()
    first, second = LogEntry.objects.all()
    assert (second.seq, second.kind, second.at, second.to, second.size) == (2, "play", 1, 9, 100)
    assert log.unpack(second.payload) == {"n": 2}
    assert before <= first.created <= second.created <= session.used <= timezone.now()


def test_an_entry_is_written_with_all_of_its_columns() -> None:
    named = re.search(r"logentry \((.*?)\)", log.INSERT)
    assert named is not None
    columns = [field.column for field in LogEntry._meta.concrete_fields if not field.primary_key]
    assert [name.strip('"') for name in named[1].split(", ")] == columns


def test_an_entry_number_is_given_once() -> None:
    session = made(("command", 0, 1))
    with pytest.raises(Conflict):
        log.append(session.pk, LogRow(1, "command", 1, 2, b""))
    with pytest.raises(IntegrityError), transaction.atomic():
        LogEntry.objects.create(session=session, seq=1, kind="step", at=1, to=2, payload=b"")
    assert LogEntry.objects.count() == 1


def test_several_entries_are_written_at_once_or_none_of_them() -> None:
    session = made(("command", 0, 1))
    log.append(session.pk, *(LogRow(seq, "command", seq - 1, seq, b"", size=10) for seq in (2, 3, 4)))
    session.refresh_from_db()
    assert (session.head, session.log_seq, session.log_bytes) == (4, 4, 130)
    with pytest.raises(Conflict):
        log.append(session.pk, *(LogRow(seq, "command", seq - 1, seq, b"") for seq in (4, 5)))
    assert LogEntry.objects.count() == 4


def test_entries_abut() -> None:
    session = made(("command", 0, 1))
    with pytest.raises(Conflict):
        log.append(session.pk, LogRow(2, "step", 3, 4, b""))


def test_a_run_that_somebody_wrote_after_does_not_grow() -> None:
    session = made(("command", 0, 1), ("run", 1, 10))
    log.advance(session.pk, 2, 10, 20)
    log.append(session.pk, LogRow(3, "command", 20, 21, b""))
    with pytest.raises(Conflict):
        log.advance(session.pk, 2, 20, 30)
    session.refresh_from_db()
    assert session.head == 21


def test_of_many_writers_at_once_one_wins() -> None:
    session = made(("command", 0, 1))
    outcomes: list[str] = []
    start = threading.Barrier(6)

    def write() -> None:
        start.wait()
        try:
            log.append(session.pk, LogRow(2, "step", 1, 2, b""))
            outcomes.append("won")
        except Conflict:
            outcomes.append("lost")
        finally:
            connection.close()

    threads = [threading.Thread(target=write) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["lost"] * 5 + ["won"]


def test_a_copy_ends_in_the_middle_of_a_run() -> None:
    session = made(("command", 0, 1), ("run", 1, 100), ("command", 100, 101))
    copy = log.copy(session.pk, 40, "Copy", "")
    _, rows = log.read(copy.pk)
    assert [(row.kind, row.at, row.to) for row in rows] == [("command", 0, 1), ("run", 1, 40)]
    assert (copy.head, copy.log_seq, copy.origin, copy.origin_position) == (40, 2, session, 40)


def test_a_copy_has_keys_of_its_own() -> None:
    session = made(("command", 0, 1))
    copy = log.copy(session.pk, 1, "", "")
    assert len({session.edit_key, session.view_key, copy.edit_key, copy.view_key}) == 4


def test_only_one_process_drives_a_session() -> None:
    session = made()
    assert log.lease(session.pk, "a", 60)
    assert not log.lease(session.pk, "b", 60)
    assert log.lease(session.pk, "a", 60)
    log.release(session.pk, "a")
    assert log.lease(session.pk, "b", 60)


def test_a_lease_that_was_not_renewed_is_free() -> None:
    session = made()
    log.lease(session.pk, "a", -1)
    assert log.lease(session.pk, "b", 60)


@pytest.mark.parametrize("jump", [timedelta(hours=1), timedelta(hours=-1)], ids=["forward", "back"])
def test_a_clock_that_jumps_keeps_nobody_from_driving(monkeypatch: pytest.MonkeyPatch, jump: timedelta) -> None:
    session = made()
    log.lease(session.pk, "a", 15)
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now + jump)
    assert not log.standings([session.pk])[session.pk].driven
    assert log.lease(session.pk, "b", 15)
    assert not log.renew(session.pk, "a", 15)
    assert log.standings([session.pk])[session.pk].driven


def test_a_clock_that_jumps_leaves_the_log_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """The order of entries is that of their numbers."""
    session = made(("command", 0, 1))
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now - timedelta(days=400))
    log.append(session.pk, LogRow(2, "step", 1, 2, b""))
    monkeypatch.setattr(timezone, "now", lambda: now + timedelta(days=400))
    log.append(session.pk, LogRow(3, "step", 2, 3, b""))
    found, rows = log.read(session.pk)
    assert (found.head, [row.seq for row in rows]) == (3, [1, 2, 3])


def test_a_deleted_session_takes_nothing_and_opens_for_nobody() -> None:
    session = made(("command", 0, 1))
    log.delete(session.pk)
    with pytest.raises(Conflict):
        log.append(session.pk, LogRow(2, "step", 1, 2, b""))
    with pytest.raises(SessionGone):
        log.find(session.edit_key)
    with pytest.raises(SessionGone):
        log.read(session.pk)


def test_one_client_uses_a_limited_number_of_sessions_at_the_same_time(settings: Any) -> None:
    settings.MAX_SESSIONS_PER_CLIENT = 2
    first = log.create("one", "", "192.0.2.1")
    second = log.create("two", "", "192.0.2.1")
    with pytest.raises(LimitReached, match="delete sessions"):
        log.create("three", "", "192.0.2.1")
    with pytest.raises(LimitReached):
        log.copy(second.pk, 0, "", "192.0.2.1")
    log.create("somebody else's", "", "192.0.2.2")
    log.delete(second.pk)
    log.create("three", "", "192.0.2.1")
    ago = timezone.now() - timedelta(seconds=settings.ENGINE_IDLE_SECONDS + 1)
    Session.objects.filter(pk=first.pk).update(used=ago)
    log.create("four", "", "192.0.2.1")  # the first is kept, and nobody uses it


def test_one_client_makes_a_limited_number_of_sessions_in_a_minute(settings: Any) -> None:
    settings.MAX_SESSIONS_PER_MINUTE = 2
    for name in ("one", "two"):
        log.delete(log.create(name, "", "192.0.2.1").pk)
    with pytest.raises(TooOften) as refused:
        log.create("three", "", "192.0.2.1")
    assert (refused.value.status, refused.value.retry_after) == (429, 60)
    log.create("somebody else's", "", "192.0.2.2")
    Session.objects.update(created=timezone.now() - timedelta(seconds=61))
    log.create("three", "", "192.0.2.1")


def test_addresses_of_clients_are_not_kept() -> None:
    session = log.create("one", "", "192.0.2.1")
    assert "192.0.2.1" not in session.creator


@pytest.fixture
def lost_answers(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The first transaction is committed, and its connection breaks before that is heard of."""
    lost: list[str] = []

    @contextlib.contextmanager
    def breaking() -> Iterator[None]:
        with transaction.atomic():
            yield
        if not lost:
            lost.append("commit")
            raise OperationalError("the connection broke")

    monkeypatch.setattr(log, "transaction", SimpleNamespace(atomic=breaking))
    monkeypatch.setattr(asking, "_is_broken", lambda error: True)
    return lost


def test_an_entry_whose_end_was_not_heard_of_is_written_once(lost_answers: list[str]) -> None:
    lost_answers.append("not yet")
    session = made(("command", 0, 1))
    lost_answers.clear()
    row = LogRow(2, "command", 1, 2, log.pack({"n": 2}))
    log.append(session.pk, row)
    assert lost_answers
    assert [entry.seq for entry in LogEntry.objects.all()] == [1, 2]
    with pytest.raises(Conflict):  # the same of somebody else is another entry
        log.append(session.pk, row)
