"""What the core refuses, as an error for people; and how large a world may become."""

from __future__ import annotations

from collections.abc import Iterable

from playground.sessions.protocol.errors import CommandRefused, FieldProblem
from playground.sessions.worker.world import FieldError, Simulation
from scheduler_core.view import is_standing

MOST_ERRORS = 200


def problem(error: FieldError) -> FieldProblem:
    """A field's error as it travels."""
    return FieldProblem(**error.to_json())


def refusal(errors: Iterable[FieldError]) -> CommandRefused:
    """Field errors as they are reported; the message is the first one."""
    listed = list(errors)
    first = listed[0]
    message = f"{first.object}: {first}" if first.object else str(first)
    if first.file:
        message = f"{first.file}: {message}"
    if len(listed) > 1:
        message += f" (and {len(listed) - 1} more)"
    return CommandRefused(message, [problem(error) for error in listed[:MOST_ERRORS]])


def count_objects(world: Simulation) -> int:
    """How many objects a world's API server holds, besides those of every cluster."""
    standing = sum(
        is_standing(manifest)
        for kind in ("Namespace", "PriorityClass")
        for manifest in world.store.list(kind)
    )
    return sum(world.store.count(kind) for kind in world.store.kinds()) - standing
