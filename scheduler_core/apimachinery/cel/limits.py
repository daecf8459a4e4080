"""What ends an evaluation: kube's limit of cost, and ours of what is made and looked at.

kube: vendor/github.com/google/cel-go/interpreter/{interpreter,runtimecost}.go @ v1.34.1 (cel-go v0.26.0)
"""

from __future__ import annotations

from scheduler_core.apimachinery.cel.values import FormatValue, SemverValue

MOST_ELEMENTS = 1_000_000
"""Longest list that is made. DEVIATION: kube has no such limit, as its lists share their parts."""
MOST_CHARACTERS = 10_000_000
"""Longest text that is made. DEVIATION: kube has no such limit."""
_MOST_STEPS = 200_000

OVER = "operation cancelled: actual cost limit exceeded"


class Cancelled(Exception):
    """The evaluation is over its limit; str() is kube's text."""


class InternalError(Cancelled):
    """A failure of cel-go's own code; it ends the evaluation as well."""

    def __init__(self, message: str) -> None:
        super().__init__(f"internal error: {message}")


_UNHASHABLE = {bytes: "types.Bytes", SemverValue: "cel.Semver", FormatValue: "cel.Format"}


def check_hashable(value: object) -> None:
    """InternalError where cel-go's code fails: it hashes keys of maps, and what is looked for in a constant list."""
    kind = _UNHASHABLE.get(value.__class__)
    if kind is not None:
        raise InternalError(f"runtime error: hash of unhashable type {kind}")


class Steps:
    """The number of parts of a value left to visit: lists that share parts may have more parts than can be counted."""

    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left = _MOST_STEPS

    def take(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise Cancelled(OVER)


def check_length(length: int, most: int = MOST_ELEMENTS) -> None:
    """Cancelled where something as long as that is not to be made."""
    if length > most:
        raise Cancelled(OVER)
