"""What would be if: changes to a world, tried on forks of it."""

from __future__ import annotations

from scheduler_core.whatif.room import MOST, Room, copy_of, room_for

__all__ = ["MOST", "Room", "copy_of", "room_for"]
