"""Why not here, in words: every Filter plugin's verdict on a pod on one node, and its points where it is feasible."""

from __future__ import annotations

from typing import Any

from playground.presenters.plain import in_plain_words
from scheduler_core.analysis.inspection import WhyNot

MOST_BEST = 3


def present_why_not(found: WhyNot) -> dict[str, Any]:
    """JSON data for the page; `first`: the refusal that an attempt would end the node with."""
    refusal = found.refusal
    first = refusal.plugin if refusal is not None else ""
    return {
        "feasible": refusal is None,
        "first": first,
        "why": refusal.message if refusal is not None else "",
        "verdicts": [_verdict(each, first) for each in found.verdicts],
        "count": found.feasible,
        "leaves": found.leaves,
        "gates": list(found.gates),
        "scores": [
            {
                "plugin": each.plugin,
                "raw": each.raw,
                "points": each.normalized,
                "weight": each.weight,
                "weighted": each.normalized * each.weight,
            }
            for each in found.scores
        ],
        "total": found.total,
        "top": found.top,
        "best": list(found.best[:MOST_BEST]),
        "ties": max(len(found.best) - MOST_BEST, 0),
        "wins": found.node in found.best,
    }


def _verdict(each: Any, first: str) -> dict[str, Any]:
    status = each.status
    return {
        "plugin": each.plugin,
        "state": "skipped" if each.skipped else "ok" if status is None else "no",
        "point": str(each.point.value),
        "said": status.message if status is not None else "",
        "unresolvable": status is not None and status.code.kube_name == "UnschedulableAndUnresolvable",
        "plain": [p for reason in (status.reasons if status else ()) if (p := in_plain_words(reason))],
        "first": status is not None and each.plugin == first,
    }
