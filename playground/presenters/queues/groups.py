"""Queued pods in groups: by the reason of the refusal, owner, priority, or gate.

A queue may hold 50,000 pods, and most steps move one of them. Therefore each queue keeps its grouping, which is updated by the pods that
arrived, left, or were replaced since. The result always equals a complete grouping.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import is_
from weakref import WeakKeyDictionary, WeakValueDictionary

from playground.presenters.scene import family_of
from scheduler_core.world.readonly import Move, QueuedPod, QueueView, SchedulerView, WorldView, controller_of

CROWD = 30  # waiting pods; from this number, rows become groups
Label = tuple[str, ...]
NO_OWNER: Label = ("",)
FIRST = 8  # entries compared to detect that two queues have the same past


@dataclass(slots=True)
class Group:
    """The pods with one label by key, in the order of their arrival, and the number of pods of each family."""

    label: Label
    pods: dict[str, QueuedPod] = field(default_factory=dict)
    families: Counter[str] = field(default_factory=Counter)

    def __len__(self) -> int:
        return len(self.pods)

    @property
    def first(self) -> QueuedPod:
        return next(iter(self.pods.values()))

    def largest_families(self, most: int) -> list[str]:
        """Return the largest families, by size, then by name."""
        return sorted(self.families, key=lambda name: (-self.families[name], name))[:most]


class PodGrouping:
    """The pods of one place by label."""

    __slots__ = ("__weakref__", "_entries", "_groups", "_labels", "_moves", "_seen", "gone")

    def __init__(self) -> None:
        self.gone = False  # taken over by a grouping of another world
        self._entries: dict[str, QueuedPod] = {}
        self._labels: dict[str, Label] = {}
        self._groups: dict[Label, Group] = {}
        self._moves: Sequence[Move] = ()
        self._seen = 0  # number of moves processed

    def __iter__(self) -> Iterator[Group]:
        """Yield the groups, largest first, then by label."""
        return iter(sorted(self._groups.values(), key=lambda group: (-len(group), group.label)))

    def __len__(self) -> int:
        return len(self._groups)

    def of(self, key: str) -> Label | None:
        """Return the label of a pod in this place, or None."""
        return self._labels.get(key)

    def get(self, label: Label) -> Group | None:
        return self._groups.get(label)

    def update(
        self, entries: Mapping[str, QueuedPod], label: Callable[[QueuedPod], Label], moves: Sequence[Move]
    ) -> None:
        """Update the grouping. `moves` are all moves of the journal; the new ones tell which pods arrived and left."""
        new = _between(self._moves, self._seen, moves)
        self._moves, self._seen = moves, len(moves)
        followed = (
            new is not None
            and len(new) < len(entries)
            and all(
                self._follow(key, entries.get(key), label)
                for key in list(dict.fromkeys(move.pod for move in reversed(new)))[::-1]
            )
        )
        if not (followed and (self._renew(entries, label) or self._reorder(entries))):
            known, labels = self._entries, self._labels
            self._entries, self._labels, self._groups = {}, {}, {}
            for key, entry in entries.items():
                self._add(key, entry, labels[key] if known.get(key) is entry else label(entry))

    def take_over(self, other: "PodGrouping") -> None:
        """Take over the data of another world with the same past and empty its grouping. An update is faster than a copy."""
        self._entries, self._labels, self._groups = other._entries, other._labels, other._groups
        self._moves, self._seen = other._moves, other._seen
        other._entries, other._labels, other._groups, other.gone = {}, {}, {}, True

    def shares(self, entries: Mapping[str, QueuedPod]) -> bool:
        """Return whether the grouping has any of the first FIRST entries as the identical object."""
        return any(self._entries.get(key) is entry for key, entry in islice(entries.items(), FIRST))

    def _follow(self, key: str, entry: QueuedPod | None, label: Callable[[QueuedPod], Label]) -> bool:
        """Update one pod that moved. Return False if it has another label at its old place in the order."""
        was = self._entries.get(key)
        if was is entry:
            return True
        if was is not None and entry is not None and _same_stay(was, entry):
            return self._replace(key, was, entry, label)
        if was is not None:
            self._remove(key, was)
        if entry is not None:
            self._add(key, entry, label(entry))
        return True

    def _renew(self, entries: Mapping[str, QueuedPod], label: Callable[[QueuedPod], Label]) -> bool:
        """Replace entries that changed without a move. Return False if the grouping differs in another way."""
        old, new = list(self._entries.values()), list(entries.values())
        if old == new:  # nearly always identical objects, which list equality does not compare in depth
            return True
        return len(old) == len(new) and all(
            was.key == now.key and _same_stay(was, now) and self._replace(was.key, was, now, label)
            for was, now in zip(old, new, strict=True)
            if was is not now
        )

    def _reorder(self, entries: Mapping[str, QueuedPod]) -> bool:
        """Adopt another order of the identical pods, such as a popped pod that returns to the front. Return False if other pods differ."""
        here = self._entries
        if len(here) != len(entries) or not all(map(is_, map(here.get, entries), entries.values())):
            return False
        pods: dict[Label, dict[str, QueuedPod]] = {label: {} for label in self._groups}
        for key, entry in entries.items():
            pods[self._labels[key]][key] = entry
        for label, group in self._groups.items():
            group.pods = pods[label]
        self._entries = dict(entries)
        return True

    def _replace(self, key: str, was: QueuedPod, entry: QueuedPod, label: Callable[[QueuedPod], Label]) -> bool:
        known = self._labels[key]
        if label(entry) != known or family_of(was.pod) != family_of(entry.pod):
            return False
        self._entries[key] = self._groups[known].pods[key] = entry
        return True

    def _add(self, key: str, entry: QueuedPod, label: Label) -> None:
        self._entries[key], self._labels[key] = entry, label
        group = self._groups.get(label)
        if group is None:
            group = self._groups[label] = Group(label)
        group.pods[key] = entry
        group.families[family_of(entry.pod)] += 1

    def _remove(self, key: str, entry: QueuedPod) -> None:
        del self._entries[key]
        label = self._labels.pop(key)
        group = self._groups[label]
        del group.pods[key]
        family = family_of(entry.pod)
        group.families[family] -= 1
        if not group.families[family]:
            del group.families[family]
        if not group.pods:
            del self._groups[label]


def _between(seen: Sequence[Move], count: int, moves: Sequence[Move]) -> Sequence[Move] | None:
    """Return the moves that differ between the first `count` seen ones and the present ones, or None if their pasts differ."""
    shared = min(count, len(moves))
    if shared and seen[shared - 1] != moves[shared - 1]:
        return None
    return [*seen[shared:count], *moves[shared:]]


def _same_stay(was: QueuedPod, now: QueuedPod) -> bool:
    """Return whether a pod stayed in its place while its entry was replaced."""
    return (was.sequence, was.attempts, was.timestamp) == (now.sequence, now.attempts, now.timestamp)


# Labels of groups


def by_reason(sim: WorldView, entry: QueuedPod) -> Label:
    """Return the plugins that refused the pod last, and kube's reasons: those of nodes, or the whole message without any."""
    return (", ".join(entry.rejectors), *sorted(reasons(sim, entry)))


