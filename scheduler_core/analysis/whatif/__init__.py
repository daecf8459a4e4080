"""What-if: changes to a world, tried on forks of it."""

from scheduler_core.analysis.whatif.loops import (
    FAILED,
    Circles,
    End,
    Loop,
    Loops,
    Subject,
    Watchdog,
    end_of,
    owners_of,
    subject_of,
)
from scheduler_core.analysis.whatif.node_types import (
    BadTypes,
    NodeType,
    list_unpriced,
    make_nodes,
    read_types,
    types_of_nodes,
)
from scheduler_core.analysis.whatif.outcome import (
    Change,
    Outcome,
    UnknownObject,
    add,
    apply_all,
    drain,
    remove,
    requests_of,
    scale,
    type_in,
    waiting,
    what_if,
)
from scheduler_core.analysis.whatif.rest import Progress, RestResult, Steps, come_to_rest, settle
from scheduler_core.analysis.whatif.room import MOST, Room, copy_of, pods_of, room_for
from scheduler_core.base.steps import finish

__all__ = [
    "FAILED",
    "MOST",
    "BadTypes",
    "Change",
    "Circles",
    "End",
    "Loop",
    "Loops",
    "Outcome",
    "Progress",
    "UnknownObject",
]
__all__ += ["RestResult", "Room", "Subject", "Watchdog", "add", "apply_all", "copy_of", "drain", "end_of", "owners_of"]
__all__ += ["pods_of", "remove", "requests_of", "room_for", "scale", "settle", "subject_of", "type_in", "waiting"]
__all__ += ["NodeType", "Steps", "come_to_rest", "finish", "list_unpriced", "make_nodes", "read_types", "what_if"]
__all__ += ["types_of_nodes"]
