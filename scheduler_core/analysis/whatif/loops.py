"""Loops: owners whose pods end repeatedly in the same way, while nothing about the owner changes.

A controller that replaces such pods does so forever: a ReplicaSet whose pods a kubelet refuses, a StatefulSet whose pods a taint evicts.
The detection is independent of controllers and reasons: whenever a pod ends, the owner's remaining state is compared with the earlier
ones. The state of a Job that counts its failures up to a limit differs each time, so the Job continues until it ends.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from scheduler_core.apimachinery.objects import Pod, controller_of
from scheduler_core.apiserver import Store, WatchEvent
from scheduler_core.base.trace.journal import Place

ENDS = 20  # pods that ended in the same way
ROUNDS = 3  # repetitions of the same remaining state; several pods of an owner may end in each
BARREN = 3  # this multiple of pods that failed before they ran suffices: with many replicas, a round takes too long
MANY = 500  # a Job's limit of failures above this counts as endless
FAILED, DELETED = "Failed", "Deleted"
_VOLATILE = ("conditions", "uncountedTerminatedPods", "observedGeneration", "startTime", "failed")

Subject = tuple[str, str, str]
"""Kind, namespace and name."""

Standing = tuple[str, str]
"""Phase and node of a pod."""


@dataclass(frozen=True, slots=True)
class End:
    """The end of a pod on a node. `reason` and `message` come from its status, or from the condition with the cause of its deletion.

    `failed`: the pod failed, whether or not it was deleted afterwards.
    """

    pod: str
    node: str
    reason: str
    message: str
    failed: bool = False

    def to_json(self) -> dict[str, Any]:
        return {"pod": self.pod, "node": self.node, "reason": self.reason, "message": self.message}


@dataclass(frozen=True, slots=True)
class Loop:
    """An owner whose pods end in the same way: the owner, its top workload, the number and nodes of ended pods, and the last end."""

    owner: Subject
    workload: Subject
    count: int
    nodes: tuple[str, ...]
    last: End

    def to_json(self) -> dict[str, Any]:
        kind, namespace, name = self.workload
        return {
            "kind": kind,
            "namespace": namespace,
            "name": name,
            "pods": self.count,
            "nodes": list(self.nodes),
            "reason": self.last.reason,
            "message": self.last.message,
            "lastPod": self.last.pod,
        }


@dataclass(slots=True)
class _OwnerEnds:
    """One owner's live pods and ended pods, and for each state of the owner its first end and the number of ends in it."""

    live: dict[str, Standing] = field(default_factory=dict)
    tally: Counter[Standing] = field(default_factory=Counter)
    count: int = 0
    barren: int = 0
    nodes: dict[str, None] = field(default_factory=dict)
    seen: dict[tuple[Any, ...], tuple[int, int]] = field(default_factory=dict)

    def put(self, pod: str, standing: Standing | None) -> Standing | None:
        """Store a pod's phase and node (None: gone). Return the previous ones."""
        before = self.live.pop(pod, None)
        if before is not None:
            self.tally[before] -= 1
            if not self.tally[before]:
                del self.tally[before]
        if standing is not None:
            self.live[pod] = standing
            self.tally[standing] += 1
        return before


class Loops:
    """A detector of owners in loops, which reads each change. `ends`: how many pods have to end in the same way."""

    def __init__(self, store: Store, ends: int = ENDS) -> None:
        self._most = ends
        self._alone: dict[str, End] = {}
        self._of: dict[Subject, _OwnerEnds] = {}
        for pod in store.pods():
            self._ends(subject_of(pod)).put(pod.key, _state(pod))

    def gone(self, store: Store) -> tuple[End, ...]:
        """Return the ends of the pods without a controller that no longer exist, by key."""
        return tuple(end for key, end in sorted(self._alone.items()) if store.pod_at(key) is None)

    def forget(self, subject: Subject) -> None:
        """Start the comparison again."""
        known = self._ends(subject)
        known.seen.clear()
        known.barren = 0

    def hear(self, store: Store, changes: Iterable[WatchEvent]) -> Loop | None:
        """Process changes. Return a loop if one was detected."""
        found = None
        for event in changes:
            if event.kind == "Pod":
                found = self._hear(store, event) or found
        return found

    def _hear(self, store: Store, event: WatchEvent) -> Loop | None:
        old, new = event.old_pod, event.new_pod
        pod = new or old
        assert pod is not None
        subject = subject_of(pod)
        known = self._ends(subject)
        state = None if new is None else _state(new)
        before = known.put(pod.key, state)
        if state is not None:
            if pod.phase == "Running" and (old is None or old.phase != "Running"):
                known.barren = 0
            return None
        if before is None or pod.phase == "Succeeded":
            return None
        known.count += 1
        refused = pod.phase == FAILED and old is not None and old.phase == "Pending"
        known.barren = known.barren + 1 if refused else 0
        end = end_of(pod)
        if subject[0] == "Pod":
            self._alone[pod.key] = end
        return self._note(store, subject, known, end)

    def _note(self, store: Store, subject: Subject, known: _OwnerEnds, end: End) -> Loop | None:
        if end.node:
            known.nodes[end.node] = None
        left = (end.reason, frozenset(known.tally.items()), _standing(store, subject))
        first, rounds = known.seen.get(left, (known.count - 1, 0))
        known.seen[left] = (first, rounds + 1)
        alike = rounds >= ROUNDS and known.count - first >= self._most
        if not alike and (known.barren < BARREN * self._most or subject[0] == "Job"):
            return None
        return Loop(subject, (*owners_of(store, subject),)[-1], known.count, tuple(sorted(known.nodes)), end)

    def _ends(self, subject: Subject) -> _OwnerEnds:
        return self._of.setdefault(subject, _OwnerEnds())


