"""Comparison of an attempt with the corpus, field by field in the order of a cycle. The result is the path of the first difference."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.testing.conformance.corpus.observe import without_empty
from scheduler_core.testing.differences import Difference, Place, describe, first_place

Attempt = Mapping[str, Any]

# In the order in which a cycle makes them.
FIELDS = (
    *("profile", "preEnqueue", "nodeOrder", "preFilter", "nominatedNode", "filter", "feasible", "sampling"),
    *("feasibleAfterExtenders", "extenders", "scored", "skippedScores", "scores", "topNodes", "bestTotal"),
    *("chosen", "evaluatedNodes", "feasibleNodes", "binding", "diagnosis", "errorKind", "error"),
    *("unschedulablePlugins", "preemption", "message", "nominatedNodeAfter", "volumeEffects", "nodeAllocations"),
    *("bindError", "claims", "createdClaim", "extendedResourceClaimStatus", "draPostFilter"),
    *("claimsReleased", "orderDependent"),
)


LEFT_OUT_IN_ERRORS = ("scored", "skippedScores", "scores")


def differ(attempt: int, pod: str, place: Place) -> Difference:
    """The difference at a place of an attempt; attempts count from 1."""
    where, expected, received = place
    path = f"attempts[{attempt - 1}].{where}"
    facts = {"attempt": attempt, "pod": pod, "where": where, "path": path}
    return Difference(expected, received, describe(path, expected, received, f"pod {pod}"), facts)


def first_difference(number: int, pod: str, expected: Attempt, received: Attempt) -> Difference | None:
    """Compare one attempt, both sides in the corpus' shape."""
    for field in FIELDS:
        place = first_place(_format_field(field, expected.get(field)), _format_field(field, _cut(received.get(field))))
        if place is not None:
            return differ(number, pod, (f"{field}{place[0]}", *place[1:]))
    return None


def _format_field(field: str, value: Any) -> Any:
    """Return a field in its form for comparison: feasible nodes differ from nodes that were not evaluated, and scores have their plugins'
    names.
    """
    if field == "filter" and isinstance(value, dict):
        return {node: _PASSES if verdict is None else verdict for node, verdict in value.items()}
    if field == "scores" and isinstance(value, dict):
        return {**value, "nodes": {node: _name_points(value["plugins"], of) for node, of in value["nodes"].items()}}
    return value


_PASSES = "passes"


def _name_points(plugins: Sequence[str], scores: Mapping[str, Any]) -> dict[str, Any]:
    """Name points by their plugins; without Score plugins, the corpus has null for no points."""
    return {
        step: dict(zip(plugins, points or (), strict=True)) if step in _POINTS else points
        for step, points in scores.items()
    }


_POINTS = ("raw", "normalized", "weighted")


_COMPILER = re.compile(r"(CEL compile error: ).*", re.DOTALL)


def _cut(value: Any) -> Any:
    """Return the value without the CEL compiler's messages, which are reported but not compared."""
    if isinstance(value, str):
        return _COMPILER.sub(r"\1", value)
    if isinstance(value, list):
        return [_cut(each) for each in value]
    return {name: _cut(each) for name, each in value.items()} if isinstance(value, dict) else value


def comparable(attempt: Attempt) -> dict[str, Any]:
    """Return the compared fields of an expected attempt without empty ones. Empty and absent are equal, as in the corpus."""
    out = {field: _cut(attempt[field]) for field in FIELDS if field in attempt}
    if "preemption" in out:
        out["preemption"] = without_empty(out["preemption"])
    if out.get("errorKind") == "Error":
        # The format does not say how much of the scoring that an error cut short is recorded.
        for name in LEFT_OUT_IN_ERRORS:
            out.pop(name, None)
    return without_empty(out)
