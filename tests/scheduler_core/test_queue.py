"""The scheduling queue by itself."""

from __future__ import annotations

from scheduler_core.framework.events import Action, ClusterEvent
from scheduler_core.objects.pod import Pod
from scheduler_core.queue.queue import QueueOptions, SchedulingQueue
from scheduler_core.testing.builders import make_pod

SECOND = 1_000_000_000
NODE_ADD = ClusterEvent("Node", Action.ADD, "NodeAdd")


class Moves(list[tuple[str, str, str]]):
    def __call__(self, pod: Pod, place: str, cause: str) -> None:
        self.append((pod.name, place, cause))


def make_queue(
    gated: tuple[str, ...] = (), options: QueueOptions | None = None
) -> tuple[SchedulingQueue, Moves]:
    """A queue whose plugin `Fit` is woken by node events, and that gates some pods by name."""
    moves = Moves()
    queue = SchedulingQueue(
        options or QueueOptions(),
        lambda pod, timestamp: (-pod.priority, timestamp),
        lambda pod: "Gate" if pod.name in gated else "",
        lambda pod, plugin, event: plugin == "Fit" and event.resource == "Node",
        moves,
    )
    return queue, moves


def a_pod(name: str, priority: int = 0) -> Pod:
    return make_pod(name).priority(priority).pod()


def test_pods_pop_by_priority_then_by_age() -> None:
    queue, _ = make_queue()
    for t, (name, priority) in enumerate([("a", 0), ("b", 10), ("c", 0), ("d", 10)]):
        queue.add(a_pod(name, priority), t, "PodAdd")
    popped = [queue.pop(9) for _ in range(4)]
    assert [entry.pod.name for entry in popped if entry] == ["b", "d", "a", "c"]
    assert queue.pop(9) is None


def test_a_popped_pod_is_in_flight_until_done() -> None:
    queue, _ = make_queue()
    queue.add(a_pod("a"), 0, "PodAdd")
    queue.pop(0)
    assert list(queue.in_flight) == ["default/a"]
    queue.done("default/a")
    assert queue.in_flight == {}


def test_a_gated_pod_waits_until_its_gate_opens() -> None:
    queue, moves = make_queue(gated=("a",))
    queue.add(a_pod("a"), 0, "PodAdd")
    assert [entry.gated_by for entry in queue.gated()] == ["Gate"]
    assert not queue.ready
    assert moves == [("a", "gated", "PodAdd")]


def test_a_refused_pod_waits_for_an_event_that_its_plugin_wants() -> None:
    queue, _ = make_queue()
    queue.add(a_pod("a"), 0, "PodAdd")
    entry = queue.pop(0)
    assert entry is not None
    queue.requeue(entry, 0, ("Fit",))
    queue.move_all(ClusterEvent("AssignedPod", Action.ADD, "AssignedPodAdd"), 5 * SECOND)
    assert len(queue.unschedulable()) == 1
    queue.move_all(NODE_ADD, 5 * SECOND)
    assert [entry.pod.name for entry in queue.active()] == ["a"]


def test_an_event_sends_a_pod_that_is_still_backing_off_to_the_backoff_queue() -> None:
    queue, moves = make_queue()
    queue.add(a_pod("a"), 0, "PodAdd")
    entry = queue.pop(0)
    assert entry is not None
    queue.requeue(entry, 0, ("Fit",))
    queue.move_all(NODE_ADD, SECOND // 2)
    assert moves[-1] == ("a", "backoff", "NodeAdd")


def test_an_event_that_came_while_the_pod_was_in_flight_counts() -> None:
    queue, _ = make_queue()
    queue.add(a_pod("a"), 0, "PodAdd")
    entry = queue.pop(0)
    assert entry is not None
    queue.move_all(NODE_ADD, 0)
    queue.requeue(entry, 0, ("Fit",))
    assert queue.unschedulable() == []
    assert [entry.pod.name for entry in queue.backoff()] == ["a"]


def test_backoff_doubles_to_its_maximum() -> None:
    queue, _ = make_queue(options=QueueOptions(pop_from_backoff=False))
    queue.add(a_pod("a"), 0, "PodAdd")
    waits, now = [], 0
    for _ in range(6):
        entry = queue.pop(now)
        assert entry is not None
        queue.requeue(entry, now, ())
        until = queue.backoff()[0].backoff_until
        assert until is not None
        waits.append((until - now) // SECOND)
        now = until
        queue.flush_backoff(now)
    assert waits == [1, 2, 4, 8, 10, 10]


def test_backoff_ends_at_the_first_tick_behind_its_second() -> None:
    queue, _ = make_queue()
    queue.add(a_pod("a"), 0, "PodAdd")
    now = SECOND // 4
    entry = queue.pop(now)
    assert entry is not None
    queue.requeue(entry, now, ())
    assert queue.next_backoff_flush() == 2 * SECOND
    queue.flush_backoff(SECOND)
    assert len(queue.backoff()) == 1
    queue.flush_backoff(2 * SECOND)
    assert len(queue.active()) == 1


def test_a_pod_that_backs_off_after_a_refusal_is_popped_when_nothing_is_active() -> None:
    queue, _ = make_queue()
    queue.add(a_pod("a"), 0, "PodAdd")
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
    queue.add(a_pod("a"), 0, "PodAdd")
    entry = queue.pop(0)
    assert entry is not None
    queue.requeue(entry, 0, ())
    assert not queue.ready
    assert queue.pop(0) is None


def test_a_pod_is_woken_after_too_long_at_a_half_minute() -> None:
    queue, moves = make_queue()
    queue.add(a_pod("a"), 0, "PodAdd")
    entry = queue.pop(30 * SECOND)
    assert entry is not None
    queue.requeue(entry, 30 * SECOND, ("Fit",))
    assert queue.next_unschedulable_flush() == 360 * SECOND
    queue.flush_unschedulable(330 * SECOND)
    assert len(queue.unschedulable()) == 1
    queue.flush_unschedulable(360 * SECOND)
    assert moves[-1] == ("a", "active", "UnschedulableTimeout")


def test_an_update_replaces_the_pod_where_it_waits() -> None:
    queue, _ = make_queue()
    queue.add(a_pod("a"), 0, "PodAdd")
    queue.update(a_pod("a", priority=7), 1, [])
    entry = queue.pop(2)
    assert entry is not None
    assert entry.pod.priority == 7


def test_a_deleted_pod_is_nowhere() -> None:
    queue, _ = make_queue(gated=("b",))
    queue.add(a_pod("a"), 0, "PodAdd")
    queue.add(a_pod("b"), 0, "PodAdd")
    queue.delete(a_pod("a"))
    queue.delete(a_pod("b"))
    assert len(queue) == 0
    assert queue.pop(0) is None
