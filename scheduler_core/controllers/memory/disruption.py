"""Which pods each PodDisruptionBudget covers, kept up as pods and budgets change so that nothing has to be searched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scheduler_core.api.store import Store
from scheduler_core.api.watch import WatchEvent
from scheduler_core.objects.labels import IN, LabelSelector
from scheduler_core.objects.pod import Pod
from scheduler_core.state import Derived, State

Pods = dict[str, None]  # keys (namespace/name)
KIND = "PodDisruptionBudget"
_NONE: Mapping[str, LabelSelector] = {}


@dataclass(slots=True)
class DisruptionMemory(State):
    """Derived from the store when it is first asked for: budgets with their selectors, and the pods of each budget.

    `selectors` by where a budget is looked for: under a label (namespace|key=value) that it demands, or else under its namespace.
    """

    selectors: Derived[dict[str, dict[str, LabelSelector]]] = field(default_factory=dict)
    pods: Derived[dict[str, Pods]] = field(default_factory=dict)  # by budget (namespace/name)

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

    def pods_of(self, store: Store, budget: str) -> list[Pod]:
        """The pods that a budget covers, by name."""
        self._read(store)
        found = (store.pod_at(key) for key in sorted(self.pods.get(budget, ())))
        return [pod for pod in found if pod is not None]

    def hear(self, store: Store, event: WatchEvent) -> None:
        """Keeps up with a change of a budget or of a pod."""
        if event.kind == KIND:
            if _selector(event.old) != _selector(event.new):
                self.selectors.clear()
                self.pods.clear()
            return
        old, new, key = event.old_pod, event.new_pod, f"{event.namespace}/{event.name}"
        if old is not None and new is not None and old.labels == new.labels:
            return
        for budget in self.budgets_for(store, old) if old is not None else ():
            self.pods.get(budget, {}).pop(key, None)
        for budget in self.budgets_for(store, new) if new is not None else ():
            self.pods.setdefault(budget, {})[key] = None

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
                self.pods.setdefault(budget, {})[pod.key] = None
        return self.selectors


def _place(namespace: str, key: str, value: str) -> str:
    return f"{namespace}|{key}={value}"


def _selector(budget: Mapping[str, Any] | None) -> Any:
    return None if budget is None else (budget.get("spec") or {}).get("selector")
