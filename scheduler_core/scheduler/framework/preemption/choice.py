"""The choice among candidates: five criteria in order, then a draw.

kube: framework/preemption/preemption.go (pickOneNodeForPreemption) @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apimachinery.objects.times import NEVER
from scheduler_core.scheduler.framework.preemption.evidence import Candidate, Criterion, Evidence
from scheduler_core.scheduler.framework.preemption.importance import earliest_start

_SHIFT = 1 << 31  # added to each priority, so that more victims of negative priority don't look better

CRITERIA = (
    "fewest PDB violations",
    "lowest highest priority",
    "smallest sum of priorities",
    "fewest victims",
    "latest start of the most important victims",
)


def merits(victims: Sequence[Pod], violations: int, now: int = NEVER) -> tuple[int, ...]:
    """One number for each of the CRITERIA; more is better. The first victim is the most important one."""
    return (
        -violations,
        -victims[0].priority,
        -sum([pod.priority + _SHIFT for pod in victims]),
        -len(victims),
        earliest_start(victims, now),
    )


def choose(evidence: Evidence, draw: Callable[[int], int]) -> Candidate:
    """The best candidate; what each criterion left is kept in the evidence. `draw` decides a last tie, by node name.

    kube leaves the last tie to the order of a Go map.
    """
    # By name, as the draw is a place in this list: without an order of its own the same seed would choose another node.
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
        evidence.draw = draw(len(left))
    return left[evidence.draw or 0]
