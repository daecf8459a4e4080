"""Lessons that people make, checked in a process of their own."""

from __future__ import annotations

from playground.lessons.authoring import Checked, LessonFiles
from playground.sessions.protocol.base import Request


class CheckLesson(Request[Checked], frozen=True, kw_only=True):
    """Play what somebody wrote; its world may have so many objects. `move`: cards that wait for a position are moved to moments.

    The process has no session.
    """

    files: LessonFiles
    max_objects: int
    move: bool = False
