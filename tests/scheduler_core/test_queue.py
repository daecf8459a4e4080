"""The scheduling queue by itself."""

from __future__ import annotations

import pytest

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.framework.events import (
    ASSIGNED_POD_ADD,
    UNSCHEDULABLE_POD,
    Action,
    ClusterEvent,
    ObjectEvent,
)
from scheduler_core.scheduler.queue.queue import SchedulingQueue
from scheduler_core.scheduler.queue.types import STAYS, QueuedPod, QueueOptions, RequeueDecision, Strategy
from scheduler_core.testing.builders import make_pod

SECOND = 1_000_000_000
NODE_ADD = ObjectEvent(ClusterEvent("Node", Action.ADD), None, None)
OTHER = ObjectEvent(ASSIGNED_POD_ADD, None, None)


class FakeRules:
    """The plugin `Fit` is woken by node events; the plugin `Gate` holds back the pods named in `gated`."""

    def __init__(self, gated: tuple[str, ...] = ()) -> None:
        self.gated = gated
        self.moves: list[tuple[str, str, str]] = []

    def sort_key(self, pod: Pod, timestamp: int) -> tuple[int, ...]:
        return (-pod.priority, timestamp)

    def gate(self, pod: Pod, first: str) -> str:
        return "Gate" if pod.name in self.gated else ""

    def of_interest(self, event: ClusterEvent) -> bool:
        return True

    def listeners(self, event: ClusterEvent) -> frozenset[str]:
        return frozenset(["Fit"]) if event.resource == "Node" else frozenset()

    def requeue_decision(self, entry: QueuedPod, what: ObjectEvent) -> RequeueDecision:
        helps = what.event.resource in ("Node", "*") and ("Fit" in entry.rejectors)
        if not helps:
            return STAYS
        ready = "Fit" in entry.pending_plugins
        return RequeueDecision(Strategy.IMMEDIATELY if ready else Strategy.AFTER_BACKOFF, what.event.label, "Fit")

    def moved(self, entry: QueuedPod, place: str, cause: str, why: RequeueDecision | None) -> None:
        self.moves.append((entry.pod.name, place, cause))


def make_queue(gated: tuple[str, ...] = (), options: QueueOptions | None = None) -> tuple[SchedulingQueue, FakeRules]:
    rules = FakeRules(gated)
    return SchedulingQueue(options or QueueOptions(), rules), rules


def popped(queue: SchedulingQueue, now: int = 0) -> QueuedPod:
    entry = queue.pop(now)
    assert entry is not None
    return entry


def a_pod(name: str, priority: int = 0) -> Pod:
    return make_pod(name).priority(priority).pod()


def test_pods_pop_by_priority_then_by_age() -> None:
    queue, _ = make_queue()
    for t, (name, priority) in enumerate([("a", 0), ("b", 10), ("c", 0), ("d", 10)]):
        queue.add(a_pod(name, priority), t)
    popped = [queue.pop(9) for _ in range(4)]
    assert [entry.pod.name for entry in popped if entry] == ["b", "d", "a", "c"]
    assert queue.pop(9) is None


def test_a_popped_pod_is_in_flight_until_done() -> None:
    queue, _ = make_queue()
    queue.add(a_pod("a"), 0)
    queue.pop(0)
    assert [pod.name for pod in queue.in_flight] == ["a"]
    queue.done("default-a")
    assert queue.in_flight == []


def test_a_gated_pod_waits_until_its_gate_opens() -> None:
    queue, rules = make_queue(gated=("a",))
    queue.add(a_pod("a"), 0)
    assert [entry.gated_by for entry in queue.gated()] == ["Gate"]
    assert not queue.ready
    assert rules.moves == [("a", "gated", "UnschedulablePodAdd")]


