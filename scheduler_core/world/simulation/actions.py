"""The table of what can happen: every kind of action on the agenda, while what it stands, what it does and where it is shown.

Schedulers' actions are rows of scheduler/steps/table.py, those of controllers classes of their rooms; here they become one table.
"""

from collections.abc import Callable, Hashable, Mapping
from typing import Any, NamedTuple, Protocol

from scheduler_core.base.clock.agenda import Action
from scheduler_core.controllers.catalogue import ACTIONS
from scheduler_core.controllers.contract import World as ClusterWorld
from scheduler_core.controllers.contract import WorldAction
from scheduler_core.scheduler.core.actions import SchedulerAction
from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.scheduler.core.steps import table


class ActingWorld(ClusterWorld, Protocol):
    """A world, as far as actions see it."""

    def scheduler(self, name: str) -> Scheduler: ...


class Row(NamedTuple):
    """One kind of action. `owner` is "scheduler" or "cluster"; the texts are for people to read."""

    kind: type[Action]
    owner: str
    stands: Callable[[ActingWorld, Any], bool]
    run: Callable[[ActingWorld, Any], None]
    station: Callable[[ActingWorld, Any], Hashable]
    stands_while: str
    shown_at: str


def _of_scheduler(row: table.ActionRow[Any]) -> Row:
    stands, run, station = row.stands, row.run, row.station
    return Row(
        row.kind,
        "scheduler",
        lambda world, action: stands(world.scheduler(action.scheduler), action),
        lambda world, action: run(world.scheduler(action.scheduler), action),
        lambda world, action: (action, station(world.scheduler(action.scheduler), action)),
        stands.__doc__ or "",
        station.__doc__ or "",
    )


def _of_surroundings(kind: type[WorldAction]) -> Row:
    return Row(
        kind,
        "cluster",
        lambda world, action: kind.stands(action, world),
        lambda world, action: kind.run(action, world),
        lambda world, action: action,
        kind.stands.__doc__ or "",
        "its own",
    )


ROWS: tuple[Row, ...] = (*(_of_scheduler(row) for row in table.ACTIONS), *(_of_surroundings(kind) for kind in ACTIONS))
BY_KIND: Mapping[type[Action], Row] = {row.kind: row for row in ROWS}


def is_of(action: Action, scheduler: str) -> bool:
    """Return whether an action belongs to a scheduler."""
    return isinstance(action, SchedulerAction) and action.scheduler == scheduler
