"""Lessons that people make and variants that are drawn, each played in a process of its own."""

from __future__ import annotations

from msgspec import Struct

from playground.lessons.authoring import Checked, LessonFiles
from playground.sessions.protocol.base import Request


class CheckLesson(Request[Checked], frozen=True, kw_only=True):
    """Play what somebody wrote; its world may have so many objects. `move`: cards that wait for a position are moved to moments.

    The process has no session.
    """

    files: LessonFiles
    max_objects: int
    move: bool = False


class Variant(Struct, frozen=True):
    """A variant as it is handed on (playground/lessons/own.py); empty, with the reason, where none that was drawn can be shown."""

    slug: str = ""
    document: bytes = b""
    why: str = ""


class DrawVariant(Request[Variant], frozen=True, kw_only=True):
    """Draw a variant of the lesson of that name and prove it; `lesson` is the lesson where it is one that was handed on itself.

    The process has no session.
    """

    slug: str
    seed: str
    max_objects: int
    lesson: bytes = b""
