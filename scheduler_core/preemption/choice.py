"""The choice among candidates: five criteria in order, then a draw.

kube: framework/preemption/preemption.go (pickOneNodeForPreemption) @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Callable

from scheduler_core.preemption.evidence import Candidate, Criterion, Evidence
from scheduler_core.preemption.importance import earliest_start

_SHIFT = 1 << 31  # added to each priority, so that more victims of negative priority don't look better

CRITERIA: tuple[tuple[str, Callable[[Candidate], int]], ...] = (
    ("fewest PDB violations", lambda c: -c.violations),
    ("lowest highest priority", lambda c: -c.victims[0].priority),
    ("smallest sum of priorities", lambda c: -sum(pod.priority + _SHIFT for pod in c.victims)),
    ("fewest victims", lambda c: -len(c.victims)),
    ("latest start of the most important victims", lambda c: earliest_start(c.victims)),
)


def choose(evidence: Evidence, draw: Callable[[int], int]) -> Candidate:
    """The best candidate; what each criterion left is kept in the evidence. `draw` decides a last tie, by node name.

    kube leaves the last tie to the order of a Go map.
    """
    left = sorted(evidence.candidates, key=lambda candidate: candidate.node)
    for name, score in CRITERIA:
        if len(left) == 1:
            break
        scored = [(candidate, score(candidate)) for candidate in left]
        best = max(value for _, value in scored)
        left = [candidate for candidate, value in scored if value == best]
        evidence.criteria.append(
            Criterion(
                name,
                tuple((candidate.node, value) for candidate, value in scored),
                tuple(candidate.node for candidate in left),
            )
        )
    if len(left) > 1:
        evidence.draw = draw(len(left))
    return left[evidence.draw or 0]
