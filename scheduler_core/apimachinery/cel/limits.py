"""Limits of an evaluation: kube's limit of cost, and this engine's limits of work and sizes.

kube: vendor/github.com/google/cel-go/interpreter/{interpreter,runtimecost}.go @ v1.34.1 (cel-go v0.26.0)
"""

import math
from contextvars import ContextVar

from scheduler_core.apimachinery.cel.values import FormatValue, SemverValue

MOST_ELEMENTS = 1_000_000
"""Longest list that is made. DEVIATION: kube has no such limit, as its lists share their parts."""
MOST_CHARACTERS = 10_000_000
"""Longest text that is made. DEVIATION: kube has no such limit."""
LEAST_WORK = 200_000
"""Steps of work that every evaluation may take, however low its limit of cost is."""

OVER = "operation cancelled: actual cost limit exceeded"


class Cancelled(Exception):
    """The evaluation is over its limit; str() is kube's text."""


class InternalError(Cancelled):
    """A failure of cel-go's own code; it ends the evaluation as well."""

    def __init__(self, message: str) -> None:
        super().__init__(f"internal error: {message}")


_UNHASHABLE = {bytes: "types.Bytes", SemverValue: "cel.Semver", FormatValue: "cel.Format"}


def check_hashable(value: object) -> None:
    """Raise InternalError for values on which cel-go panics: it hashes the keys of maps and the values that it looks up in constant
    lists.
    """
    kind = _UNHASHABLE.get(value.__class__)
    if kind is not None:
        raise InternalError(f"runtime error: hash of unhashable type {kind}")


class Work:
    """The remaining steps of work of an evaluation. DEVIATION: kube has no such limit.

    Kube's cost does not limit time: `a == b` of large maps costs 1, and so does `a + b` of long lists, which share their parts in cel-go
    and are copied here. So an operation that reads many parts in one call also counts them as steps.
    """

    __slots__ = ("left",)

    def __init__(self, left: float) -> None:
        self.left = left


_WITHOUT_END = Work(math.inf)  # compiling has limits of its own
_WORK: ContextVar[Work] = ContextVar("work", default=_WITHOUT_END)


def begin_work(limit: int) -> Work:
    """Start the count of work for an evaluation."""
    work = Work(limit)
    _WORK.set(work)
    return work


def take_steps(count: int = 1) -> None:
    """Count steps of work. Raise Cancelled if the evaluation exceeds its limit."""
    work = _WORK.get()
    work.left -= count
    if work.left < 0:
        raise Cancelled(OVER)


def copy_steps(length: int) -> int:
    """Return the steps that copying a text or a list of this length counts as: memory is copied far faster than parts are looked at."""
    return length >> 5


def check_length(length: int, most: int = MOST_ELEMENTS) -> None:
    """Raise Cancelled if a result would be longer than `most`."""
    if length > most:
        raise Cancelled(OVER)
