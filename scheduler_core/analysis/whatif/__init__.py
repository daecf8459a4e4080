"""What would be if: changes to a world, tried on forks of it."""

from __future__ import annotations

from scheduler_core.analysis.whatif.changes import SCALABLE, NoSuch, add, drain, remove, scale
from scheduler_core.analysis.whatif.circles import Circles, Watchdog
from scheduler_core.analysis.whatif.loops import (
    FAILED,
    End,
    Loop,
    Loops,
    Subject,
    end_of,
    ends_of,
    owners_of,
    subject_of,
)
from scheduler_core.analysis.whatif.node_types import BadTypes, NodeType, make_nodes, read_types, types_of_nodes
from scheduler_core.analysis.whatif.outcome import Outcome, waiting, what_if
from scheduler_core.analysis.whatif.rest import Progress, Rest, Steps, come_to_rest, finish, settle
from scheduler_core.analysis.whatif.room import MOST, Room, copy_of, pods_of, room_for

__all__ = [
    "FAILED",
    "MOST",
    "SCALABLE",
    "BadTypes",
    "Circles",
    "End",
    "Loop",
    "Loops",
    "NoSuch",
    "NodeType",
    "Outcome",
    "Progress",
    "Rest",
    "Room",
    "Steps",
    "Subject",
    "Watchdog",
    "add",
    "come_to_rest",
    "copy_of",
    "drain",
    "end_of",
    "ends_of",
    "finish",
    "make_nodes",
    "owners_of",
    "pods_of",
    "read_types",
    "remove",
    "room_for",
    "scale",
    "settle",
    "subject_of",
    "types_of_nodes",
    "waiting",
    "what_if",
]