def reasons(sim: WorldView, entry: QueuedPod) -> list[str]:
    """Return kube's reasons of the pod's last attempt, most frequent first; empty if it had a node and failed later."""
    index = sim.journal.last_attempt.get(entry.key)
    attempt = None if index is None else sim.journal.attempts[index]
    if attempt is None or attempt.node:
        return []
    return [reason for reason, _ in attempt.refusals] or [attempt.message]


def by_owner(sim: WorldView, entry: QueuedPod) -> Label:
    owner = controller_of(entry.pod.manifest)
    return NO_OWNER if owner is None else (str(owner.get("kind", "")), str(owner.get("name", "")))


def by_priority(sim: WorldView, entry: QueuedPod) -> Label:
    return (str(entry.pod.priority),)


def by_gate(sim: WorldView, entry: QueuedPod) -> Label:
    """Return the plugin that gates the pod, and the pod's own scheduling gates."""
    return (entry.gated_by, *entry.pod.spec.scheduling_gates)


BY: dict[str, Callable[[WorldView, QueuedPod], Label]] = {
    "reason": by_reason,
    "owner": by_owner,
    "priority": by_priority,
    "gate": by_gate,
}
_PLACES: dict[str, Callable[[QueueView], Mapping[str, QueuedPod]]] = {
    "active": lambda queue: queue.active_pods,
    "unschedulable": lambda queue: queue.unschedulable_pods,
    "gated": lambda queue: queue.gated_pods,
}
_KNOWN: WeakKeyDictionary[QueueView, dict[tuple[str, str], PodGrouping]] = WeakKeyDictionary()
# Stepping back shows a copy of the world at each step, which can reuse the last grouping.
_LAST: WeakValueDictionary[tuple[str, str], PodGrouping] = WeakValueDictionary()


def group_pods(sim: WorldView, scheduler: SchedulerView, place: str, by: str) -> PodGrouping:
    """Return the pods of a place of a scheduler's queue, grouped by a key of BY."""
    queue, label = scheduler.queue, BY[by]
    entries, moves = _PLACES[place](queue), sim.journal.moves
    mine, last = _KNOWN.setdefault(queue, {}), _LAST.get((place, by))
    known = mine.get((place, by))
    if known is None or known.gone:
        known = mine[place, by] = PodGrouping()
        if last is not None and last.shares(entries):
            known.take_over(last)
    known.update(entries, lambda entry: label(sim, entry), moves)
    _LAST[place, by] = known
    return known


def waiting(scheduler: SchedulerView, members: bool = False) -> int:
    """Return the number of entries in the queue, or of pods with `members`: the entry of a pod group has several."""
    queue = scheduler.queue
    places: Sequence[Mapping[str, QueuedPod]] = (
        queue.active_pods,
        queue.backoff_pods,
        queue.error_backoff_pods,
        queue.unschedulable_pods,
        queue.gated_pods,
    )
    if members:
        return sum(len(entry.members) or 1 for place in places for entry in place.values())
    return sum(map(len, places))


def forget() -> None:
    """Clear the kept groupings."""
    _KNOWN.clear()
    _LAST.clear()


def some(group: Group, most: int) -> list[QueuedPod]:
    return list(islice(group.pods.values(), most))
