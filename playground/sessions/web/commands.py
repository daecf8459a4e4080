"""Commands as the log keeps them: JSON, with limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson
from django.conf import settings

from playground.presenters.problems import problem as in_words
from playground.presenters.problems.texts import WHOLE_NUMBER, WHOLE_TEXT
from playground.sessions.protocol.base import Data
from playground.sessions.protocol.errors import CommandRefused, FieldProblem, LimitReached

INTEGERS = range(-(2**63), 2**64)  # that JSON is written with
MOST_SHOWN = 200


def command_data(command: Data, source: str) -> bytes:
    """A command as the log keeps it. Raises LimitReached where it is too long, CommandRefused where JSON has no such value."""
    try:
        data = orjson.dumps({"command": command, "source": source})
    except orjson.JSONEncodeError as error:
        raise _refusal(command) or error from None
    if len(data) > settings.MAX_COMMAND_BYTES:
        raise LimitReached(
            f"The command takes {len(data):,} bytes; at most {settings.MAX_COMMAND_BYTES:,} are taken."
        )
    return data


def _refusal(command: Data) -> CommandRefused | None:
    """The refusal of the first field whose value can't be written, if any."""
    for path, value in _leaves(command, ""):
        expected = _expected(value)
        if expected:
            problem = FieldProblem(path, repr(value)[:MOST_SHOWN], expected)
            return CommandRefused(in_words(problem), [problem])
    return None


def _expected(value: Any) -> str:
    """The words for a value that JSON can have instead; "" where it can have this one."""
    if isinstance(value, int) and value not in INTEGERS:
        return WHOLE_NUMBER
    if isinstance(value, str) and any("\ud800" <= sign <= "\udfff" for sign in value):
        return WHOLE_TEXT
    return ""


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Every key and every plain value of some data, with its path."""
    if isinstance(value, Mapping):
        for name, below in value.items():
            yield path, name
            yield from _leaves(below, f"{path}.{name}".removeprefix("."))
    elif isinstance(value, list | tuple):
        for number, below in enumerate(value):
            yield from _leaves(below, f"{path}[{number}]")
    else:
        yield path, value
