"""Running one plugin at one point: its step, signed and kept, and the records of it."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework.cycle_state import CycleState
from scheduler_core.scheduler.framework.plugin import (
    PermitResult,
    Plugin,
    Point,
    PreFilterResult,
    Rows,
    Scores,
    Verdicts,
)
from scheduler_core.scheduler.framework.runtime import points
from scheduler_core.scheduler.framework.runtime.framework import Trial
from scheduler_core.scheduler.framework.runtime.points import MAX_PERMIT_WAIT
from scheduler_core.scheduler.framework.status import SKIP, SUCCESS, Code, Status, error, unschedulable
from scheduler_core.testing.builders import make_node, make_pod, make_table
from tests.support.drive import NoObjects, all_rows

NODES = make_table([make_node("a"), make_node("b")])
FULL = unschedulable("full")


class Picky(Plugin):
    """Answers as its arguments say."""

    name = "Picky"

    def __init__(self, args: Mapping[str, Any]) -> None:
        super().__init__(args, NoObjects())
        self.answers = args

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> PreFilterResult:
        return PreFilterResult(self.answers["pre_filter"])

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows) -> Verdicts | None:
        return Verdicts.refuse(np.isin(rows, self.answers["filter"]), FULL)

    def pre_score(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows) -> Status:
        return SKIP

    def score(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows) -> Scores | Status:
        return error("no state")

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        state.write("unreserved", node_name)

    def permit(self, state: CycleState, pod: Pod, node_name: str) -> PermitResult:
        return PermitResult(Status(Code.WAIT), 2 * MAX_PERMIT_WAIT)

    def post_bind(self, state: CycleState, pod: Pod, node_name: str) -> None:
        state.write(f"{Point.POST_BIND}{self.name}", "done")


def trial() -> Trial:
    return Trial(make_pod("p").pod(), NODES, node="a", t=7, position=3)


def test_a_step_is_signed_dated_and_kept() -> None:
    cycle = trial()
    step = points.run_pre_filter(Picky({"pre_filter": FULL}), cycle)
    assert (step.status, step.t, step.position) == (FULL.by("Picky"), 7, 3)
    assert cycle.steps == [step]


def test_a_plugin_that_says_skip_is_left_out_of_the_point_that_follows() -> None:
    cycle = trial()
    assert points.run_pre_filter(Picky({"pre_filter": SKIP}), cycle).skipped
    assert points.run_pre_score(Picky({}), cycle, all_rows(NODES)).skipped
    assert (cycle.state.skip_filter, cycle.state.skip_score) == (("Picky",), ("Picky",))


def test_filter_succeeds_while_a_row_passes() -> None:
    for refused, status in (([], SUCCESS), ([1], SUCCESS), ([0, 1], unschedulable())):
        cycle = trial()
        step, mask = points.run_filter(Picky({"filter": refused}), cycle, cycle.state, NODES, all_rows(NODES))
        assert (step.status, step.evaluated, step.refused) == (status.by("Picky"), 2, len(refused))
        assert ([] if mask is None else np.flatnonzero(mask).tolist()) == refused


def test_a_plugin_that_cannot_score_gives_a_status_and_no_scores() -> None:
    step = points.run_score(Picky({}), trial(), all_rows(NODES))
    assert (step.status, step.scores) == (error("no state").by("Picky"), None)


def test_unreserve_has_no_answer() -> None:
    cycle = trial()
    assert points.run_unreserve(Picky({}), cycle).status.plugin == ""
    assert cycle.state.read("unreserved") == "a"


def test_nobody_waits_on_permit_for_more_than_a_quarter_of_an_hour() -> None:
    assert points.run_permit(Picky({}), trial()).timeout == MAX_PERMIT_WAIT == 15 * 60 * 10**9


def test_a_text_left_by_postbind_is_the_steps_reason() -> None:
    assert points.run_post_bind(Picky({}), trial()).status == Status(reasons=("done",), plugin="Picky")
