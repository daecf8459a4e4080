"""The units of preemption: a pod, or a group that is disrupted as a whole, with all its pods on all nodes.

kube: framework/preemption/types.go (getCrossNodesVictims), framework/preemption/util.go (MoreImportantVictim) @ v1.37.2
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from scheduler_core.apimachinery.objects import NEVER, Pod
from scheduler_core.scheduler.framework.groups import PodGroupState, is_disrupted_whole, priority
from scheduler_core.scheduler.framework.preemption.choice import start_time
from scheduler_core.scheduler.framework.preemption.go_sort import go_sorted

Find = Callable[[str, str], PodGroupState | None]
"""(namespace, name) -> the PodGroup"""


@dataclass(frozen=True, slots=True)
class Unit:
    """Pods that are evicted together. `rank`: 2 of a member of a group, else 1."""

    pods: tuple[Pod, ...]
    priority: int
    rank: int = 1


def units_of(rows: Iterable[Iterable[Pod]], find: Find) -> list[Unit]:
    """Return the units of the pods on some nodes, in the order in which they are met."""
    found: dict[str, Unit] = {}
    for pods in rows:
        for pod in pods:
            group = find(pod.namespace, pod.spec.group) if pod.spec.group else None
            if group is None:
                found.setdefault(pod.key, Unit((pod,), pod.priority, 2 if pod.spec.group else 1))
            elif is_disrupted_whole(group.manifest) and group.scheduled:
                key = f"podgroup/{pod.namespace}/{pod.spec.group}"
                found.setdefault(key, Unit(group.scheduled, priority(group.manifest), 2))
            else:
                found.setdefault(pod.key, Unit((pod,), priority(group.manifest), 2))
    return list(found.values())


def by_importance(units: Iterable[Unit], now: int = NEVER) -> list[Unit]:
    """Return units, the most important first: by priority, groups before pods, larger ones, then those that started earlier."""
    return go_sorted(
        list(units),
        lambda unit: (-unit.priority, -unit.rank, -len(unit.pods), min(start_time(pod, now) for pod in unit.pods)),
    )
