"""What a scheduling queue holds: which pod waits where, who is in flight, and the counts. Nothing in here decides anything.

kube keeps gated pods among the unschedulable ones; here they have a map of their own, so that nobody looks at thousands of gated pods
in vain.
"""

from __future__ import annotations

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.base.state import Copied, State
from scheduler_core.scheduler.queue.heap import PodHeap
from scheduler_core.scheduler.queue.in_flight import InFlight
from scheduler_core.scheduler.queue.nominator import Nominator
from scheduler_core.scheduler.queue.types import QueuedPod, QueueMetrics

Members = dict[str, dict[str, QueuedPod]]


class QueueState(State):
    """A waiting pod is in one of the places by its key `namespace/name`; pods in flight are known by UID.

    `active`, `backoff` (after a refusal) and `errors` (after an error) are heaps; `unschedulable` and `gated` keep the longest waiting
    first. `sequence` numbers new pods, `flushed` is when the unschedulable pods were looked through last (virtual nanoseconds).
    `pending` are members whose group is in flight, `incomplete` those whose group does not exist, by group and key; `popped` is the key
    of the group that was popped last and is not back. `cycle` counts the pods popped; `move_request`: see historical.py.
    """

    __slots__ = (
        "active",
        "backoff",
        "cycle",
        "errors",
        "flight",
        "flushed",
        "gated",
        "grouped",
        "incomplete",
        "metrics",
        "move_request",
        "nominator",
        "pending",
        "popped",
        "sequence",
        "unschedulable",
    )

    active: Copied[PodHeap]
    backoff: Copied[PodHeap]
    errors: Copied[PodHeap]
    unschedulable: Copied[dict[str, QueuedPod]]
    gated: Copied[dict[str, QueuedPod]]
    flight: Copied[InFlight]
    nominator: Copied[Nominator]
    metrics: Copied[QueueMetrics]
    pending: Copied[Members]
    incomplete: Copied[Members]
    popped: str
    grouped: bool  # pods may be members of groups
    sequence: int
    flushed: int | None
    cycle: int
    move_request: tuple[int, str]

    def __init__(self, nominator: Nominator | None = None) -> None:
        self.active = PodHeap()
        self.backoff = PodHeap()
        self.errors = PodHeap()
        self.unschedulable = {}
        self.gated = {}
        self.flight = InFlight()
        self.nominator = nominator or Nominator()
        self.metrics = QueueMetrics()
        self.pending = {}
        self.incomplete = {}
        self.popped = ""
        self.grouped = False
        self.sequence = 0
        self.flushed = None
        self.cycle = 0
        self.move_request = (-1, "")

    def maps(self) -> tuple[dict[str, QueuedPod], ...]:
        """The waiting pods of each place by key."""
        return (self.active.entries, self.backoff.entries, self.errors.entries, self.unschedulable, self.gated)

    def find(self, key: str) -> QueuedPod | None:
        for pods in self.maps():
            if key in pods:
                return pods[key]
        return self._find_member(key) if self.grouped else None

    def _find_member(self, key: str) -> QueuedPod | None:
        for members in (*self.pending.values(), *self.incomplete.values()):
            if key in members:
                return members[key]
        entities = (entry for pods in self.maps() for entry in pods.values() if entry.members)
        return next((each for entry in entities for each in entry.members if each.key == key), None)

    def fresh(self, pod: Pod, now: int) -> QueuedPod:
        """A pod that the queue has not seen before."""
        self.sequence += 1
        return QueuedPod(pod, now, self.sequence)

    def parked(self, key: str) -> QueuedPod | None:
        """An unschedulable pod, gated or not."""
        return self.unschedulable.get(key) or self.gated.get(key)

    def keep(self, entry: QueuedPod) -> None:
        """Writes an unschedulable pod where its gate says it belongs."""
        here, there = self.gated, self.unschedulable
        if not entry.gated_by:
            here, there = there, here
        there.pop(entry.key, None)
        here[entry.key] = entry

    def unpark(self, key: str, gated: bool) -> None:
        """Out of the unschedulable pods; `gated` selects the gauge to lower (kube: it may be out of date)."""
        gone = self.unschedulable.pop(key, None) or self.gated.pop(key, None)
        if gone:
            self.metrics.waiting["gated" if gated else "unschedulable"] -= gone.size

    def backs_off(self, key: str) -> bool:
        return key in self.backoff or key in self.errors

    def take_from_backoff(self, key: str) -> QueuedPod | None:
        return self.backoff.remove(key) or self.errors.remove(key)
