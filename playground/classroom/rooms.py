"""Rooms and their students in the database: open, find, join, end, and remove."""

import re
from collections.abc import Sequence
from datetime import timedelta
from unicodedata import normalize as in_one_form

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.crypto import salted_hmac

from playground.models import Answer, Poll, Room, Session, Student, Work
from playground.presenters.words import gettext_noop, message
from playground.sessions.protocol.errors import LimitReached, SessionGone, TooOften

NAME_LENGTH = 40
COOKIE = "student-"  # and the room's code
_LONGEST = 2000  # characters of a text that are looked at
_LINK = re.compile(r"/join/([^/?#\s]+)", re.IGNORECASE)
_APART = re.compile(r"[^0-9A-Z]+")
CLOSED = gettext_noop("The teacher has closed this classroom to new students.")


def open_room(session: Session, creator: str, lessons: Sequence[str] = (), varied: bool = False) -> Room:
    """Create a room around a session. Raise LimitReached if the client has its maximum of open rooms."""
    hidden = salted_hmac("playground.room", creator).hexdigest() if creator else ""
    if hidden and going_on().filter(creator=hidden).count() >= settings.MAX_ROOMS_PER_CLIENT:
        raise LimitReached(
            message(
                "You already have %(most)s open classrooms. End one of them first.",
                most=f"{settings.MAX_ROOMS_PER_CLIENT:,}",
            )
        )
    return Room.objects.create(session=session, creator=hidden, lessons=list(lessons), varied=varied)


def going_on() -> QuerySet[Room]:
    """Return the rooms that neither their teacher nor their time limit has ended."""
    since = timezone.now() - timedelta(hours=settings.ROOM_HOURS)
    return Room.objects.filter(~Q(lessons=[]) | Q(created__gt=since), ended=None, session__deleted=None)


def is_over(room: Room) -> bool:
    """Return whether a room has ended: by its teacher, its time limit, or its session. An assignment has no time limit."""
    late = not room.lessons and timezone.now() - room.created >= timedelta(hours=settings.ROOM_HOURS)
    return room.ended is not None or late or room.session.deleted is not None


def of_teacher(key: str) -> Room:
    """Return the room whose desk a key opens. Raise SessionGone."""
    return _require_room(Room.objects.filter(key=key.replace("\0", " ")))


def of_code(code: str) -> Room:
    """Return the room of a join code in any spelling. Raise SessionGone."""
    return _require_room(Room.objects.filter(code=plain(code)))


def plain(text: str) -> str:
    """Return the join code in a text or link in its stored form (capitals and digits), or ""."""
    text = in_one_form("NFKC", text[:_LONGEST])
    link = _LINK.search(text)
    return _APART.sub("", (link[1] if link else text).upper())[:12]


def _require_room(rooms: QuerySet[Room]) -> Room:
    room = rooms.select_related("session", "shown__fork").first()
    if room is None:
        raise unknown()
    return room


def unknown() -> SessionGone:
    """Return the error for a link or code without a room."""
    return SessionGone(message("No classroom has this link or code. It may have been removed, or the code has a typo."))


@transaction.atomic
def join(room: Room, name: str, creator: str = "") -> Student:
    """Create a student. Raise LimitReached if the room has ended, is closed, or is full, or if too many of the client join at once."""
    if is_over(room):
        raise LimitReached(message("This classroom has ended."))
    if room.locked:
        raise LimitReached(message(CLOSED))
    hidden = salted_hmac("playground.room", creator).hexdigest() if creator else ""
    most, since = settings.MAX_JOINS_PER_MINUTE, timezone.now() - timedelta(minutes=1)
    if hidden and Student.objects.filter(creator=hidden, joined__gt=since).count() >= most:
        raise TooOften(
            message(
                "%(most)s students have joined from your address within a minute, which is the limit. Try again in a "
                "minute.",
                most=f"{most:,}",
            )
        )
    if present(room).count() >= settings.MAX_STUDENTS:
        raise LimitReached(
            message("This classroom is full, with %(most)s students.", most=f"{settings.MAX_STUDENTS:,}")
        )
    given = " ".join(name.replace("\0", " ").split())[:NAME_LENGTH]
    return Student.objects.create(room=room, name=given, creator=hidden)


def present(room: Room) -> QuerySet[Student]:
    """Return the students whom the teacher has not removed."""
    return room.students.filter(removed=None)


def student_of(room: Room, key: str) -> Student | None:
    """Return the student whose browser holds a key, or None."""
    return present(room).filter(key=key.replace("\0", " ")).select_related("fork").first() if key else None


@transaction.atomic
def remove(room_id: int, student_id: int | None) -> None:
    """Remove a student, or all, with their answers. Forks are independent sessions and stay."""
    there = Student.objects.filter(room_id=room_id, removed=None)
    out = list((there if student_id is None else there.filter(pk=student_id)).values_list("pk", flat=True))
    Room.objects.filter(pk=room_id, shown__in=out).update(shown=None)
    Answer.objects.filter(student__in=out).delete()
    Work.objects.filter(student__in=out).delete()
    Student.objects.filter(pk__in=out).update(removed=timezone.now(), hand=None)


def admit(room_id: int, is_open: bool) -> None:
    """Allow or stop joining."""
    Room.objects.filter(pk=room_id).update(locked=not is_open)


def end(room_id: int) -> None:
    """End a room: no more questions, answers, or joining."""
    Room.objects.filter(pk=room_id, ended=None).update(ended=timezone.now(), shown=None)
    Poll.objects.filter(room_id=room_id, state=Poll.State.OPEN).update(state=Poll.State.CLOSED)


def delete(room_id: int) -> None:
    """Delete a room with all its data. Students' forks are independent sessions and stay."""
    Room.objects.filter(pk=room_id).delete()


def find_outdated_rooms() -> QuerySet[Room]:
    """Return the rooms beyond their retention time, and those of deleted sessions."""
    before = timezone.now() - timedelta(days=settings.ROOM_RETENTION_DAYS)
    return Room.objects.filter(Q(created__lt=before) | Q(session__deleted__isnull=False))


def raise_hand(student: Student, up: bool) -> None:
    """Raise a hand, which keeps its place in the order, or lower it."""
    if up != (student.hand is not None):
        student.hand = timezone.now() if up else None
        student.save(update_fields=["hand"])


def lower(room_id: int, student_id: int | None) -> None:
    """Lower a student's hand, or all hands."""
    raised = Student.objects.filter(room_id=room_id, hand__isnull=False)
    (raised if student_id is None else raised.filter(pk=student_id)).update(hand=None)


def keep_fork(student: Student, fork: Session) -> None:
    """Set the student's own session."""
    student.fork = fork
    student.save(update_fields=["fork"])


def show(room_id: int, student_id: int | None) -> None:
    """Put a student's fork on everybody's screen, or the teacher's session again."""
    forks = Student.objects.filter(room_id=room_id, fork__deleted=None, fork__isnull=False)
    shown = None if student_id is None else forks.filter(pk=student_id).first()
    Room.objects.filter(pk=room_id).update(shown=shown)


def stand(room_id: int, standing: dict[str, object]) -> None:
    """Store the teacher's current view."""
    Room.objects.filter(pk=room_id).update(standing=standing)
