"""A drain of a node: which pods it still waits for, and why."""

from __future__ import annotations

from typing import Any

from playground.presenters.amounts import clock
from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.view import WorldView

MOST_PODS = 30


def draining(sim: WorldView, node: str) -> dict[str, Any] | None:
    """The last drain of a node; None where there was none. `state`: going, done or failed."""
    drain = sim.surroundings.nodes.drains.get(node)
    if drain is None:
        return None
    left = [pod for pod in drain.pods if not pod.done]
    if drain.ended is None:
        state, said = "going", _going(len(left), len(drain.pods))
    elif drain.outcome:
        state, said = "failed", message(gettext_noop("The drain ended: it did not get all pods away."))
    else:
        state, said = "done", message(gettext_noop("The node is drained."))
    return {
        "state": state,
        "said": said,
        "since": clock(drain.since),
        "outcome": drain.outcome,
        "warnings": list(drain.warnings),
        "pods": [
            {"key": pod.key, "ends": pod.evicted, "tries": pod.tries, "refusal": pod.refusal}
            for pod in left[:MOST_PODS]
        ],
        "more": max(len(left) - MOST_PODS, 0),
    }


def _going(left: int, all_: int) -> Message:
    return message(gettext_noop("Draining: %(left)s of %(all)s pods are still to go."), left=left, all=all_)
