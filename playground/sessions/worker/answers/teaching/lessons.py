"""Lessons that people make, inside a worker."""

from __future__ import annotations

from playground.lessons.authoring import Checked, check, moved_and_checked
from playground.presenters.words import gettext_noop
from playground.sessions.protocol.lessons import CheckLesson
from playground.sessions.worker.memory import ALONE, Budget

TOO_MUCH = gettext_noop("The lesson takes more memory than there is here for one. What you wrote is kept.")


def check_lesson(request: CheckLesson) -> Checked:
    """Play what somebody wrote."""
    with Budget(ALONE, TOO_MUCH):
        return (moved_and_checked if request.move else check)(request.files, request.max_objects)
