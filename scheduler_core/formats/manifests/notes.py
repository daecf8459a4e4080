"""What is said of things that were read: texts for people, with values put into them by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scheduler_core.apimachinery.objects.errors import FieldError, InvalidObject
from scheduler_core.scheduler.framework.explanation import gettext_noop

__all__ = ["NotObjects", "Note", "gettext_noop"]


@dataclass(frozen=True, slots=True)
class Note:
    """A text marked by gettext_noop, and its values."""

    text: str
    values: Mapping[str, object] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.text % self.values if self.values else self.text


class NotObjects(InvalidObject):
    """An input without objects; `note` says what it is, and what to bring instead."""

    def __init__(self, note: Note, line: int | None = None) -> None:
        self.note = note
        super().__init__([FieldError("", str(note), "", line=line)])
