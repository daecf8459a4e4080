"""The door to scheduler_core: the names that an engine uses, in one place."""

from scheduler_core.formats.export import continuation_of, digest, heading
from scheduler_core.world.commands import ApplyObjects, Command, Continuation, Redo, Undo, command_from_json
from scheduler_core.world.readonly import FieldError, InvalidObject, count_standing
from scheduler_core.world.simulation import (
    Grain,
    Intake,
    Item,
    Plan,
    Refused,
    Simulation,
    Trial,
    WatchEvent,
    build_plan,
    get_creation_time,
    in_creation_order,
    list_silent_nodes,
    plan_import,
    source_of,
    take_in,
    taking_in,
)

__all__ = ["ApplyObjects", "Command", "Continuation", "FieldError", "Grain", "Intake", "InvalidObject", "Item", "Plan"]
__all__ += ["Redo", "Refused", "Simulation", "Trial", "Undo", "WatchEvent", "build_plan", "command_from_json"]
__all__ += ["continuation_of", "count_objects", "digest", "get_creation_time", "heading", "in_creation_order"]
__all__ += ["list_silent_nodes", "plan_import", "source_of", "take_in", "taking_in"]


def count_objects(world: Simulation, few: int = 0) -> int:
    """Return the number of objects in a world's API server, besides those of every cluster; these are counted too where all are `few`."""
    found = sum(world.store.count(kind) for kind in world.store.kinds())
    return found if found <= few else found - count_standing(world.store)
