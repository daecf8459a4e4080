"""Which pods each PodDisruptionBudget covers, kept up as pods and budgets change so that nothing has to be searched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scheduler_core.apimachinery.objects.labels import IN, LabelSelector
from scheduler_core.apimachinery.objects.ownership import controller_of
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apiserver.store import Store
from scheduler_core.apiserver.watch import WatchEvent
from scheduler_core.base.state import Derived, State

KIND = "PodDisruptionBudget"
_NONE: Mapping[str, LabelSelector] = {}
_NOBODY = ""  # in place of a controller's uid


@dataclass(slots=True)
class Coverage(State):
    """The pods of one budget (namespace/name), each with whether it is healthy; how many are, and how many each controller (uid) has."""

    pods: Derived[dict[str, bool]] = field(default_factory=dict)
    healthy: Derived[int] = 0
    controllers: Derived[dict[str, int]] = field(default_factory=dict)
    references: Derived[dict[str, Mapping[str, Any]]] = field(default_factory=dict)  # by the controller's uid

    @property
    def unmanaged(self) -> int:
        """The number of pods without a controller."""
        return self.controllers.get(_NOBODY, 0)

    def note(self, key: str, old: Pod | None, new: Pod | None) -> None:
        """Follows a pod; None where it is not covered, before or now."""
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
    """Derived from the store when it is first asked for: budgets with their selectors, and what each covers.

    `selectors` by where a budget is looked for: under a label (namespace|key=value) that it demands, or else under its namespace.
    """

    selectors: Derived[dict[str, dict[str, LabelSelector]]] = field(default_factory=dict)
    covered: Derived[dict[str, Coverage]] = field(default_factory=dict)  # by budget (namespace/name)

    def budgets_for(self, store: Store, pod: Pod) -> list[str]:
        """Keys of the budgets that cover a pod, by name."""
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
        """The pods that a budget covers, by name."""
        found = (store.pod_at(key) for key in sorted(self.coverage(store, budget).pods))
        return [pod for pod in found if pod is not None]

    def hear(self, store: Store, event: WatchEvent) -> None:
        """Keeps up with a change of a budget or of a pod."""
        if event.kind == KIND:
            if _selector(event.old) != _selector(event.new):
                self.selectors.clear()
                self.covered.clear()
            return
        if not self.selectors:
            return  # the store is read when somebody asks
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
