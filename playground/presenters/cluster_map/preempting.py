"""What several panels show of preemption: the evidence of the present cycle, who is nominated where, who has to go."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from playground.presenters.scene import cycle_of, scheduler_of
from scheduler_core.view import Candidate, Evidence, PluginStep, Pod, SchedulingCycleView, WorldView


@dataclass(frozen=True, slots=True)
class Preempting:
    """`ghosts` by node are nominated pods that are not there yet; `victims` are keys of pods; `candidates` names of nodes."""

    ghosts: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    victims: frozenset[str] = frozenset()
    candidates: frozenset[str] = frozenset()
    nominated: str = ""


NONE = Preempting()


def step_of(cycle: SchedulingCycleView | None) -> PluginStep | None:
    """The PostFilter step that kept evidence of a preemption."""
    if cycle is None:
        return None
    return next((step for step in reversed(cycle.steps) if isinstance(step.evidence, Evidence)), None)


def evidence_of(cycle: SchedulingCycleView | None) -> Evidence | None:
    """What the cycle's preemption looked at; None where it did not run."""
    step = step_of(cycle)
    return None if step is None else step.evidence


def chosen_of(evidence: Evidence) -> Candidate | None:
    """The candidate that was chosen."""
    return next((c for c in evidence.candidates if c.node == evidence.nominated), None)


def preempting(sim: WorldView) -> Preempting:
    """What the map shows of it: the present cycle's choice, standing nominations, pods that already end because of one."""
    cycle = cycle_of(sim)
    evidence = evidence_of(cycle)
    best = None if evidence is None else chosen_of(evidence)
    victims = {pod.key for pod in best.victims} if best is not None else set()
    nominator = scheduler_of(sim).queue.nominator
    ghosts: dict[str, list[dict[str, Any]]] = {}
    for node in nominator.nodes():
        ghosts[node] = [_chip(pod) for pod in nominator.on(node)]
    if best is not None and cycle is not None:
        here = ghosts.setdefault(best.node, [])
        placed = sim.store.pod_at(cycle.pod.key)
        if all(chip["key"] != cycle.pod.key for chip in here) and not (placed and placed.node_name):
            here.append(_chip(cycle.pod))
    return Preempting(
        ghosts,
        frozenset(victims),
        frozenset(c.node for c in evidence.candidates) if evidence is not None else frozenset(),
        evidence.nominated if evidence is not None else "",
    )


def ends_by_preemption(pod: Pod) -> bool:
    """Whether a pod is on its way out to make room."""
    condition = pod.condition("DisruptionTarget") if pod.deleting else None
    return condition is not None and condition.get("reason") == "PreemptionByScheduler"


def _chip(pod: Pod) -> dict[str, Any]:
    return {"key": pod.key, "name": pod.name}
