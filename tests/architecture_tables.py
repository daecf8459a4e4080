"""The tables of docs/architecture.md, made from the code: `python -m tests.architecture_tables` prints them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scheduler_core.base.clock.agenda import NORMAL, TIMER, URGENT
from scheduler_core.scheduler.core.algorithm.schedule_pod import ALGORITHM
from scheduler_core.scheduler.core.cycles.phases import PhaseRow
from scheduler_core.scheduler.core.steps.binding import BINDING
from scheduler_core.scheduler.core.steps.scheduling import SCHEDULING
from scheduler_core.world.simulation.actions import ROWS

PRIORITIES = {URGENT: "urgent", NORMAL: "normal", TIMER: "timer"}


def actions() -> str:
    """Every kind of action on the agenda."""
    rows = [
        (
            row.kind.__name__,
            row.owner,
            PRIORITIES[row.kind.priority],
            (row.kind.__doc__ or "").split("\n")[0],
            row.stands_while,
            row.shown_at,
        )
        for row in ROWS
    ]
    return table(("action", "whose", "priority", "what it does", "stands while", "station"), rows)


def phases() -> str:
    """Every phase of scheduling and binding cycles."""
    rows = [
        (cycle, row.phase.value, row.point.value if row.point else "", _plugins(row), _then(row))
        for cycle, table in (("scheduling", (*ALGORITHM, *SCHEDULING)), ("binding", BINDING))
        for row in table
    ]
    return table(("cycle", "phase", "extension point", "plugins that run", "what follows"), rows)


def _plugins(row: PhaseRow) -> str:
    return (row.skips.__doc__ or "") if row.point else "none"


def _then(row: PhaseRow) -> str:
    return "; ".join(f"{result}: {phase}" for result, phase in row.then.items()) or "the end"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    print(f"{actions()}\n\n{phases()}")
