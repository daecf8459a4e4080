"""Refusals of a diagnosis by reason: near misses first, then the reasons of most nodes."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from scheduler_core.analysis.explain.explanation import GivenReason
from scheduler_core.analysis.fixes.diagnosis import Diagnosis
from scheduler_core.apimachinery.objects.affinity import misses
from scheduler_core.apimachinery.objects.node import Node
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework.plugin import Evidence, Point, Rows
from scheduler_core.scheduler.framework.reasons import ERROR, LEFT_OUT, REFUSED, RefusalReason, read_reason
from scheduler_core.scheduler.framework.runtime.framework import Framework, Trial
from scheduler_core.scheduler.framework.runtime.points import run_filter
from scheduler_core.scheduler.framework.status import Code, Status
from scheduler_core.scheduler.plugins.helper.fixes import GROUP_LABELS

# Groups of nodes: by the provider's label, else by the name without its number.

ENOUGH = 8  # up to this number, nodes are listed by name
_NUMBERS = "0123456789"


def group_of(node: Node) -> str:
    for label in GROUP_LABELS:
        if label in node.labels:
            return f"{label}={node.labels[label]}"
    stem = node.name.rstrip(_NUMBERS)
    return f"{stem}*" if stem and stem != node.name else node.name


def count_by_group(nodes: NodeTable, rows: Rows) -> tuple[tuple[str, int], ...]:
    """Return the number of rows in each group, the largest first. Return () if there are few rows, or only groups of one row."""
    if len(rows) <= ENOUGH:
        return ()
    counts = Counter(group_of(nodes.nodes[row]) for row in rows.tolist())
    largest = sorted(counts.items(), key=lambda each: (-each[1], each[0]))[:ENOUGH]
    return () if largest[0][1] == 1 else tuple(largest)


EXTENDER = "Extender"
SELECTION = "NodeAffinity"
COMPARED = 40  # nodes of a reason that are checked with all plugins
LOOKED_AT = 500  # nodes of a reason that are checked against the pod's selection
_LEFT_OUT = "node(s) didn't satisfy plugin(s) ["


def classify_reason(framework: Framework, status: Status, text: str) -> RefusalReason:
    """Return a reason's code, according to its plugin."""
    plugin = framework.plugin(status.plugin)
    if status.code is Code.ERROR:
        return RefusalReason(ERROR, {})
    if text.startswith(_LEFT_OUT):  # the framework's message for nodes that PreFilter excluded
        return RefusalReason(LEFT_OUT, {})
    return RefusalReason(REFUSED, {}) if plugin is None else read_reason(plugin.reasons, text)


def build_reason(
    status: Status, text: str, said: RefusalReason, nodes: tuple[str, ...], evidence: Evidence | None = None
) -> GivenReason:
    """Return a reason in its explained form. For an extender, the address is the plugin."""
    owner = EXTENDER if "://" in status.plugin else status.plugin
    more, final = {**said.values, **(evidence or {})}, status.code is Code.UNRESOLVABLE
    return GivenReason(f"{owner}/{said.code}", status.plugin, text, nodes, len(nodes), evidence=more, final=final)


def refusals(diagnosis: Diagnosis) -> tuple[tuple[GivenReason, ...], bool]:
    """Return the reasons, and whether the pod waits for a claim, regardless of nodes."""
    by_reason: dict[tuple[str, str, str], tuple[list[Status], list[int]]] = {}
    if diagnosis.whole is not None:
        everywhere = list(range(len(diagnosis.nodes)))
        for text in diagnosis.whole.reasons:
            by_reason[diagnosis.whole.plugin, text, text] = ([diagnosis.whole], everywhere)
    for row, status in diagnosis.refused.items():
        for text in status.reasons:
            detail = diagnosis.specify(status, text, row)
            statuses, rows = by_reason.setdefault((status.plugin, text, detail), ([status], []))
            rows.append(row)
            if statuses[-1] is not status:
                statuses.append(status)
    waits = False
    out = []
    for (_, text, detail), (statuses, rows) in by_reason.items():
        status = next((each for each in statuses if each.code is not Code.UNRESOLVABLE), statuses[0])
        said = classify_reason(diagnosis.framework, status, detail)
        waits = waits or (diagnosis.whole is not None and said.waits_for_claim)
        out.append(_build_grouped_reason(diagnosis, status, text, said, np.array(sorted(rows), np.intp)))
    meant = _build_relevance_test(diagnosis, out)
    near = _measure_nearness(diagnosis, out)

    def order(reason: GivenReason) -> tuple[Any, ...]:
        """Return the sort key: nodes without a resource that others offer last, near misses first, then reasons that others can resolve."""
        first = (not meant(reason), _is_of_others(diagnosis, reason), near(reason), "near" not in reason.evidence)
        return (*first, reason.final, -reason.count, reason.code, reason.message)

    return tuple(sorted(out, key=order)), waits


def _is_of_others(diagnosis: Diagnosis, reason: GivenReason) -> bool:
    """Return whether the reason's nodes offer none of a resource that other nodes offer."""
    amounts = diagnosis.nodes.allocatable
    column = diagnosis.nodes.resources.columns.get(str(reason.evidence.get("resource")), amounts.shape[1])
    return reason.evidence.get("most") == 0 and column < amounts.shape[1] and bool(amounts[:, column].any())


def _measure_nearness(diagnosis: Diagnosis, reasons: list[GivenReason]) -> Callable[[GivenReason], int]:
    """Return a measure of reasons: how many plugins reject the reason's node that is nearest to feasible."""
    if len(reasons) < 2 or diagnosis.whole is not None:
        return lambda reason: 0
    nodes = diagnosis.nodes
    known = {nodes.row(name) for reason in reasons for name in reason.nodes[:COMPARED]}
    rows = np.array(sorted(row for row in known if row is not None), np.intp)
    trial = Trial(diagnosis.pod, nodes, diagnosis.state)
    counts = np.zeros(len(nodes), np.int64)
    for plugin in diagnosis.framework.at(Point.FILTER):
        if plugin.name in diagnosis.state.skip_filter:
            continue
        _, refused = run_filter(plugin, trial, diagnosis.state, nodes, rows)
        if refused is not None:
            counts[rows[refused]] += 1
    return lambda reason: min((int(counts[nodes.rows[name]]) for name in reason.nodes[:COMPARED]), default=0)


def _build_relevance_test(diagnosis: Diagnosis, reasons: list[GivenReason]) -> Callable[[GivenReason], bool]:
    """Return a test for reasons that cover nodes the pod selects. If no reason does, only the selection passes."""
    pod, nodes = diagnosis.pod, diagnosis.nodes
    if len(reasons) < 2 or not (pod.spec.node_selector or pod.spec.node_affinity_required):
        return lambda reason: True
    selected = {
        reason.code
        for reason in reasons
        if reason.plugin != SELECTION
        and any(
            not misses(pod, nodes.nodes[row])
            for name in reason.nodes[:LOOKED_AT]
            if (row := nodes.row(name)) is not None
        )
    }
    return lambda reason: reason.code in selected if selected else reason.plugin == SELECTION


def _build_grouped_reason(
    diagnosis: Diagnosis, status: Status, text: str, said: RefusalReason, rows: Rows
) -> GivenReason:
    nodes, plugin = diagnosis.nodes, diagnosis.framework.plugin(status.plugin)
    found = {} if plugin is None else plugin.evidence(diagnosis.state, diagnosis.pod, nodes, rows, said)
    reason = build_reason(status, text, said, tuple(nodes.names[row] for row in rows.tolist()), found)
    return replace(reason, groups=count_by_group(nodes, rows))
