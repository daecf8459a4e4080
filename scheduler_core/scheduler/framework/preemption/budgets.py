"""Which victims would violate a PodDisruptionBudget.

kube: plugins/defaultpreemption/default_preemption.go (filterPodsWithPDBViolation) @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_core.apimachinery.objects.errors import InvalidObject
from scheduler_core.apimachinery.objects.labels import LabelSelector
from scheduler_core.apimachinery.objects.pod import Pod


@dataclass(frozen=True, slots=True)
class Budget:
    """A PodDisruptionBudget as preemption reads it."""

    namespace: str
    selector: LabelSelector
    allowed: int
    disrupted: frozenset[str]
    ends: bool = False  # a pod that violates this budget is not charged to the next ones

    def covers(self, pod: Pod) -> bool:
        """Return whether evicting the pod would use up one disruption."""
        # A pod in disruptedPods was charged when its eviction was granted; it must not count twice.
        if self.namespace != pod.namespace or pod.name in self.disrupted:
            return False
        return self.selector.matches(pod.labels)


def budgets_of(manifests: list[Mapping[str, Any]], ends: bool = False) -> list[Budget]:
    """Budgets in their order; one with an empty or invalid selector covers nothing and is left out."""
    out = []
    for manifest in manifests:
        raw = (manifest.get("spec") or {}).get("selector")
        if not raw or not (raw.get("matchLabels") or raw.get("matchExpressions")):
            continue
        try:
            selector = LabelSelector.of(raw)
        except (InvalidObject, ValueError):
            continue
        status = manifest.get("status") or {}
        metadata = manifest.get("metadata") or {}
        out.append(
            Budget(
                metadata.get("namespace") or "default",
                selector,
                int(status.get("disruptionsAllowed") or 0),
                frozenset(status.get("disruptedPods") or ()),
                ends,
            )
        )
    return out


def split_by_violation(pods: list[Pod], budgets: list[Budget]) -> tuple[list[Pod], list[Pod]]:
    """(violating, the others), each in the order given; the pods use the budgets up in that order."""
    if not budgets:
        return [], pods
    left = [budget.allowed for budget in budgets]
    violating: list[Pod] = []
    fine: list[Pod] = []
    for pod in pods:
        violated = False
        if pod.labels:
            # No early exit, as in kube until 1.37: every budget that covers the pod is charged, violated or not.
            for i, budget in enumerate(budgets):
                if budget.covers(pod):
                    left[i] -= 1
                    violated = violated or left[i] < 0
                    if violated and budget.ends:
                        break
        (violating if violated else fine).append(pod)
    return violating, fine
