"""How many nodes were looked at before any was scored."""

from __future__ import annotations

from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.world.readonly import SchedulingCycleView


def describe_sampling(cycle: SchedulingCycleView) -> Message | None:
    """None where every node of the snapshot was looked at."""
    nodes, feasible = len(cycle.nodes), 0 if cycle.feasible is None else len(cycle.feasible)
    looked_at = feasible + len(cycle.node_to_status.refused)
    if looked_at >= nodes:
        return None
    return message(
        gettext_noop(
            "Filter looked at %(looked)s of %(nodes)s nodes until %(feasible)s were feasible; only these are scored."
        ),
        looked=f"{looked_at:,}",
        nodes=f"{nodes:,}",
        feasible=f"{feasible:,}",
    )
