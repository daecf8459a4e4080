"""The choice among candidates: five criteria in order, then a draw.

kube: framework/preemption/preemption.go (pickOneNodeForPreemption) @ v1.34.1
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from scheduler_core.apimachinery.objects import NEVER, InvalidObject, LabelSelector, Pod
from scheduler_core.scheduler.framework.preemption.evidence import Candidate, Criterion, Evidence
from scheduler_core.scheduler.framework.preemption.go_sort import go_sorted

# The importance of pods: the higher priority, then the earlier start.
# kube: util/utils.go (MoreImportantPod, GetPodStartTime, GetEarliestPodStartTime) @ v1.34.1


def start_time(pod: Pod, now: int = NEVER) -> int:
    return now if pod.start_time is None else pod.start_time


def by_importance(pods: Iterable[Pod], now: int = NEVER) -> list[Pod]:
    """Sort the pods, the most important first; equals (same priority and start time) are in the order of kube's unstable sort."""
    return go_sorted(list(pods), lambda pod: (-pod.priority, start_time(pod, now)))


def earliest_start(victims: Sequence[Pod], now: int = NEVER) -> int:
    """Return the earliest start among the victims of the highest priority."""
    highest = max([pod.priority for pod in victims])
    return min([start_time(pod, now) for pod in victims if pod.priority == highest])


# The victims that would violate a PodDisruptionBudget.
# kube: plugins/defaultpreemption/default_preemption.go (filterPodsWithPDBViolation) @ v1.34.1


@dataclass(frozen=True, slots=True)
class Budget:
    """A PodDisruptionBudget as preemption reads it."""

    namespace: str
    selector: LabelSelector
    allowed: int
    disrupted: frozenset[str]
    ends: bool = False  # a pod that violates this budget is not charged to the next ones

    def covers(self, pod: Pod) -> bool:
        """Return whether evicting the pod would use one disruption of the budget."""
        # A pod in disruptedPods was charged when its eviction was granted; it must not count twice.
        if self.namespace != pod.namespace or pod.name in self.disrupted:
            return False
        return self.selector.matches(pod.labels)


def budgets_of(manifests: list[Mapping[str, Any]], ends: bool = False) -> list[Budget]:
    """Return the budgets in order; one with an empty or invalid selector covers nothing and is left out."""
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
    """Return (violating, others), each in the given order; the pods use up the budgets in that order."""
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


_SHIFT = 1 << 31  # added to each priority, so that more victims of negative priority don't look better

CRITERIA = (
    *("fewest PDB violations", "lowest highest priority", "smallest sum of priorities", "fewest victims"),
    *("latest start of the most important victims",),
)


def merits(victims: Sequence[Pod], violations: int, now: int = NEVER) -> tuple[int, ...]:
    """Return one number for each of the CRITERIA; more is better. The first victim is the most important one."""
    return (
        -violations,
        -victims[0].priority,
        -sum([pod.priority + _SHIFT for pod in victims]),
        -len(victims),
        earliest_start(victims, now),
    )


def choose(evidence: Evidence, draw: Callable[..., int]) -> Candidate:
    """Return the best candidate. The evidence keeps the candidates left by each criterion. `draw` breaks a last tie, by node name.

    In kube the last tie depends on the order of a Go map.
    """
    # By name, because the draw is an index into this list: the same seed must choose the same node.
    left = tuple(sorted(evidence.remaining, key=attrgetter("node")))
    for number, name in enumerate(CRITERIA):
        if len(left) == 1:
            break
        values = [candidate.merits[number] for candidate in left]
        best = max(values)
        compared = left
        if min(values) != best:
            left = tuple([candidate for candidate, value in zip(left, values, strict=True) if value == best])
        evidence.criteria.append(Criterion(name, number, compared, left))
    if len(left) > 1:
        evidence.draw = draw(len(left), [each.node for each in left])
    return left[evidence.draw or 0]
