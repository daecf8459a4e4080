"""Budgets: Python code of somebody else is ended when it has run for too many lines.

Lines are counted, not seconds, so that a replay ends it at the same one whatever the machine. Only modules of the code's own package are
counted line by line, others call by call; what stands still inside a C function is not seen here, and is for whoever runs the world to end.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

T = TypeVar("T")

Trace = Callable[[FrameType, str, Any], Any]


class OutOfBudget(BaseException):
    """The code has run for too many lines. No Exception, so that nobody catches it by accident."""


def within(lines: int, package: str, call: Callable[[], T]) -> T:
    """Return the result of a call; raise OutOfBudget if the call exceeds `lines` lines of the package."""
    before = sys.gettrace()
    sys.settrace(_counter(lines, package))
    try:
        return call()
    finally:
        sys.settrace(before)


def _counter(lines: int, package: str) -> Trace:
    left = lines

    def count() -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise OutOfBudget

    def in_package(frame: FrameType, event: str, _: Any) -> Trace:
        if event == "line":
            count()
        return in_package

    def anywhere(frame: FrameType, event: str, _: Any) -> Trace | None:
        count()
        return in_package if _package(frame.f_globals.get("__name__")) == package else None

    return anywhere


def package_of(cls: type) -> str:
    """The package that a class is from."""
    return _package(cls.__module__)


def _package(module: Any) -> str:
    return str(module).partition(".")[0]
