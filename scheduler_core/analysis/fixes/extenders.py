"""What extenders would say of a pod now. Those outside are not asked: nothing is known of their answers."""

from __future__ import annotations

from scheduler_core.apimachinery.objects.node import Node
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.scheduler.extenders.behaviour import answer_of, behaviour_of
from scheduler_core.scheduler.extenders.exchange import Exchange
from scheduler_core.scheduler.extenders.extender import Verb
from scheduler_core.scheduler.extenders.request import Request
from scheduler_core.scheduler.extenders.results import ExtenderError, FilterResult, read_filter
from scheduler_core.scheduler.framework.status import Status, unresolvable, unschedulable

LEFT_OUT = "node(s) were left out by the extender without a reason"


def extender_refusals(scheduler: Scheduler, pod: Pod, nodes: NodeTable, rows: list[int]) -> dict[int, Status]:
    """Return the refusals by extenders, signed with the urlPrefix, of those rows that the plugins leave."""
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
    """Return the statuses of the nodes that the extender filters out; an error applies to all nodes."""
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
