"""What attempts came to, in a form that any engine can read: so that a replay under another one can say where it first differs."""

from __future__ import annotations

import zlib
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, NamedTuple

import orjson
from msgspec import Struct


class Outcome(NamedTuple):
    """One attempt: where it ended, whose it was, how it ended, and the node it chose."""

    position: int
    pod: str
    outcome: str
    node: str


class Difference(Struct, frozen=True):
    """The first difference of a replay: the attempt's number, and its outcome before and now (None: it was not made).

    `attempt` 0 is a step that this engine cannot make: `why` gives the reason.
    """

    attempt: int
    position: int
    was: dict[str, Any] | None
    now: dict[str, Any] | None
    why: str = ""


def of(attempts: Sequence[Any], since: int, upto: int) -> list[Outcome]:
    """The outcomes of a journal's attempts from the `since`th on that ended at or before a position."""
    stop = bisect_right(attempts, upto, key=lambda attempt: attempt.last_position)
    return [Outcome(a.last_position, a.pod, a.outcome, a.node) for a in attempts[since:stop]]


def pack(outcomes: Sequence[Outcome]) -> bytes:
    """Pack outcomes for storage: compressed JSON, by column."""
    return zlib.compress(orjson.dumps([list(column) for column in zip(*outcomes, strict=True)]), 6)


def unpack(data: bytes) -> list[Outcome]:
    return [Outcome(*row) for row in zip(*orjson.loads(zlib.decompress(data)), strict=True)]


def difference(was: Sequence[Outcome], now: Sequence[Outcome]) -> Difference | None:
    """The first attempt that came to something else; None where there is none. `now` may know more than `was`."""
    for number, old in enumerate(was):
        new = now[number] if number < len(now) else None
        if old != new:
            position = old.position if new is None else min(old.position, new.position)
            return Difference(number + 1, position, old._asdict(), None if new is None else new._asdict())
    return None
