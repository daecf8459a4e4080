"""PrioritySort and SchedulingGates: the plugins that a pod meets before any node is looked at."""

from scheduler_core.scheduler.framework.status import unresolvable
from scheduler_core.testing.builders import make_pod
from tests.support.drive import make_plugin


def test_a_higher_priority_sorts_first_however_late_it_came() -> None:
    sort_key = make_plugin("PrioritySort").sort_key
    assert sort_key(make_pod("a").priority(5).pod(), 9) < sort_key(make_pod("b").priority(4).pod(), 1)


def test_among_equal_priorities_the_longer_queued_sorts_first() -> None:
    sort_key = make_plugin("PrioritySort").sort_key
    assert sort_key(make_pod("a").pod(), 1) < sort_key(make_pod("b").pod(), 2)


def test_a_pod_without_gates_may_be_queued() -> None:
    assert make_plugin("SchedulingGates").pre_enqueue(make_pod("a").pod()).ok


def test_a_gated_pod_is_refused_with_its_gates_in_the_order_of_the_spec() -> None:
    pod = make_pod("a").gates("z.io/b", "a.io/a").pod()
    refusal = unresolvable("waiting for scheduling gates: [z.io/b a.io/a]")
    assert make_plugin("SchedulingGates").pre_enqueue(pod) == refusal
