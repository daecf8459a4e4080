"""The table of actions is whole: what is on no row can't be on the agenda."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from scheduler_core.base.clock.agenda import NORMAL, TIMER, URGENT, Action
from scheduler_core.controllers.contract import WorldAction
from scheduler_core.scheduler.core.actions import Flush, SchedulerAction
from scheduler_core.world.simulation.actions import BY_KIND, ROWS, Row, is_of

ABSTRACT = (SchedulerAction, WorldAction, Flush)


def kinds(base: type[Action] = Action) -> Iterator[type[Action]]:
    """Every kind of action of the core."""
    for kind in base.__subclasses__():
        if kind.__module__.startswith("scheduler_core."):
            yield from () if kind in ABSTRACT else (kind,)
            yield from kinds(kind)


def test_every_kind_of_action_has_its_row() -> None:
    assert len(BY_KIND) == len(ROWS)
    assert {kind.__name__ for kind in kinds()} == {row.kind.__name__ for row in ROWS}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.kind.__name__)
def test_every_row_says_what_it_does_while_what_it_stands_and_where_it_is_shown(row: Row) -> None:
    assert row.kind.__doc__
    assert row.stands_while
    assert row.shown_at
    assert row.kind.priority in (URGENT, NORMAL, TIMER)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.kind.__name__)
def test_an_action_goes_with_its_scheduler_alone(row: Row) -> None:
    fields = row.kind.__struct_fields__
    action = row.kind(*("s" if name == "scheduler" else 0 for name in fields))
    assert is_of(action, "s") == (row.owner == "scheduler")
    assert not is_of(action, "another")
