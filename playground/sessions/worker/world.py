"""The interface to scheduler_core: all names that an engine uses."""

from scheduler_core.formats.export import digest
from scheduler_core.world.commands import Command, Redo, Undo, command_from_json
from scheduler_core.world.readonly import count_standing
from scheduler_core.world.simulation import Grain, Refused, Simulation, Trial, WatchEvent

__all__ = ["Command", "Grain", "Redo", "Refused", "Simulation", "Trial", "Undo", "WatchEvent", "command_from_json"]
__all__ += ["count_objects", "digest"]


def count_objects(world: Simulation, few: int = 0) -> int:
    """Return the number of objects in a world's API server; those of every cluster count only if there are at most `few` in all."""
    found = sum(world.store.count(kind) for kind in world.store.kinds())
    return found if found <= few else found - count_standing(world.store)
