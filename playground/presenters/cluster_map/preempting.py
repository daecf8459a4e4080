"""What several panels show of preemption: the evidence of the present cycle, who is nominated where, who has to go."""

from dataclasses import dataclass, field
from typing import NamedTuple

from playground.presenters.scene import PodRef, cycle_of, scheduler_of
from scheduler_core.world.readonly import Candidate, Evidence, PluginStep, Pod, SchedulingCycleView, WorldView


@dataclass(frozen=True, slots=True)
class Preempting:
    """`ghosts` by node are nominated pods that are not there yet; `victims` are keys of pods; `candidates` names of nodes."""

    ghosts: dict[str, list[PodRef]] = field(default_factory=dict)
    victims: frozenset[str] = frozenset()
    candidates: frozenset[str] = frozenset()
    nominated: str = ""


NONE = Preempting()


class Step(NamedTuple):
    """One record of a dry run, or of the choice (`candidate` -1). `number` counts reprieves or criteria.

    `kind`: remove, filter, reprieve, criterion or choice.
    """

    kind: str
    candidate: int
    number: int = 0


def steps_of(evidence: Evidence) -> list[Step]:
    """Each candidate's dry run, each criterion, the choice: what a cursor walks through."""
    out: list[Step] = []
    for index, candidate in enumerate(evidence.candidates):
        out += [Step("remove", index), Step("filter", index)]
        out += [Step("reprieve", index, k) for k in range(len(candidate.reprieves))]
    out += [Step("criterion", -1, number) for number in range(len(evidence.criteria))]
    return [*out, Step("choice", -1)] if evidence.nominated else out


def step_of(cycle: SchedulingCycleView | None) -> PluginStep | None:
    """The PostFilter step that kept evidence of a preemption."""
    if cycle is None:
        return None
    return next((step for step in reversed(cycle.steps) if isinstance(step.evidence, Evidence)), None)


def evidence_of(cycle: SchedulingCycleView | None) -> Evidence | None:
    """Return the evidence of the cycle's preemption; None if preemption did not run."""
    step = step_of(cycle)
    return None if step is None else step.evidence


def chosen_of(evidence: Evidence) -> Candidate | None:
    """The candidate that was chosen."""
    return next((c for c in evidence.candidates if c.node == evidence.nominated), None)


def preempting(sim: WorldView, dry: int = 0) -> Preempting:
    """Return the preemption data for the map: the present cycle's choice, standing nominations, and pods that already end because of one.

    With a cursor `dry` on a record of the present cycle's preemption, include the node and the pods of this record.
    """
    cycle = cycle_of(sim)
    evidence = evidence_of(cycle)
    nominator = scheduler_of(sim).queue.nominator
    ghosts = {node: [_chip(pod) for pod in nominator.on(node)] for node in nominator.nodes()}
    if evidence is None or cycle is None:
        return Preempting(ghosts)
    step = _step_at(evidence, dry)
    best, candidates = chosen_of(evidence), {c.node for c in evidence.candidates}
    victims = {pod.key for pod in best.victims} if best is not None else set()
    if step is not None and step.candidate >= 0:
        best = evidence.candidates[step.candidate]
        candidates, victims = {best.node}, _find_removed_pods(best, step)
    elif step is not None and step.kind == "criterion":
        candidates = {candidate.node for candidate in evidence.criteria[step.number].best}
        best = best if candidates == {evidence.nominated} else None
    if best is not None:
        here = [chip for chip in ghosts.get(best.node, []) if chip["key"] != cycle.pod.key]
        placed = sim.store.pod_at(cycle.pod.key)
        if not (placed and placed.node_name):
            ghosts[best.node] = [*here, _chip(cycle.pod)]
    node = best.node if best is not None else ""
    return Preempting(ghosts, frozenset(victims), frozenset(candidates), node)


def _step_at(evidence: Evidence, dry: int) -> Step | None:
    if not dry:
        return None
    steps = steps_of(evidence)
    return steps[min(dry, len(steps)) - 1] if steps else None


def _find_removed_pods(candidate: Candidate, step: Step) -> set[str]:
    """The pods that are off the candidate's node at a record: those that have not been put back yet, and those that did not fit."""
    tried = step.number + 1 if step.kind == "reprieve" else 0
    return {r.pod for i, r in enumerate(candidate.reprieves) if i >= tried or not r.kept}


def ends_by_preemption(pod: Pod) -> bool:
    """Return whether a pod is ending because of a preemption."""
    condition = pod.condition("DisruptionTarget") if pod.deleting else None
    return condition is not None and condition.get("reason") == "PreemptionByScheduler"


def _chip(pod: Pod) -> PodRef:
    return {"key": pod.key, "name": pod.name}
