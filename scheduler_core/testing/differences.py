"""The first place at which two JSON values differ, as a path with the values there. A null is the same as nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

Place = tuple[str, Any, Any]
"""A path such as `.scores.node-2` or `[3].name`, the value that is expected there, and the one that was received."""


def _equal(expected: Any, received: Any) -> bool:
    return bool(expected == received)


def first_place(expected: Any, received: Any, same: Callable[[Any, Any], bool] = _equal) -> Place | None:
    """Return the first place that differs, in the order of the expected value; None if there is none. `same` compares leaves."""
    if isinstance(expected, dict) and isinstance(received, dict):
        pairs = [(f".{name}", expected.get(name), received.get(name)) for name in {**expected, **received}]
    elif isinstance(expected, list | tuple) and isinstance(received, list | tuple):
        longer = range(max(len(expected), len(received)))
        pairs = [(f"[{i}]", _at(expected, i), _at(received, i)) for i in longer]
    else:
        return None if same(expected, received) else ("", expected, received)
    for step, wanted, got in pairs:
        place = first_place(wanted, got, same)
        if place is not None:
            return step + place[0], place[1], place[2]
    return None


def _at(values: list[Any] | tuple[Any, ...], i: int) -> Any:
    return values[i] if i < len(values) else None


def describe(where: str, expected: Any, received: Any, about: str = "") -> str:
    """Say where something differs, and both values in full; `about`: what helps to find it."""
    note = f" ({about})" if about else ""
    return f"{where}: expected {_words(expected)}, received {_words(received)}{note}"


def _words(value: Any) -> str:
    return "nothing" if value is None else json.dumps(value, ensure_ascii=False)
