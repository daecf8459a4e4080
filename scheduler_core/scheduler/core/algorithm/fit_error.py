"""FitError: why a pod fits on no node, in kube's exact words.

kube: framework/types.go (FitError.Error), schedule_one.go @ v1.34.1
"""

from __future__ import annotations

from collections import Counter

from scheduler_core.scheduler.core.cycles.extension import Extension
from scheduler_core.scheduler.core.cycles.scheduling_cycle import SchedulingCycle

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
    """Adds what extenders said of nodes that are not there; those that they left out silently count as absent.

    kube: framework/types.go (FitError.Error): as many nodes are absent as there are more nodes than statuses
    """
    unknown = [status for name, status in extension.statuses.items() if cycle.nodes.row(name) is None]
    for status in unknown:
        counts.update(status.reasons)
    explicit = [
        number for status, number in cycle.node_to_status.counted() if status.reasons and status is not cycle.absent
    ]
    for reason in cycle.absent.reasons:
        counts[reason] = max(len(cycle.nodes) - sum(explicit) - len(unknown), 0)
        if not counts[reason]:
            del counts[reason]


def fit_error(cycle: SchedulingCycle) -> str:
    """The whole message: `0/3 nodes are available: 1 Insufficient cpu, 2 node(s) ....`"""
    text = f"0/{len(cycle.nodes)} nodes are available:"
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
    """The message of a refusal by Reserve or Permit: one node, its reasons."""
    histogram = sorted(f"1 {reason}" for reason in reasons)
    return "0/1 nodes are available:" + (f" {', '.join(histogram)}." if histogram else "")
