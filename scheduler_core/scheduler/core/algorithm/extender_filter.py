"""The extenders' filters, one after the other: each is called with the nodes that the previous extender kept.

An extender may return statuses of nodes that were not in its request, so statuses are kept by node name (Extension.statuses). They are
copied to the rows of the snapshot (NodeToStatus) only if no node is left.

kube: schedule_one.go (findNodesThatFitPod, evaluateNominatedNode, findNodesThatPassExtenders), extender.go (Filter) @ v1.34.1
"""

import numpy as np

from scheduler_core.scheduler.cache.what_if import with_new_rows
from scheduler_core.scheduler.core.algorithm import extender_calls, search
from scheduler_core.scheduler.core.algorithm.algorithm_state import (
    NEXT,
    NOBODY,
    SAME,
    AlgorithmState,
    StepResult,
    internal_error,
)
from scheduler_core.scheduler.core.algorithm.extender_calls import extension_of
from scheduler_core.scheduler.core.cycles.phases import Extension, FeasibleNode, PhaseResult
from scheduler_core.scheduler.core.cycles.scheduling_cycle import SchedulingCycle
from scheduler_core.scheduler.extenders.exchange import Effect, Exchange
from scheduler_core.scheduler.extenders.extender import EXTENDER_NAME, Request, Verb
from scheduler_core.scheduler.extenders.results import ExtenderError, FilterResult, read_filter
from scheduler_core.scheduler.framework import Rows, Status, Verdicts, unresolvable, unschedulable
from scheduler_core.scheduler.framework.runtime.framework import Framework


def prepare(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> PhaseResult | None:
    """Start with the nodes that passed the plugins."""
    assert cycle.feasible is not None and cycle.search is not None
    extension = extension_of(cycle)
    rows = cycle.feasible.tolist()
    extension.kept = tuple([FeasibleNode(cycle.nodes.nodes[row], row) for row in rows])
    extension.filtered = len(rows)
    extension.nominated = cycle.search.own_nomination
    cycle.run = extender_calls.serving(algorithm_state.extenders, Verb.FILTER, cycle)
    return None


def run(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> StepResult:
    """Call one extender, or process its answer."""
    extension = extension_of(cycle)
    extender = algorithm_state.extenders[cycle.run[cycle.index]]
    if not extension.open:
        nodes = tuple([kept.node for kept in extension.kept])
        request = Request(cycle.pod, nodes, names_only=extender.node_cache_capable)
        extender_calls.ask(extension, cycle, extender, Verb.FILTER, request)
        return None, SAME
    exchange = extension.current()
    stage = search.OF_NOMINATED if extension.nominated else ""
    try:
        result = read_filter(exchange)
        kept = _list_remaining(extension, exchange, result)
    except ExtenderError as problem:
        effect = Effect(ignored=extender.ignorable)
        step = extender_calls.take(extension, cycle, effect, str(problem), stage=stage)
        if extender.ignorable:
            return step, NEXT
        if extension.nominated:
            extension.kept = ()
            return step, NOBODY  # kube logs the error, and evaluates all nodes
        return step, internal_error(cycle, str(problem))
    failed = {name: unschedulable(text) for name, text in result.failed.items()}
    named = failed | {name: unresolvable(text) for name, text in result.unresolvable.items()}
    extension.statuses.update(named)
    effect = _effect(exchange, kept, named)
    rows, verdicts = _verdicts(cycle, extension.kept, kept, named)
    extension.kept = kept
    step = extender_calls.take(extension, cycle, effect, rows=rows, verdicts=verdicts, stage=stage)
    return step, NEXT if kept else NOBODY


def leave(cycle: SchedulingCycle, framework: Framework, algorithm_state: AlgorithmState) -> PhaseResult | None:
    """End the phase after the last extender, or when no node is left."""
    extension = extension_of(cycle)
    if extension.nominated and not extension.kept:
        extension.lost = True
        return PhaseResult.ALL_NODES
    # An extender registers no events. With its name among the plugins, any event may bring the pod back from the unschedulable ones.
    if len(extension.kept) != extension.filtered and not extension.nominated:
        cycle.unschedulable_plugins = tuple(sorted({*cycle.unschedulable_plugins, EXTENDER_NAME}))
    # The rows of the remaining nodes; nodes that an extender modified get new rows.
    new = [kept.node for kept in extension.kept if kept.row < 0]
    following = len(cycle.nodes)
    if new:
        cycle.nodes = with_new_rows(cycle.nodes, new)
    rows = []
    for kept in extension.kept:
        rows.append(following if kept.row < 0 else kept.row)
        following += kept.row < 0
    cycle.feasible = np.array(rows, np.intp)
    search.write_extended(cycle, extension)
    if not extension.kept:
        return PhaseResult.REFUSED
    return search.conclude(cycle, framework, algorithm_state)


def _list_remaining(extension: Extension, exchange: Exchange, result: FilterResult) -> tuple[FeasibleNode, ...]:
    """Return the remaining nodes in the order of the answer. Raise ExtenderError if the answer names an unknown node."""
    extender = exchange.extender
    if extender.node_cache_capable and result.node_names is not None:
        known = {kept.node.name: kept for kept in extension.kept}
        for name in result.node_names:
            if name not in known:
                raise ExtenderError(
                    f'extender "{extender.url_prefix}" claims a filtered node "{name}" '
                    "which is not found in the input node list"
                )
        return tuple([known[name] for name in result.node_names])
    return tuple([FeasibleNode(node, -1) for node in result.nodes or ()])


def _effect(exchange: Exchange, kept: tuple[FeasibleNode, ...], named: dict[str, Status]) -> Effect:
    left = {one.node.name for one in kept}
    return Effect(
        kept=tuple([one.node.name for one in kept]),
        removed=tuple(sorted({node.name for node in exchange.request.nodes} - left)),
        statuses=tuple((name, status.code.kube_name, status.message) for name, status in sorted(named.items())),
    )


def _verdicts(
    cycle: SchedulingCycle, before: tuple[FeasibleNode, ...], after: tuple[FeasibleNode, ...], named: dict[str, Status]
) -> tuple[Rows, Verdicts]:
    """Return the extender's verdicts on snapshot rows: the rows sent to it, and others that it names."""
    left = {kept.node.name for kept in after}
    asked = [kept.node.name for kept in before]
    names = dict.fromkeys((*asked, *named))
    rows = {name: row for name in names if (row := cycle.nodes.row(name)) is not None}
    statuses: dict[Status, int] = {}
    reasons = []
    for name in rows:
        status = named.get(name, None if name in left else search.SILENT)
        reasons.append(-1 if status is None else statuses.setdefault(status, len(statuses)))
    return np.array(list(rows.values()), np.intp), Verdicts(np.array(reasons, np.int32), tuple(statuses))
