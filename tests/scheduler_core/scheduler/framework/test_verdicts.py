"""What Filter says: one plugin's verdicts, and all of a cycle's by row."""

import numpy as np

from scheduler_core.scheduler.framework.node_to_status import EXCLUDED, NOT_EVALUATED, PASSED, NodeToStatus, PluginStep
from scheduler_core.scheduler.framework.plugin import Point, Verdicts
from scheduler_core.scheduler.framework.status import Code, Status, error, unresolvable, unschedulable

FULL, TAINTED, BROKEN = unschedulable("full"), unresolvable("tainted"), error("broken")
ABSENT = unresolvable("absent")
VERDICTS = Verdicts(np.array([-1, 1, 0, 1], np.int32), (FULL, TAINTED, BROKEN))


def step(plugin: str, statuses: tuple[Status, ...]) -> PluginStep:
    verdicts = Verdicts(np.zeros(1, np.int32), statuses)
    return PluginStep(Point.FILTER, plugin, refused=1, verdicts=verdicts)


STEPS = [PluginStep(Point.PRE_FILTER, "A"), step("A", (FULL, TAINTED)), step("B", (FULL,))]
SEEN = NodeToStatus(
    np.array([1, PASSED, 2, EXCLUDED, NOT_EVALUATED, 1, 1], np.int32),
    np.array([0, 0, 0, 0, 0, 1, 0], np.int32),
    STEPS,
    ABSENT,
)


def test_verdicts_say_which_rows_are_refused_and_why() -> None:
    assert VERDICTS.refused.tolist() == [False, True, True, True]
    assert VERDICTS.refusals(np.array([4, 7, 2, 9])) == [(7, TAINTED), (2, FULL), (9, TAINTED)]
    assert [VERDICTS.status_at(i) for i in range(4)] == [None, TAINTED, FULL, TAINTED]
    assert VERDICTS.first() == TAINTED


def test_verdicts_are_counted_over_all_rows_or_some() -> None:
    assert VERDICTS.counted() == [(FULL, 1), (TAINTED, 2)]
    assert VERDICTS.counted(np.array([True, True, False, False])) == [(TAINTED, 1)]


def test_an_error_counts_where_a_row_got_it() -> None:
    assert VERDICTS.first_error() is None
    assert Verdicts(np.array([-1, 2], np.int32), VERDICTS.statuses).first_error() == 1


def test_verdicts_may_let_every_row_pass() -> None:
    passing = Verdicts(np.full(2, -1, np.int32), (FULL,))
    assert (passing.first(), passing.counted(), passing.refusals(np.arange(2))) == (None, [], [])


def test_each_row_has_the_status_of_the_plugin_that_refused_it() -> None:
    statuses = [SEEN.status_of(row) for row in range(8)]
    assert statuses == [*(FULL.by("A"), None, FULL.by("B"), ABSENT, None, TAINTED.by("A"), FULL.by("A"), None)]
    assert SEEN.refused.tolist() == [0, 2, 5, 6]
    assert SEEN.plugins() == {"A", "B"}


def test_the_rows_of_each_status_are_counted_step_by_step() -> None:
    assert list(SEEN.counted()) == [(FULL.by("A"), 2), (TAINTED.by("A"), 1), (FULL.by("B"), 1), (ABSENT, 1)]


def test_rows_without_a_status_of_their_own_have_the_code_unresolvable() -> None:
    own = {0: FULL, 2: FULL, 5: TAINTED, 6: FULL}
    assert SEEN.codes(7).tolist() == [own.get(row, ABSENT).code for row in range(7)]


def test_what_prefilter_refuses_it_refuses_on_every_node() -> None:
    whole = NodeToStatus(np.zeros(0, np.int32), np.zeros(0, np.int32), [], whole=FULL)
    assert whole.status_of(3) == FULL
    assert whole.codes(2).tolist() == [Code.UNSCHEDULABLE] * 2


def test_rows_with_the_same_plugin_and_message_are_one_group() -> None:
    again = NodeToStatus(SEEN.refused_by, SEEN.reason, [STEPS[0], STEPS[1], step("A", (FULL,))], ABSENT)
    groups = again.groups()
    assert groups.statuses == (ABSENT, FULL.by("A"), TAINTED.by("A"))
    assert groups.counts == (1, 3, 1)
    assert groups.group.tolist() == [1, PASSED, 1, 0, NOT_EVALUATED, 2, 1]


def test_other_rows_may_be_asked_for_in_another_order() -> None:
    some = SEEN.at(np.array([3, -1, 5, 40]))
    assert [some.status_of(i) for i in range(4)] == [ABSENT, None, TAINTED.by("A"), None]
    assert [some.is_evaluated(i) for i in range(4)] == [True, False, True, False]
    assert [some.is_excluded(i) for i in range(4)] == [True, False, False, False]
