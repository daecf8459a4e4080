"""Rooms and their students in the database: opened, found, joined, ended, removed."""

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
    """A new room around a session. Raises LimitReached where the client has as many open ones as one may have."""
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
    """The rooms that have not ended, by their teacher or by the time that a room has."""
    since = timezone.now() - timedelta(hours=settings.ROOM_HOURS)
    return Room.objects.filter(~Q(lessons=[]) | Q(created__gt=since), ended=None, session__deleted=None)


def is_over(room: Room) -> bool:
    """Return whether a room has ended: by its teacher, by its time limit, or with its session. An assignment has no such limit."""
    late = not room.lessons and timezone.now() - room.created >= timedelta(hours=settings.ROOM_HOURS)
    return room.ended is not None or late or room.session.deleted is not None


def of_teacher(key: str) -> Room:
    """The room whose desk a key opens. Raises SessionGone."""
    return _require_room(Room.objects.filter(key=key.replace("\0", " ")))


def of_code(code: str) -> Room:
    """The room that a join code lets in, however it was typed. Raises SessionGone."""
    return _require_room(Room.objects.filter(code=plain(code)))


def plain(text: str) -> str:
    """The join code of a text, or of a link in it, as it is kept: capitals and digits alone. "" where there is none."""
    text = in_one_form("NFKC", text[:_LONGEST])
    link = _LINK.search(text)
    return _APART.sub("", (link[1] if link else text).upper())[:12]


def _require_room(rooms: QuerySet[Room]) -> Room:
    room = rooms.select_related("session", "shown__fork").first()
    if room is None:
        raise unknown()
    return room


def unknown() -> SessionGone:
    """The refusal of a link or code that no room has."""
    return SessionGone(message("No classroom has this link or code. It may have been removed, or the code has a typo."))


@transaction.atomic
def join(room: Room, name: str, creator: str = "") -> Student:
    """A new student. Raises LimitReached where the room is over, closed or full, or the client has too many join at once."""
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
    """The students whom the teacher has not removed."""
    return room.students.filter(removed=None)


def student_of(room: Room, key: str) -> Student | None:
    """The student whose browser holds a key."""
    return present(room).filter(key=key.replace("\0", " ")).select_related("fork").first() if key else None


@transaction.atomic
def remove(room_id: int, student_id: int | None) -> None:
    """Take a student out of the room, or all, with their answers; forks are sessions of their own and stay."""
    there = Student.objects.filter(room_id=room_id, removed=None)
    out = list((there if student_id is None else there.filter(pk=student_id)).values_list("pk", flat=True))
    Room.objects.filter(pk=room_id, shown__in=out).update(shown=None)
    Answer.objects.filter(student__in=out).delete()
    Work.objects.filter(student__in=out).delete()
    Student.objects.filter(pk__in=out).update(removed=timezone.now(), hand=None)


def admit(room_id: int, is_open: bool) -> None:
    """Let students join, or nobody any more."""
    Room.objects.filter(pk=room_id).update(locked=not is_open)


def end(room_id: int) -> None:
    """Nobody asks, answers or joins from now on."""
    Room.objects.filter(pk=room_id, ended=None).update(ended=timezone.now(), shown=None)
    Poll.objects.filter(room_id=room_id, state=Poll.State.OPEN).update(state=Poll.State.CLOSED)


def delete(room_id: int) -> None:
    """Remove a room with everything that was said in it; the students' forks are sessions of their own and stay."""
    Room.objects.filter(pk=room_id).delete()


def find_outdated_rooms() -> QuerySet[Room]:
    """The rooms whose days are over, and those of deleted sessions."""
    before = timezone.now() - timedelta(days=settings.ROOM_RETENTION_DAYS)
    return Room.objects.filter(Q(created__lt=before) | Q(session__deleted__isnull=False))


def raise_hand(student: Student, up: bool) -> None:
    """Raise a hand, which keeps its place in the row, or take it down."""
    if up != (student.hand is not None):
        student.hand = timezone.now() if up else None
        student.save(update_fields=["hand"])


def lower(room_id: int, student_id: int | None) -> None:
    """The teacher has seen a hand, or all."""
    raised = Student.objects.filter(room_id=room_id, hand__isnull=False)
    (raised if student_id is None else raised.filter(pk=student_id)).update(hand=None)


def keep_fork(student: Student, fork: Session) -> None:
    """A student has a session of their own now."""
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
