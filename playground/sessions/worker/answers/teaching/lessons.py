"""Lessons that people make and variants that are drawn, inside a worker."""

from __future__ import annotations

from playground.lessons.authoring import Checked, anchor_and_check, check
from playground.lessons.own import document_of, hand
from playground.lessons.reading import lesson_of
from playground.lessons.variants import Unproven, proven
from playground.presenters.words import gettext_noop
from playground.sessions.protocol.lessons import CheckLesson, DrawVariant, Variant
from playground.sessions.worker.memory import ALONE, Budget

TOO_MUCH_DRAWN = gettext_noop("A variant of this lesson takes more memory than there is here for one.")
TOO_MUCH = gettext_noop("The lesson takes more memory than there is here for one. What you wrote is kept.")


def check_lesson(request: CheckLesson) -> Checked:
    """Play what somebody wrote."""
    with Budget(ALONE, TOO_MUCH):
        return (anchor_and_check if request.move else check)(request.files, request.max_objects)


def draw_variant(request: DrawVariant) -> Variant:
    """Draw a variant and prove it."""
    handed = hand(request.lesson) if request.lesson else None
    lesson = lesson_of(request.slug) if handed is None else handed.lesson
    if lesson is None:
        return Variant(why=f"there is no lesson {request.slug}")
    with Budget(ALONE, TOO_MUCH_DRAWN):
        try:
            slug, document = document_of(proven(lesson, request.seed, request.max_objects))
        except Unproven as error:
            return Variant(why=str(error))
    return Variant(slug, document)
