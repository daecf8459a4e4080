"""The state of the workload controllers and the garbage collectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from scheduler_core.apimachinery.objects import SECOND, Pod, controller_of
from scheduler_core.apimachinery.objects.labels import IN, Labels, LabelSelector
from scheduler_core.apiserver import Store, WatchEvent
from scheduler_core.base.state import Copied, Derived, State

# The state of the garbage collectors: dependents by owner, missing nodes, and namespaces being deleted.


class Item(NamedTuple):
    """The identity of an object."""

    kind: str
    namespace: str
    name: str

    @classmethod
    def of(cls, kind: str, manifest: Mapping[str, Any]) -> Item:
        meta = manifest["metadata"]
        return cls(kind, str(meta.get("namespace") or ""), str(meta["name"]))

    def __str__(self) -> str:
        return "/".join(part for part in self if part)


def owners(manifest: Mapping[str, Any] | None) -> list[Mapping[str, Any]]:
    """Return the ownerReferences of an object."""
    return [] if manifest is None else list(manifest["metadata"].get("ownerReferences") or ())


@dataclass(slots=True)
class Dependents(State):
    """An index of objects by the UIDs of their owners, built from the store at the first use and updated afterwards."""

    by_owner: Derived[dict[str, dict[Item, None]]] = field(default_factory=dict)
    made: Derived[int] = 0

    def forget(self) -> None:
        """Drop the index, so that it is built again."""
        self.by_owner, self.made = {}, 0

    def of(self, store: Store, uid: str) -> list[Item]:
        """Return an owner's dependents, in order."""
        if not self.made:
            self.made = 1
            for kind in store.kinds():
                for manifest in store.list(kind):
                    if manifest["metadata"].get("ownerReferences"):
                        self._add(kind, manifest)
        return sorted(self.by_owner.get(uid, ()))

    def _add(self, kind: str, manifest: Mapping[str, Any]) -> None:
        item = Item.of(kind, manifest)
        for owner in _uids(manifest):
            self.by_owner.setdefault(owner, {})[item] = None

    def follow(self, kind: str, old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> None:
        """Update the index after a change of an object."""
        if not self.made:
            return
        before, after = set(_uids(old)), set(_uids(new))
        for uid in sorted(before - after):
            items = self.by_owner.get(uid, {})
            items.pop(Item.of(kind, old or {}), None)
            if not items:
                self.by_owner.pop(uid, None)
        for uid in sorted(after - before):
            self.by_owner.setdefault(uid, {})[Item.of(kind, new or {})] = None


def _uids(manifest: Mapping[str, Any] | None) -> Iterator[str]:
    return (str(ref.get("uid") or "") for ref in owners(manifest))


@dataclass(slots=True)
class Pods(State):
    """The pod collector's state: the number of ended pods, and the deadlines (ns) for missing nodes to appear."""

    ended: int = 0
    quarantine: Copied[dict[str, int]] = field(default_factory=dict)


@dataclass(slots=True)
class Namespaces(State):
    """Namespaces whose content is being deleted: the time of the last sync, and the delay until the next one (ns)."""

    waiting: Copied[dict[str, tuple[int, int]]] = field(default_factory=dict)


@dataclass(slots=True)
class Garbage(State):
    """The state of the garbage collectors."""

    dependents: Copied[Dependents] = field(default_factory=Dependents)
    pods: Copied[Pods] = field(default_factory=Pods)
    namespaces: Copied[Namespaces] = field(default_factory=Namespaces)
    elsewhere: Copied[dict[str, None]] = field(default_factory=dict)  # UIDs of owners missing in an import


# The pods that each PodDisruptionBudget covers, updated as pods and budgets change, which saves searches.

KIND = "PodDisruptionBudget"
_NONE: Mapping[str, LabelSelector] = {}
_NOBODY = ""  # in place of a controller's uid


@dataclass(slots=True)
class Coverage(State):
    """The pods that a budget covers: each (namespace/name) with its health, the number of healthy pods, and pods by controller (UID)."""

    pods: Derived[dict[str, bool]] = field(default_factory=dict)
    healthy: Derived[int] = 0
    controllers: Derived[dict[str, int]] = field(default_factory=dict)
    references: Derived[dict[str, Mapping[str, Any]]] = field(default_factory=dict)  # by the controller's uid

    @property
    def unmanaged(self) -> int:
        """The number of pods without a controller."""
        return self.controllers.get(_NOBODY, 0)

    def note(self, key: str, old: Pod | None, new: Pod | None) -> None:
        """Update a covered pod. `old` or `new` is None if the pod was not or is no longer covered."""
        if old is not None and key in self.pods:
            self.healthy -= self.pods.pop(key)
            self._count(old, -1)
        if new is not None:
            healthy = self.pods[key] = not new.deleting and new.ready
            self.healthy += healthy
            self._count(new, 1)

    def _count(self, pod: Pod, more: int) -> None:
        owner = controller_of(pod.manifest)
        uid = _NOBODY if owner is None else str(owner.get("uid"))
        count = self.controllers.get(uid, 0) + more
        if not count:
            self.controllers.pop(uid, None)
            self.references.pop(uid, None)
            return
        self.controllers[uid] = count
        if owner is not None:
            self.references[uid] = owner


@dataclass(slots=True)
class DisruptionMemory(State):
    """An index of budgets with their selectors and covered pods, built from the store at the first use.

    `selectors` is grouped for lookup: by a label (namespace|key=value) that a budget requires, or else by its namespace.
    """

    selectors: Derived[dict[str, dict[str, LabelSelector]]] = field(default_factory=dict)
    covered: Derived[dict[str, Coverage]] = field(default_factory=dict)  # by budget (namespace/name)

    def budgets_for(self, store: Store, pod: Pod) -> list[str]:
        """Return the keys of the budgets that cover a pod, by name."""
        selectors = self._read(store)
        if len(selectors) == 1:
            return []
        space = pod.namespace
        places = (space, *(_place(space, key, value) for key, value in pod.labels.items()))
        return sorted(
            f"{space}/{name}"
            for place in places
            for name, selector in selectors.get(place, _NONE).items()
            if selector.matches(pod.labels)
        )

    def coverage(self, store: Store, budget: str) -> Coverage:
        """Return the pods that a budget covers."""
        self._read(store)
        return self.covered.get(budget) or Coverage()

    def pods_of(self, store: Store, budget: str) -> list[Pod]:
        """Return the pods that a budget covers, by name."""
        found = (store.pod_at(key) for key in sorted(self.coverage(store, budget).pods))
        return [pod for pod in found if pod is not None]

    def hear(self, store: Store, event: WatchEvent) -> None:
        """Update the index after a change of a budget or of a pod."""
        if event.kind == KIND:
            if _selector(event.old) != _selector(event.new):
                self.selectors.clear()
                self.covered.clear()
            return
        if not self.selectors:
            return  # the index is built at its first use
        old, new, key = event.old_pod, event.new_pod, f"{event.namespace}/{event.name}"
        same = old is not None and new is not None and old.labels == new.labels
        after = self.budgets_for(store, new) if new is not None else []
        before = after if same else self.budgets_for(store, old) if old is not None else []
        for budget in dict.fromkeys((*before, *after)):
            coverage = self.covered.setdefault(budget, Coverage())
            coverage.note(key, old if budget in before else None, new if budget in after else None)

    def _read(self, store: Store) -> dict[str, dict[str, LabelSelector]]:
        if self.selectors:
            return self.selectors
        self.selectors[""] = {}
        for manifest in store.list(KIND):
            meta = manifest["metadata"]
            selector = LabelSelector.of(_selector(manifest))
            demanded = next((r for r in selector.requirements if r.op == IN and len(r.values) == 1), None)
            place = meta["namespace"]
            if demanded is not None:
                place = _place(place, demanded.key, demanded.values[0])
            self.selectors.setdefault(place, {})[meta["name"]] = selector
        for pod in store.pods() if len(self.selectors) > 1 else ():
            for budget in self.budgets_for(store, pod):
                self.covered.setdefault(budget, Coverage()).note(pod.key, None, pod)
        return self.selectors


def _place(namespace: str, key: str, value: str) -> str:
    return f"{namespace}|{key}={value}"


def _selector(budget: Mapping[str, Any] | None) -> Any:
    return None if budget is None else (budget.get("spec") or {}).get("selector")


_FIRST, _LONGEST = SECOND, 15 * 60 * SECOND


class Backoff(NamedTuple):
    """The delay after a failure, and the time of the failure (virtual ns)."""

    delay: int
    since: int


class Failures(NamedTuple):
    """The number of consecutive failures of a Job's pods, and the time of the last one (ns since 1970)."""

    number: int = 0
    last: int = 0


class Selectors:
    """An index of the selectors of one kind's workloads, by a label that they require."""

    def __init__(self, workloads: Iterable[tuple[str, str, LabelSelector]]) -> None:
        """Build the index from (namespace, key, selector)."""
        self._demanding: dict[tuple[str, str, str], list[tuple[str, LabelSelector]]] = {}
        self._others: dict[str, list[tuple[str, LabelSelector]]] = {}
        for namespace, key, selector in workloads:
            demand = next((one for one in selector.requirements if one.op == IN and len(one.values) == 1), None)
            if demand is not None:
                place = (namespace, demand.key, demand.values[0])
                self._demanding.setdefault(place, []).append((key, selector))
            elif not selector.empty:
                self._others.setdefault(namespace, []).append((key, selector))

    def matching(self, namespace: str, labels: Labels) -> list[str]:
        """Return the keys of the workloads of a namespace that select these labels, sorted. Selectors for everything are left out."""
        found = list(self._others.get(namespace, ()))
        for name, value in labels.items():
            found += self._demanding.get((namespace, name, value), ())
        return sorted(key for key, selector in found if selector.matches(labels))


@dataclass(slots=True)
class WorkloadsMemory(State):
    """Back-offs of failed daemon pods, by DaemonSet's UID, observed generation and node; and failures of Jobs by their keys.

    kube: client-go/util/flowcontrol/backoff.go, from 1 s to 15 min; pkg/controller/job/backoff_utils.go @ v1.34.1
    """

    daemons: Copied[dict[str, Backoff]] = field(default_factory=dict)
    jobs: Copied[dict[str, Failures]] = field(default_factory=dict)
    selectors: Derived[dict[str, Selectors]] = field(default_factory=dict)  # by kind, built at the first use
    schedules: Copied[dict[str, int]] = field(default_factory=dict)  # the time of a CronJob's next sync (ns), by key

    def waits_until(self, key: str, now: int) -> int | None:
        """Return the end of a key's back-off (virtual ns), or None."""
        known = self.daemons.get(key)
        if known is None or now - known.since > 2 * _LONGEST or now - known.since >= known.delay:
            return None
        return known.since + known.delay

    def fail(self, key: str, now: int) -> None:
        """Record a failure, which doubles the key's back-off."""
        self.daemons = {k: v for k, v in self.daemons.items() if now - v.since <= 2 * _LONGEST}
        known = self.daemons.get(key)
        delay = _FIRST if known is None else min(2 * known.delay, _LONGEST)
        self.daemons[key] = Backoff(delay, now)
