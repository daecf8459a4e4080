"""Comparing a step with what the corpus expects of it, key by key; the first difference, in words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

TOLERANCE = 0.001_000_001  # seconds; API calls take microseconds that README-queue.md leaves open

# Informational: texts of kube's log.
_UNTOLD = ("errorsLogged",)


@dataclass(frozen=True, slots=True)
class StepDifference:
    """The first thing in which a timeline differs; `step` counts from 0."""

    step: int
    op: str
    key: str
    expected: Any
    received: Any

    def __str__(self) -> str:
        return (
            f"step {self.step} ({self.op}), {self.key}: "
            f"expected {_words(self.expected)}, received {_words(self.received)}"
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "step": self.step,
            "op": self.op,
            "where": self.key,
            "expected": self.expected,
            "received": self.received,
        }


def _words(value: Any) -> str:
    if value is None:
        return "nothing"
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= 600 else text[:597] + "..."


def difference(
    step: int, op: str, expected: Mapping[str, Any], received: Mapping[str, Any]
) -> StepDifference | None:
    """Of one step; `t` first, then the keys by name."""
    keys = sorted({*expected, *received} - set(_UNTOLD), key=lambda key: (key != "t", key))
    for key in keys:
        wanted, got = _normal(key, expected.get(key)), _normal(key, received.get(key))
        path = _path(wanted, got)
        if path is not None:
            where, a, b = path
            return StepDifference(step, op, f"{key}{where}", a, b)
    return None


def _normal(key: str, value: Any) -> Any:
    """Without the order that is not significant."""
    if not isinstance(value, list):
        return value
    if key == "apiCalls":
        return sorted(
            value, key=lambda call: call.split()[1]
        )  # stable: calls about one object keep their order
    if key == "events":
        return sorted(value, key=lambda event: str(event["object"]))
    return sorted(value) if key in ("inFlight", "inFlightEvents", "waitingOnPermit") else value


def _path(expected: Any, received: Any) -> tuple[str, Any, Any] | None:
    """Where two values differ, with both sides; None where they are the same but for a millisecond."""
    if isinstance(expected, dict) and isinstance(received, dict):
        for name in sorted({*expected, *received}):
            inner = _path(expected.get(name), received.get(name))
            if inner is not None:
                return f".{name}{inner[0]}", inner[1], inner[2]
        return None
    if isinstance(expected, list) and isinstance(received, list) and len(expected) == len(received):
        for i, (a, b) in enumerate(zip(expected, received, strict=True)):
            inner = _path(a, b)
            if inner is not None:
                return f"[{i}]{inner[0]}", inner[1], inner[2]
        return None
    if isinstance(expected, float | int) and isinstance(received, float | int):
        exact = isinstance(expected, int) and isinstance(received, int)
        same = expected == received if exact else abs(expected - received) <= TOLERANCE
        return None if same else ("", expected, received)
    return None if expected == received else ("", expected, received)
