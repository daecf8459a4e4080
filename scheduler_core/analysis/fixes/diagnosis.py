"""Diagnosis: the results of the Filter plugins and extenders for a pod on all nodes now, without the queue and without sampling."""

from dataclasses import dataclass

import numpy as np

from scheduler_core.apimachinery.objects import Node, Pod
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.scheduler.extenders.behaviour import answer_of, behaviour_of
from scheduler_core.scheduler.extenders.exchange import Exchange
from scheduler_core.scheduler.extenders.extender import Request, Verb
from scheduler_core.scheduler.extenders.results import ExtenderError, FilterResult, read_filter
from scheduler_core.scheduler.framework import CycleState, Point, Status, unresolvable, unschedulable
from scheduler_core.scheduler.framework.runtime.filters import FilterRunner
from scheduler_core.scheduler.framework.runtime.framework import Framework, Trial
from scheduler_core.scheduler.framework.runtime.points import run_pre_filter
from scheduler_core.world.simulation import Simulation

# Extenders' results for a pod now. External extenders are not called, because their results are unknown.

LEFT_OUT = "node(s) were left out by the extender without a reason"


def extender_refusals(scheduler: Scheduler, pod: Pod, nodes: NodeTable, rows: list[int]) -> dict[int, Status]:
    """Return the extenders' rejections, signed with the urlPrefix, of the rows that pass the plugins."""
    refused: dict[int, Status] = {}
    for extender in scheduler.extenders:
        left = [nodes.nodes[row] for row in rows if row not in refused]
        if not left or not extender.serves(Verb.FILTER, pod):
            continue
        request = Request(pod, tuple(left), names_only=extender.node_cache_capable)
        exchange = Exchange(0, extender, Verb.FILTER, request)
        answer = answer_of(exchange, behaviour_of(scheduler.world.behaviours, extender.url_prefix))
        if answer is None:
            continue
        said = _collect_rejections(Exchange(0, extender, Verb.FILTER, request, answer=answer), left)
        for row in rows:
            status = said.get(nodes.names[row])
            if row not in refused and status is not None:
                refused[row] = status.by(extender.url_prefix)
    return refused


def _collect_rejections(exchange: Exchange, asked: list[Node]) -> dict[str, Status]:
    """Return the statuses of the nodes that the extender filters out. An error applies to all nodes."""
    try:
        result = read_filter(exchange)
    except ExtenderError as error:
        ignorable = exchange.extender.ignorable
        return {} if ignorable else {node.name: unschedulable(str(error)) for node in asked}
    kept = _collect_feasible_names(exchange, result)
    failed, lost = result.failed, result.unresolvable
    return {
        node.name: unresolvable(lost[node.name])
        if node.name in lost
        else unschedulable(failed.get(node.name, LEFT_OUT))
        for node in asked
        if node.name not in kept
    }


def _collect_feasible_names(exchange: Exchange, result: FilterResult) -> set[str]:
    if exchange.extender.node_cache_capable and result.node_names is not None:
        return set(result.node_names)
    return {node.name for node in result.nodes or ()}


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """`refused` maps a row of `nodes` to the first plugin's rejection; `whole` is PreFilter's rejection of all nodes."""

    pod: Pod
    scheduler: Scheduler
    framework: Framework
    nodes: NodeTable
    state: CycleState
    refused: dict[int, Status]
    whole: Status | None = None

    @property
    def feasible(self) -> list[int]:
        if self.whole is not None:
            return []
        return [row for row in range(len(self.nodes)) if row not in self.refused]

    def status_of(self, node: str) -> Status | None:
        """Return the rejection of a node, or None if the node passes or does not exist."""
        row = self.nodes.row(node)
        return None if row is None else self.whole or self.refused.get(row)

    def specify(self, status: Status, text: str, row: int) -> str:
        """Return a rejection's message with a detail that kube omits: the taint."""
        plugin = self.framework.plugin(status.plugin)
        return text if plugin is None else plugin.detail(text, self.pod, self.nodes.nodes[row])


def words_of_others(pod: Pod) -> str:
    """Return the message in a pod's status of a scheduler that is not modeled, or ""."""
    said = pod.condition("PodScheduled") or {}
    return str(said.get("message") or "").rstrip(". ") if said.get("status") == "False" else ""


def scheduler_for(sim: Simulation, pod: Pod) -> Scheduler | None:
    """Return the scheduler with a profile that has the pod's schedulerName, or None."""
    return next((s for s in sim.schedulers if s.responsible_for(pod)), None)


def diagnose(sim: Simulation, pod: Pod) -> Diagnosis | None:
    """Run the filters for a pod. Return None if no profile is responsible for the pod. Call this function only on a fork."""
    scheduler = scheduler_for(sim, pod)
    framework = None if scheduler is None else scheduler.framework_of(pod)
    if scheduler is None or framework is None:
        return None
    scheduler.snapshot = scheduler.cache.update_snapshot(scheduler.snapshot)
    return diagnose_on(scheduler, framework, pod, scheduler.snapshot)


def diagnose_on(scheduler: Scheduler, framework: Framework, pod: Pod, nodes: NodeTable) -> Diagnosis:
    """Run the filters for a pod over given nodes. Nothing else changes."""
    state = CycleState()
    whole, allowed, narrowing = _pre_filter(framework, state, pod, nodes)
    refused: dict[int, Status] = {}
    if whole is None:
        rows = np.arange(len(nodes), dtype=np.intp)
        if allowed is not None:
            absent = unresolvable(f"node(s) didn't satisfy plugin(s) [{' '.join(narrowing)}]").by(narrowing[0])
            refused = {int(row): absent for row in rows if nodes.names[row] not in allowed}
            rows = np.array([row for row in rows if int(row) not in refused], np.intp)
        runner = FilterRunner(framework, scheduler.queue.nominator)
        refused |= runner.refusals(state, pod, nodes, rows)
        if scheduler.extenders:
            left = [row for row in rows.tolist() if row not in refused]
            refused |= extender_refusals(scheduler, pod, nodes, left)
    return Diagnosis(pod, scheduler, framework, nodes, state, refused, whole)


def _pre_filter(
    framework: Framework, state: CycleState, pod: Pod, nodes: NodeTable
) -> tuple[Status | None, frozenset[str] | None, list[str]]:
    """Return the rejection of all nodes, or the remaining nodes (None: all) and the plugins that excluded others."""
    allowed: frozenset[str] | None = None
    narrowing: list[str] = []
    trial = Trial(pod, nodes, state)
    for plugin in framework.at(Point.PRE_FILTER):
        step = run_pre_filter(plugin, trial)
        if step.skipped:
            continue
        if not step.status.ok:
            return step.status, None, []
        if step.node_names is not None:
            allowed = step.node_names if allowed is None else allowed & step.node_names
            narrowing.append(plugin.name)
    return None, allowed, narrowing