def ends_of(store: Store) -> tuple[End, ...]:
    """Return the pods that have failed, by key."""
    return tuple(end_of(pod) for pod in store.pods() if pod.phase == FAILED)


def subject_of(pod: Pod) -> Subject:
    """Return a pod's controller, or the pod itself without a controller or if that is a Node, as for a static pod."""
    owner = controller_of(pod.manifest)
    if owner is None or owner.get("kind") == "Node":
        return ("Pod", pod.namespace, pod.name)
    return (str(owner.get("kind")), pod.namespace, str(owner.get("name")))


def _state(pod: Pod) -> Standing | None:
    """Return a pod's phase and node, or None if the pod has ended or terminates."""
    return None if pod.terminal or pod.deleting else (pod.phase, pod.node_name)


def end_of(pod: Pod) -> End:
    """Return the end of a pod that failed or was deleted."""
    status = pod.manifest.get("status") or {}
    targets = (each for each in status.get("conditions") or () if each.get("type") == "DisruptionTarget")
    why: Mapping[str, Any] = status if status.get("reason") else next(targets, {})
    reason = str(why.get("reason") or (FAILED if pod.phase == FAILED else DELETED))
    return End(pod.key, pod.node_name, reason, str(why.get("message") or ""), pod.phase == FAILED)


def _standing(store: Store, subject: Subject) -> str:
    """Return the state of an owner as text, without times and names of pods."""
    manifest = store.get(*subject)
    if manifest is None or subject[0] == "Pod":
        return ""
    spec, status = manifest.get("spec") or {}, manifest.get("status") or {}
    kept = {name: value for name, value in status.items() if name not in _VOLATILE}
    kept["conditions"] = [
        (each.get("type"), each.get("status"), each.get("reason")) for each in status.get("conditions") or ()
    ]
    if subject[0] == "Job" and _limit(spec) <= MANY:
        kept["failed"] = status.get("failed")
    return json.dumps([manifest["metadata"].get("generation"), kept], sort_keys=True, default=str)


def _limit(job: Mapping[str, Any]) -> int:
    """Return the number of failures after which a Job ends, or 0 for a Job with a deadline, which ends as well."""
    if job.get("activeDeadlineSeconds") is not None:
        return 0
    of_each = job.get("backoffLimitPerIndex")
    return int(job.get("backoffLimit", 6) if of_each is None else of_each)


def owners_of(store: Store, subject: Subject) -> Iterator[Subject]:
    """Yield an object, its controller, the controller's controller, and so on."""
    while True:
        yield subject
        reference = controller_of(store.get(*subject))
        if reference is None:
            return
        subject = (str(reference.get("kind")), subject[1], str(reference.get("name")))


# Circles: a run makes progress as long as pods reach places where they have not been since its start.
#
# After very many moves without progress, pods only requeue each other: two pods, for example, that are rejected late. A run that
# makes progress only pays for reading its pods' moves.

MOVES = 2_000  # without progress, and so many more per pod of the cluster
MOVES_PER_POD = 40
_BITS = {
    value: 1 << i
    for i, value in enumerate(
        value for name, value in vars(Place).items() if not name.startswith("_") and isinstance(value, str)
    )
}


class Circles(NamedTuple):
    """The number of steps since the last progress, and its virtual time."""

    steps: int
    since: int


class Watchdog:
    """A detector of circles, called slice by slice. `position`: the position of its last call."""

    def __init__(self, world: Any) -> None:
        self.position: int = world.position
        self._read = len(world.journal.moves)
        self._been: dict[str, int] = {}
        self._nodes: dict[tuple[str, str], None] = {}
        self._barren = 0  # moves since the last progress
        self._since = world.position
        self._since_t = world.now

    def circles(self, world: Any) -> Circles | None:
        """Return since when nothing new has happened if that is too long, else None."""
        moves = world.journal.moves
        for i in range(self._read, len(moves)):
            move = moves[i]
            bit = _BITS.get(move.place, 0)
            been = self._been.get(move.pod, 0)
            if move.place == Place.BOUND and (move.pod, move.cause) not in self._nodes:
                self._nodes[move.pod, move.cause] = None
                been &= ~bit
            self._been[move.pod] = been | bit
            if not been & bit:
                self._barren, self._since, self._since_t = 0, moves[i].position, moves[i].t
            else:
                self._barren += 1
        self._read, self.position = len(moves), world.position
        if self._barren <= MOVES + MOVES_PER_POD * world.store.count("Pod"):
            return None
        return Circles(world.position - self._since, self._since_t)
