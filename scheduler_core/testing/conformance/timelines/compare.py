"""Comparing a step with what the corpus expects of it, key by key; the first difference, as a path."""

from collections.abc import Mapping
from typing import Any

from scheduler_core.testing.differences import Difference, describe, first_place

TOLERANCE = 0.001_000_001  # seconds; API calls take microseconds that README-queue.md leaves open

# Informational: texts of kube's log.
_UNTOLD = ("errorsLogged",)


def difference(step: int, op: str, expected: Mapping[str, Any], received: Mapping[str, Any]) -> Difference | None:
    """Return the first difference of a step (from 0), or None; `t` is compared first, then the keys by name."""
    keys = sorted({*expected, *received} - set(_UNTOLD), key=lambda key: (key != "t", key))
    for key in keys:
        wanted, got = _normal(key, expected.get(key)), _normal(key, received.get(key))
        place = first_place(wanted, got, _same)
        if place is not None:
            where, path = f"{key}{place[0]}", f"steps[{step}].{key}{place[0]}"
            facts = {"step": step, "op": op, "where": where, "path": path}
            return Difference(place[1], place[2], describe(path, place[1], place[2], op), facts)
    return None


def _normal(key: str, value: Any) -> Any:
    """Without the order that is not significant."""
    if not isinstance(value, list):
        return value
    if key == "apiCalls":
        return sorted(value, key=_object_of)  # stable: calls about one object keep their order
    if key == "events":
        return sorted(value, key=lambda event: str(event["object"]))
    return sorted(value) if key in ("inFlight", "inFlightEvents", "waitingOnPermit") else value


def _object_of(call: str) -> str:
    words = call.split()
    return next((word for word in words if "/" in word), words[1])


def _same(expected: Any, received: Any) -> bool:
    """Compare two leaves; times may differ by a millisecond."""
    numbers = [isinstance(value, float | int) for value in (expected, received)]
    exact = isinstance(expected, int) and isinstance(received, int)
    if all(numbers) and not exact:
        return bool(abs(expected - received) <= TOLERANCE)
    return bool(expected == received)
