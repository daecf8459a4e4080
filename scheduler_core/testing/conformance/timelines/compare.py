"""Comparing a step with what the corpus expects of it, key by key; the first difference, as a path."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from scheduler_core.testing.differences import describe, first_place

TOLERANCE = 0.001_000_001  # seconds; API calls take microseconds that README-queue.md leaves open

# Informational: texts of kube's log.
_UNTOLD = ("errorsLogged",)


@dataclass(frozen=True, slots=True)
class StepDifference:
    """The first thing in which a timeline differs; `step` counts from 0, `where` is the path in what is expected of it."""

    step: int
    op: str
    where: str
    expected: Any
    received: Any

    @property
    def path(self) -> str:
        """The path in the timeline."""
        return f"steps[{self.step}].{self.where}"

    def __str__(self) -> str:
        return describe(self.path, self.expected, self.received, self.op)

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "path": self.path}


def difference(step: int, op: str, expected: Mapping[str, Any], received: Mapping[str, Any]) -> StepDifference | None:
    """Return the first difference of a step, or None; `t` is compared first, then the keys by name."""
    keys = sorted({*expected, *received} - set(_UNTOLD), key=lambda key: (key != "t", key))
    for key in keys:
        wanted, got = _normal(key, expected.get(key)), _normal(key, received.get(key))
        place = first_place(wanted, got, _same)
        if place is not None:
            return StepDifference(step, op, f"{key}{place[0]}", place[1], place[2])
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
