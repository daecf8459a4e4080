"""The tables of phases are whole: each phase has its row, and each row leads on."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from scheduler_core.scheduler.core.algorithm.schedule_pod import ALGORITHM
from scheduler_core.scheduler.core.cycles.phases import Phase, PhaseRow
from scheduler_core.scheduler.core.steps.binding import BINDING
from scheduler_core.scheduler.core.steps.scheduling import SCHEDULING

CYCLES: dict[str, tuple[PhaseRow, ...]] = {"scheduling": (*ALGORITHM, *SCHEDULING), "binding": BINDING}
each_cycle = pytest.mark.parametrize("rows", CYCLES.values(), ids=CYCLES.keys())


def test_every_phase_is_on_a_row() -> None:
    assert {row.phase for rows in CYCLES.values() for row in rows} == set(Phase)


@each_cycle
def test_a_phase_has_one_row(rows: Sequence[PhaseRow]) -> None:
    assert len({row.phase for row in rows}) == len(rows)


@each_cycle
def test_every_phase_is_reached_from_the_first_one(rows: Sequence[PhaseRow]) -> None:
    by_phase = {row.phase: row for row in rows}
    reached = {rows[0].phase}
    while more := {phase for known in reached for phase in by_phase[known].then.values()} - reached:
        reached |= more
    assert reached == set(by_phase)


@each_cycle
def test_only_the_end_leads_nowhere(rows: Sequence[PhaseRow]) -> None:
    assert {row.phase for row in rows if not row.then} <= {Phase.DONE, Phase.FAILED}
