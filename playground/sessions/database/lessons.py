"""Lessons of users in the database: their files, the result of the last check, and the documents that sessions use."""

import zlib
from datetime import datetime
from typing import Any

import msgspec
from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.crypto import salted_hmac

from playground.lessons import Lesson, lesson_of
from playground.lessons.authoring import CheckResult, LessonFiles
from playground.lessons.own import PREFIX, hand
from playground.models import LessonDocument, OwnLesson, Session
from playground.presenters.words import gettext_noop, message
from playground.sessions.database import log
from playground.sessions.database.asking import repeatable
from playground.sessions.protocol.comparing import TracedLesson
from playground.sessions.protocol.errors import LimitReached, SessionGone

GONE = gettext_noop("No lesson has this link. It may have been deleted, or the link is incomplete.")


@repeatable
def find(key: str) -> OwnLesson:
    """Return the lesson that a key of either kind opens. Raise SessionGone if there is none."""
    found = OwnLesson.objects.filter(Q(edit_key=key) | Q(key=key)).first()
    if found is None:
        raise SessionGone(message(GONE))
    return found


def create(files: LessonFiles, creator: str) -> OwnLesson:
    """Create a lesson and return it. Raise LimitReached if its creator has the maximum of lessons, or if it is too large."""
    _require_size(files)
    hidden = salted_hmac("playground.creator", creator).hexdigest() if creator else ""
    most = settings.MAX_LESSONS_PER_CLIENT
    if hidden and OwnLesson.objects.filter(creator=hidden).count() >= most:
        raise LimitReached(
            message(
                "You already have %(most)s lessons, which is the limit. Delete lessons that you no longer need.",
                most=f"{most:,}",
            )
        )
    return OwnLesson.objects.create(creator=hidden, **_columns(files))


def files_of(lesson: OwnLesson) -> LessonFiles:
    """Return the lesson's files as last written."""
    return LessonFiles(lesson.plan, {"en": lesson.english, "zh-hans": lesson.chinese})


def write(lesson_id: int, files: LessonFiles) -> None:
    """Store the files of a lesson, valid or not; they are not checked yet. Raise LimitReached if they are too large."""
    _require_size(files)
    OwnLesson.objects.filter(pk=lesson_id).update(**_columns(files), checked=None, draft="", used=timezone.now())


@transaction.atomic
def keep(lesson_id: int, files: LessonFiles, checked: CheckResult) -> None:
    """Store the result of checking these files. Learners get the last version that was checked without findings."""
    shown = msgspec.to_builtins(msgspec.structs.replace(checked, document=b"", files=None))
    found: dict[str, object] = {"checked": shown, "draft": checked.slug if checked.document else ""}
    if checked.document:
        data = zlib.compress(checked.document, 6)
        LessonDocument.objects.update_or_create(slug=checked.slug, defaults={"data": data, "used": timezone.now()})
        if not checked.findings:
            found["document"] = checked.slug
    OwnLesson.objects.filter(pk=lesson_id, **_columns(files)).update(**found)


def get_check_result(lesson: OwnLesson) -> CheckResult | None:
    """Return the result of the last check; None if the present text has not been checked."""
    return None if lesson.checked is None else msgspec.convert(lesson.checked, CheckResult, str_keys=True)


@repeatable
def was_used(lesson_id: int) -> None:
    """Note that a lesson was used, which extends its retention from now on."""
    OwnLesson.objects.filter(pk=lesson_id).update(used=timezone.now())


@repeatable
def commands_of(session_id: int, head: int) -> list[tuple[int, dict[str, Any]]]:
    """Return the commands of a session's log below a head, each with its position."""
    rows = [row for row in log.read(session_id)[1] if row.kind == "command" and row.at < head]
    return [(row.at, log.unpack(row.payload)["command"]) for row in rows]


@repeatable
def delete(lesson_id: int) -> None:
    """Delete a lesson for good. Sessions that began with it keep their document."""
    OwnLesson.objects.filter(pk=lesson_id).delete()


@repeatable
def document(slug: str) -> bytes:
    """Return the document of a user's lesson; b"" for any other name."""
    if not slug.startswith(PREFIX):
        return b""
    row = LessonDocument.objects.filter(slug=slug).first()
    return b"" if row is None else zlib.decompress(bytes(row.data))


def keep_document(slug: str, document: bytes) -> None:
    """Store the document of a lesson for the sessions that will use it."""
    defaults = {"data": zlib.compress(document, 6), "used": timezone.now()}
    LessonDocument.objects.update_or_create(slug=slug, defaults=defaults)


def of_story(slug: str) -> Lesson | None:
    """Return the lesson of a session's story, built-in or written by a user; None if there is none."""
    data = document(slug)
    return hand(data).lesson if data else lesson_of(slug)


def in_trace(slug: str) -> TracedLesson:
    """Return a session's lesson as its trace names it."""
    lesson = of_story(slug)
    return TracedLesson() if lesson is None else TracedLesson(slug, lesson.origin, lesson.variant)


def is_here(slug: str) -> bool:
    """Return whether there is a lesson with that name."""
    return of_story(slug) is not None


@transaction.atomic
def drop_unused(before: datetime) -> None:
    """Delete lessons that were not used since `before`, and documents that neither a lesson nor a session needs."""
    OwnLesson.objects.filter(used__lt=before).delete()
    needed = [Session.objects.values("story"), OwnLesson.objects.values("draft"), OwnLesson.objects.values("document")]
    unused = LessonDocument.objects.filter(used__lt=before)
    for slugs in needed:
        unused = unused.exclude(slug__in=slugs)
    unused.delete()


def _columns(files: LessonFiles) -> dict[str, str]:
    words = files.words
    return {"plan": files.plan, "english": words.get("en", ""), "chinese": words.get("zh-hans", "")}


def _require_size(files: LessonFiles) -> None:
    most = settings.MAX_LESSON_BYTES
    if files.size > most:
        raise LimitReached(
            message(
                "The files of the lesson have %(has)s bytes. The limit is %(most)s.",
                has=f"{files.size:,}",
                most=f"{most:,}",
            )
        )
