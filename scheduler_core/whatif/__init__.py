"""What would be if: changes to a world, tried on forks of it."""

from __future__ import annotations

from scheduler_core.whatif.changes import SCALABLE, NoSuch, add, drain, remove, scale
from scheduler_core.whatif.outcome import Outcome, Progress, settle, waiting, what_if
from scheduler_core.whatif.room import MOST, Room, copy_of, room_for

__all__ = [
    "MOST",
    "SCALABLE",
    "NoSuch",
    "Outcome",
    "Progress",
    "Room",
    "add",
    "copy_of",
    "drain",
    "remove",
    "room_for",
    "scale",
    "settle",
    "waiting",
    "what_if",
]
