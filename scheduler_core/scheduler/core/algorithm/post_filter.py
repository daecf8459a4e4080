"""PostFilter: a second chance for a pod that fits on no node, such as preemption.

If extenders take part in preemption, a plugin that has found victims waits for the extenders' answers (extender_preempt.py).

kube: framework/runtime/framework.go (RunPostFilterPlugins) @ v1.34.1
"""

from collections import Counter

from scheduler_core.base.releases import Behavior
from scheduler_core.scheduler.core.algorithm.algorithm_state import NEXT, NOBODY, AlgorithmState, StepResult, Turn
from scheduler_core.scheduler.core.algorithm.extender_calls import extension_of
from scheduler_core.scheduler.core.cycles.phases import Extension, PhaseResult
from scheduler_core.scheduler.core.cycles.scheduling_cycle import SchedulingCycle
from scheduler_core.scheduler.extenders.extender import NodeVictims, Verb
from scheduler_core.scheduler.framework.plugin import Failure, Plugin, Point, PostFilterResult
from scheduler_core.scheduler.framework.runtime.filters import FilterRunner
from scheduler_core.scheduler.framework.runtime.framework import Framework
from scheduler_core.scheduler.framework.runtime.points import run_nominate, run_post_filter
from scheduler_core.scheduler.framework.status import Code, Status

# FitError: the reasons why a pod fits on no node, with kube's exact message.
# kube: framework/types.go (FitError.Error), schedule_one.go @ v1.34.1

NO_NODES = "no nodes available to schedule pods"


def refusals(cycle: SchedulingCycle) -> Counter[str]:
    """Count the refused nodes by reason; a node with two reasons counts for both."""
    counts: Counter[str] = Counter()
    for status, number in cycle.node_to_status.counted():
        for text in status.reasons:
            counts[text] += number
    if cycle.extension is not None:
        _count_by_name(cycle, cycle.extension, counts)
    return counts


def _count_by_name(cycle: SchedulingCycle, extension: Extension, counts: Counter[str]) -> None:
    """Add the extenders' statuses of unknown nodes. Nodes that extenders left out without a status count as absent.

    kube: framework/types.go (FitError.Error): as many nodes are absent as there are more nodes than statuses
    """
    unknown = [status for name, status in extension.statuses.items() if cycle.nodes.row(name) is None]
    for status in unknown:
        counts.update(status.reasons)
    explicit = [
        number for status, number in cycle.node_to_status.counted() if status.reasons and status is not cycle.absent
    ]
    for reason in cycle.absent.reasons:
        counts[reason] = max(cycle.size - sum(explicit) - len(unknown), 0)
        if not counts[reason]:
            del counts[reason]


def fit_error(cycle: SchedulingCycle) -> str:
    """Return the complete message: `0/3 nodes are available: 1 Insufficient cpu, 2 node(s) ....`"""
    text = f"0/{cycle.size} nodes are available:"
    if not cycle.pre_filter_status.ok:
        text += f" {cycle.pre_filter_status.message}."
    else:
        histogram = sorted(f"{count} {reason}" for reason, count in refusals(cycle).items())
        if histogram:
            text += f" {', '.join(histogram)}."
    if cycle.post_filter.message:
        text += f" {cycle.post_filter.message}"
    return text


def single_node_fit_error(reasons: tuple[str, ...]) -> str:
    """Return the message of a rejection by Reserve or Permit: one node with its reasons."""
    histogram = sorted(f"1 {reason}" for reason in reasons)
    return "0/1 nodes are available:" + (f" {', '.join(histogram)}." if histogram else "")


def prepare(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> PhaseResult | None:
    """Resume the phase after the waiting plugin, if the extenders have answered."""
    extension = cycle.extension
    if extension is not None and extension.resumed:
        extension.resumed = False
        cycle.index = extension.asking + 1
        if cycle.index >= len(framework.at(Point.POST_FILTER)):
            return leave(cycle, framework, algorithm_state)
    return None


def run(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> StepResult:
    """Run one plugin's PostFilter. The next plugin runs only if the status is Unschedulable."""
    plugin = framework.at(Point.POST_FILTER)[cycle.run[cycle.index]]
    step, result = run_post_filter(plugin, cycle, _failure(cycle, framework, algorithm_state))
    if step.status.code is Code.WAIT:
        extension = extension_of(cycle)
        extension.asking, extension.evidence = cycle.index, result.evidence
        extension.victims = tuple(
            NodeVictims(candidate.node, candidate.victims, candidate.violations)
            for candidate in result.evidence.candidates
        )
        return step, PhaseResult.EXTENDED
    return step, _settle(cycle, plugin, step.status, result)


def resume(
    cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState, problem: str = ""
) -> PhaseResult:
    """Let the waiting plugin choose a candidate after the extenders have answered, or after one of them has failed (`problem`)."""
    extension = extension_of(cycle)
    plugin = framework.at(Point.POST_FILTER)[extension.asking]
    failure = _failure(cycle, framework, algorithm_state)
    left = [(victims.node, victims.pods, victims.violations) for victims in extension.victims]
    step, result = run_nominate(plugin, cycle, failure, extension.evidence, problem or left)
    turn = _settle(cycle, plugin, step.status, result)
    extension.resumed = True
    if turn is NEXT:
        return PhaseResult.RESUMED
    leave(cycle, framework, algorithm_state)
    return PhaseResult.REFUSED


def _failure(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> Failure:
    extenders = algorithm_state.extenders
    return Failure(
        cycle.node_to_status.codes(len(cycle.nodes)),
        FilterRunner(framework, algorithm_state.nominator),
        algorithm_state.nominator.counted,
        algorithm_state.nominator.nodes,
        algorithm_state.draw_preemption,
        algorithm_state.epoch + cycle.t,
        bool(extenders) and any(extender.serves(Verb.PREEMPT, cycle.pod) for extender in extenders),
    )


def _settle(cycle: SchedulingCycle, plugin: Plugin, status: Status, result: PostFilterResult) -> Turn:
    """Apply a plugin's answer to the cycle and return the next turn."""
    if status.rejected and status.code is not Code.UNRESOLVABLE:
        reasons = (*cycle.post_filter.reasons, *status.reasons)
        cycle.post_filter = Status(Code.UNSCHEDULABLE, reasons, cycle.post_filter.plugin or plugin.name)
        if result.nominated_node is not None:
            cycle.nomination = result.nominated_node
        return NEXT
    cycle.post_filter = status
    cycle.nomination = result.nominated_node if status.ok or status.rejected else None
    if status.ok:
        cycle.preemption = result
    return NOBODY


def leave(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> PhaseResult | None:
    """End the phase. The pod is unschedulable, even if PostFilter has nominated it."""
    if Behavior.FAILURE_CLEARS_NOMINATION in framework.behaviors and not framework.has(Point.POST_FILTER):
        cycle.nomination = ""
    message = fit_error(cycle)
    cycle.failure = Status(Code.UNSCHEDULABLE, (message,))
    cycle.outcome, cycle.message = "unschedulable", message
    return PhaseResult.REFUSED