def test_a_refused_pod_waits_for_an_event_that_its_plugin_wants() -> None:
    queue, _ = make_queue()
    queue.add(a_pod("a"), 0)
    entry = queue.pop(0)
    assert entry is not None
    queue.requeue(entry, 0, ("Fit",))
    queue.move_all(OTHER, 5 * SECOND)
    assert len(queue.unschedulable()) == 1
    queue.move_all(NODE_ADD, 5 * SECOND)
    assert [entry.pod.name for entry in queue.active()] == ["a"]


def test_an_event_sends_a_pod_that_is_still_backing_off_to_the_backoff_queue() -> None:
    queue, rules = make_queue()
    queue.add(a_pod("a"), 0)
    entry = queue.pop(0)
    assert entry is not None
    queue.requeue(entry, 0, ("Fit",))
    queue.move_all(NODE_ADD, SECOND // 2)
    assert rules.moves[-1] == ("a", "backoff", "NodeAdd")


def test_an_event_that_came_while_the_pod_was_in_flight_counts() -> None:
    queue, _ = make_queue()
    queue.add(a_pod("a"), 0)
    entry = queue.pop(0)
    assert entry is not None
    queue.move_all(NODE_ADD, 0)
    queue.requeue(entry, 0, ("Fit",))
    assert queue.unschedulable() == []
    assert [entry.pod.name for entry in queue.backoff()] == ["a"]


def test_backoff_doubles_to_its_maximum() -> None:
    queue, _ = make_queue(options=QueueOptions(pop_from_backoff=False))
    queue.add(a_pod("a"), 0)
    waits, now = [], 0
    for _ in range(6):
        entry = queue.pop(now)
        assert entry is not None
        queue.requeue(entry, now, ())
        until = queue.backoff()[0].backoff_until
        assert until is not None
        waits.append((until - now) // SECOND)
        now = queue.moves.next_backoff_flush() or 0
        queue.moves.flush_backoff(now)
    assert waits == [1, 2, 4, 8, 10, 10]


def test_backoff_ends_at_the_first_tick_behind_its_second() -> None:
    queue, _ = make_queue()
    queue.add(a_pod("a"), 0)
    now = SECOND // 4
    entry = queue.pop(now)
    assert entry is not None
    queue.requeue(entry, now, ())
    assert queue.moves.next_backoff_flush() == 2 * SECOND
    queue.moves.flush_backoff(SECOND)
    assert len(queue.backoff()) == 1
    queue.moves.flush_backoff(2 * SECOND)
    assert len(queue.active()) == 1


def test_a_pod_that_backs_off_after_a_refusal_is_popped_when_nothing_is_active() -> None:
    queue, _ = make_queue()
    queue.add(a_pod("a"), 0)
    entry = queue.pop(0)
    assert entry is not None
    queue.requeue(entry, 0, ("Fit",))
    queue.move_all(NODE_ADD, 0)
    assert queue.ready
    again = queue.pop(0)
    assert again is not None
    assert again.attempts == 2


def test_a_pod_that_failed_by_an_error_is_never_popped_early() -> None:
    queue, _ = make_queue()
    queue.add(a_pod("a"), 0)
    entry = queue.pop(0)
    assert entry is not None
    queue.requeue(entry, 0, ())
    assert not queue.ready
    assert queue.pop(0) is None


def test_a_pod_is_woken_after_too_long_at_a_half_minute() -> None:
    queue, rules = make_queue()
    queue.add(a_pod("a"), 0)
    entry = queue.pop(30 * SECOND)
    assert entry is not None
    queue.requeue(entry, 30 * SECOND, ("Fit",))
    assert queue.moves.next_unschedulable_flush() == 360 * SECOND
    queue.moves.flush_unschedulable(330 * SECOND)
    assert len(queue.unschedulable()) == 1
    queue.moves.flush_unschedulable(360 * SECOND)
    assert rules.moves[-1] == ("a", "active", "UnschedulableTimeout")


def test_an_update_replaces_the_pod_where_it_waits() -> None:
    queue, _ = make_queue()
    queue.add(a_pod("a"), 0)
    queue.update(a_pod("a"), a_pod("a", priority=7), 1, [])
    entry = queue.pop(2)
    assert entry is not None
    assert entry.pod.priority == 7


def test_a_deleted_pod_is_nowhere() -> None:
    queue, _ = make_queue(gated=("b",))
    queue.add(a_pod("a"), 0)
    queue.add(a_pod("b"), 0)
    queue.delete(a_pod("a"))
    queue.delete(a_pod("b"))
    assert len(queue) == 0
    assert queue.pop(0) is None


def test_events_of_a_pod_in_flight_go_when_it_is_done() -> None:
    queue, _ = make_queue()
    queue.add(a_pod("a"), 0)
    entry = popped(queue)
    queue.move_all(OTHER, 0)
    assert len(queue.flight.items()) == 2
    queue.done(entry.pod.uid)
    assert queue.flight.items() == []


def test_events_stay_for_the_pod_that_was_popped_before_them() -> None:
    queue, _ = make_queue()
    for name in ("a", "b"):
        queue.add(a_pod(name), 0)
    first, second = popped(queue), popped(queue)
    queue.move_all(NODE_ADD, 0)
    queue.done(first.pod.uid)
    assert queue.flight.events_of(second.pod.uid) == [NODE_ADD]


def test_an_update_of_a_pod_in_flight_is_only_noted() -> None:
    queue, _ = make_queue()
    queue.add(a_pod("a"), 0)
    entry = popped(queue)
    queue.update(entry.pod, entry.pod, 1, [ClusterEvent(UNSCHEDULABLE_POD, Action.UPDATE)])
    assert len(queue) == 0
    assert len(queue.flight.items()) == 2


def test_an_event_that_a_waiting_plugin_wants_skips_the_backoff() -> None:
    queue, _ = make_queue()
    queue.add(a_pod("a"), 0)
    queue.requeue(popped(queue), 0, ("Fit",), ("Fit",))
    queue.move_all(NODE_ADD, 0)
    assert [entry.pod.name for entry in queue.active()] == ["a"]


def test_an_event_for_some_pods_leaves_the_others() -> None:
    queue, _ = make_queue()
    for name, priority in (("low", 1), ("high", 5)):
        queue.add(a_pod(name, priority), 0)
        queue.requeue(popped(queue), 0, ("Fit",))
    queue.move_all(NODE_ADD, 5 * SECOND, lambda pod: pod.priority <= 1)
    assert [entry.pod.name for entry in queue.active()] == ["low"]


def test_an_activated_pod_does_not_wait_for_its_backoff() -> None:
    queue, rules = make_queue()
    queue.add(a_pod("a"), 0)
    queue.requeue(popped(queue), 0, ())
    queue.activate([a_pod("a")], 0)
    assert rules.moves[-1] == ("a", "active", "ForceActivate")


def test_a_pod_that_is_activated_in_flight_does_not_stay_unschedulable() -> None:
    queue, _ = make_queue()
    queue.add(a_pod("a"), 0)
    entry = popped(queue)
    queue.activate([a_pod("a")], 0)
    queue.requeue(entry, 0, ("Fit",))
    assert [entry.pod.name for entry in queue.backoff()] == ["a"]


def test_a_pod_in_flight_hears_of_the_timeout_of_a_gated_one_that_stays() -> None:
    queue, _ = make_queue(gated=("held",))
    queue.add(a_pod("held"), 0)
    queue.add(a_pod("a"), 0)
    entry = popped(queue)
    queue.moves.flush_unschedulable(330 * SECOND)
    queue.requeue(entry, 330 * SECOND, ("Fit",))
    assert [entry.pod.name for entry in queue.backoff()] == ["a"]
    assert [entry.pod.name for entry in queue.gated()] == ["held"]


def test_a_deleted_pod_is_promised_no_node_any_more() -> None:
    queue, _ = make_queue()
    queue.add(a_pod("a"), 0)
    queue.nominator.add(a_pod("a"), "n")
    queue.delete(a_pod("a"))
    assert queue.nominator.on("n") == ()


def test_a_refusal_ends_a_row_of_errors() -> None:
    queue, _ = make_queue(options=QueueOptions(pop_from_backoff=False))
    queue.add(a_pod("a"), 0)
    for now, plugins in ((0, ()), (10 * SECOND, ()), (20 * SECOND, ("Fit",))):
        queue.moves.flush_backoff(now)
        queue.requeue(popped(queue, now), now, plugins)
    refused = queue.unschedulable()[0]
    assert (refused.error_count, refused.unschedulable_count, refused.backoff_until) == (0, 1, 21 * SECOND)


class TwoMinds(FakeRules):
    """A node that comes is what a waiting plugin waits for; anything else may help after the backoff."""

    def requeue_decision(self, entry: QueuedPod, what: ObjectEvent) -> RequeueDecision:
        comes = what.event.resource == "Node"
        return RequeueDecision(Strategy.IMMEDIATELY if comes else Strategy.AFTER_BACKOFF, what.event.label, "Fit")


@pytest.mark.parametrize("happened", [(NODE_ADD, OTHER), (OTHER, NODE_ADD)])
def test_of_what_happened_in_flight_the_event_that_a_plugin_waits_for_counts_most(
    happened: tuple[ObjectEvent, ...],
) -> None:
    queue = SchedulingQueue(QueueOptions(), TwoMinds())
    queue.add(a_pod("a"), 0)
    entry = popped(queue)
    for what in happened:
        queue.move_all(what, 0)
    queue.requeue(entry, 0, ("Fit",), ("Fit",))
    assert [entry.pod.name for entry in queue.active()] == ["a"]


def test_a_gate_that_closes_keeps_a_moving_pod_back() -> None:
    queue, rules = make_queue()
    queue.add(a_pod("a"), 0)
    queue.requeue(popped(queue), 0, ("Fit",))
    rules.gated = ("a",)
    queue.move_all(NODE_ADD, 0)
    (entry,) = queue.gated()
    assert entry.unschedulable_plugins == ("Fit", "Gate")
    assert queue.metrics.waiting == {"unschedulable": 0, "gated": 1}


def test_a_pod_deleted_while_it_waits_leaves_its_plugins_gauge_as_it_was() -> None:
    queue, _ = make_queue()
    queue.add(a_pod("a"), 0)
    entry = popped(queue)
    queue.requeue(entry, 0, ("Fit",))
    queue.delete(entry.pod)
    assert queue.metrics.unschedulable["Fit", "default-scheduler"] == 1  # as kube's drifts


def test_incoming_pods_are_counted_by_queue_and_event() -> None:
    queue, _ = make_queue()
    queue.add(a_pod("a"), 0)
    queue.requeue(popped(queue), 0, ("Fit",))
    queue.move_all(NODE_ADD, 0)
    popped(queue)
    assert queue.metrics.incoming == {
        ("active", "UnschedulablePodAdd"): 1,
        ("unschedulable", "ScheduleAttemptFailure"): 1,
        ("backoff", "NodeAdd"): 1,
        ("active", "PopFromBackoffQ"): 1,
    }


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_the_first_active_pods_are_those_that_would_be_popped_first(limit: int) -> None:
    queue, _ = make_queue()
    for t, priority in enumerate((3, 9, 1, 9, 4)):
        queue.add(a_pod(f"p{t}", priority), t)
    queue.delete(a_pod("p1"))
    queue.update(a_pod("p2"), a_pod("p2", 8), 9, [])
    assert queue.active(limit) == queue.active()[:limit]


def test_a_copy_goes_its_own_way() -> None:
    queue, rules = make_queue()
    queue.add(a_pod("a"), 0)
    twin = queue.copy()
    twin.connect(rules)
    popped(queue)
    assert len(twin) == 1
    assert twin.in_flight == []
