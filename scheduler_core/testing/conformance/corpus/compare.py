"""Comparing an attempt with what the corpus expects, field by field in the order of a cycle; the first difference, as a path."""

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
    """A field as it is compared: a node that passes is not one that was not evaluated, and points have their plugins' names."""
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
    """Without the words of CEL's compiler, which are told and not compared."""
    if isinstance(value, str):
        return _COMPILER.sub(r"\1", value)
    if isinstance(value, list):
        return [_cut(each) for each in value]
    return {name: _cut(each) for name, each in value.items()} if isinstance(value, dict) else value


def comparable(attempt: Attempt) -> dict[str, Any]:
    """The fields of an expected attempt that are compared, without the empty ones: empty and absent are one, as in the corpus."""
    out = {field: _cut(attempt[field]) for field in FIELDS if field in attempt}
    if "preemption" in out:
        out["preemption"] = without_empty(out["preemption"])
    if out.get("errorKind") == "Error":
        # The format does not say how much of the scoring that an error cut short is recorded.
        for name in LEFT_OUT_IN_ERRORS:
            out.pop(name, None)
    return without_empty(out)
