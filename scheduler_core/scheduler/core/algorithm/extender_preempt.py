"""The extenders' part in preemption, one after the other: each may drop nodes and victims, or name others.

kube: framework/preemption/preemption.go (callExtenders), extender.go (ProcessPreemption) @ v1.34.1
"""

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.core.algorithm import extender_calls, post_filter
from scheduler_core.scheduler.core.algorithm.algorithm_state import NEXT, SAME, AlgorithmState, StepResult
from scheduler_core.scheduler.core.algorithm.extender_calls import extension_of
from scheduler_core.scheduler.core.cycles.phases import PhaseResult
from scheduler_core.scheduler.core.cycles.scheduling_cycle import SchedulingCycle
from scheduler_core.scheduler.extenders.exchange import Effect, Exchange
from scheduler_core.scheduler.extenders.extender import NodeVictims, Request, Verb
from scheduler_core.scheduler.extenders.results import ExtenderError, read_preempt
from scheduler_core.scheduler.framework.runtime.framework import Framework


def prepare(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> PhaseResult | None:
    """Set the extenders to call; at least one, because the plugin waited for one."""
    cycle.run = extender_calls.serving(algorithm_state.extenders, Verb.PREEMPT, cycle)
    return None


def run(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> StepResult:
    """Call one extender, or process its answer."""
    extension = extension_of(cycle)
    extender = algorithm_state.extenders[cycle.run[cycle.index]]
    if not extension.open:
        request = Request(cycle.pod, victims=extension.victims, names_only=extender.node_cache_capable)
        extender_calls.ask(extension, cycle, extender, Verb.PREEMPT, request)
        return None, SAME
    exchange = extension.current()
    effect = Effect(ignored=extender.ignorable)
    try:
        victims = _victims(exchange, cycle.nodes)
        effect = Effect(
            candidates=tuple((one.node, tuple(pod.key for pod in one.pods), one.violations) for one in victims)
        )
    except ExtenderError as wrong:
        step = extender_calls.take(extension, cycle, effect, str(wrong))
        if extender.ignorable:
            return step, NEXT
        return step, post_filter.resume(cycle, framework, algorithm_state, str(wrong))
    step = extender_calls.take(extension, cycle, effect)
    bare = next((one.node for one in victims if not one.pods), None)
    if bare is not None and not extender.ignorable:
        problem = f'expected at least one victim pod on node "{bare}"'
        return step, post_filter.resume(cycle, framework, algorithm_state, problem)
    left = extension.victims = tuple(one for one in victims if one.pods)
    if left and cycle.index + 1 < len(cycle.run):
        return step, NEXT
    return step, post_filter.resume(cycle, framework, algorithm_state)


def leave(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> PhaseResult | None:
    """Resume PostFilter with the previous candidates, because the last extender failed and is ignorable."""
    return post_filter.resume(cycle, framework, algorithm_state)


def _victims(exchange: Exchange, nodes: NodeTable) -> tuple[NodeVictims, ...]:
    """Return the answer with its pods, looked up on their nodes. Raise ExtenderError."""
    out = []
    for name, meta in read_preempt(exchange).items():
        row = nodes.row(name)
        if row is None:
            raise ExtenderError(f'nodeinfo not found for node name "{name}"')
        there: dict[str, Pod] = {}
        for pod in nodes.pods[row]:
            there.setdefault(pod.uid, pod)
        for uid in meta.uids:
            if uid not in there:
                raise ExtenderError(
                    f"extender: {exchange.extender.url_prefix} claims to preempt pod (UID: &{{{uid}}}) "
                    f"on node: {name}, but the pod is not found on that node"
                )
        out.append(NodeVictims(name, tuple([there[uid] for uid in meta.uids]), meta.violations))
    return tuple(out)
