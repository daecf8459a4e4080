"""Evaluation of expressions in CEL by the library, in whichever process it is; nothing else of the project is needed for it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

NAMES = {"record": "MAP", "t": "DYN", "position": "INT", "attempt": "INT", "queue": "MAP"}
"""The variables of an expression, and their types."""

_EXPECTING = re.compile(r" expecting \{.*\}")


class Failed(Exception):
    """An evaluation had no value, such as for a field that this record lacks."""


class OutOfMemory(Exception):
    """There was not enough memory for an evaluation."""


@lru_cache(maxsize=1)
def environment() -> Any:
    """The library takes a moment to load: only who has an expression waits for it."""
    from cel_expr_python import cel

    types = {
        "MAP": cel.Type.Map(cel.Type.STRING, cel.Type.DYN),
        "DYN": cel.Type.DYN,
        "INT": cel.Type.INT,
    }
    return cel.NewEnv(variables={name: types[kind] for name, kind in NAMES.items()})


def evaluate(expression: Any, given: Mapping[str, Any]) -> Any:
    """The value of a compiled expression as JSON data. Raises Failed."""
    try:
        found = expression.eval(data=given)
    except MemoryError:
        raise OutOfMemory from None
    except Exception as error:
        if "bad_alloc" in str(error):
            raise OutOfMemory from None
        raise Failed(words(str(error))) from None
    if found.type().name() == "ERROR":
        raise Failed(words(str(found.value())))
    return _data(found.plain_value())


def _data(value: Any) -> Any:
    """A value of the language as JSON data: bytes, durations, points in time and types become text."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return {str(name): _data(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_data(one) for one in value]
    return value.decode(errors="replace") if isinstance(value, (bytes, bytearray)) else str(value)


def words(message: str) -> str:
    """The library's message without what helps nobody: its own code, and the list of all tokens."""
    message = re.sub(r" ?\[[A-Z_]+\]$", "", re.sub(r"^[A-Z_]+: ", "", message.strip()))
    return _EXPECTING.sub("", message).replace("mismatched input '<EOF>'", "the expression ends too early")
