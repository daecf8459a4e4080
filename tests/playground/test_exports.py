"""Downloads that break off midway say so in their last words."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest

from playground.features.exports.views import _last_comment, _last_line, _start_stream
from playground.sessions.protocol.errors import LimitReached
from scheduler_core.formats.export import TraceError, export_lines, read_log

WORDS = "The trace takes more memory\nthan there is here."


async def breaking_off(parts: list[bytes]) -> AsyncIterator[bytes]:
    for part in parts:
        yield part
    raise LimitReached(WORDS)


async def received(parts: AsyncIterator[bytes]) -> bytes:
    """What has come when the connection breaks."""
    data = b""
    try:
        async for part in parts:
            data += part
    except LimitReached:
        return data
    pytest.fail("the connection did not break")


async def test_a_trace_that_breaks_off_says_why_and_is_refused_for_it() -> None:
    header = json.dumps(next(export_lines(0, {}, 3))).encode() + b"\n"
    data = await received(await _start_stream(breaking_off([header]), _last_line))
    lines = [json.loads(line) for line in data.splitlines()]
    assert lines[-1] == {"type": "broken_off", "message": WORDS}
    with pytest.raises(TraceError, match="line 2: received a trace that broke off here: The trace takes"):
        read_log(lines)


async def test_a_cluster_that_breaks_off_says_why_in_a_comment_of_one_line() -> None:
    data = await received(await _start_stream(breaking_off([b"kind: Node", b"\n"]), _last_comment))
    assert data.decode().splitlines()[0] == "kind: Node"
    assert data.decode().splitlines()[-1].startswith("# This file is incomplete")
    assert data.decode().splitlines()[-1].endswith("more memory than there is here.")


async def test_what_fails_before_the_first_part_is_raised_at_once() -> None:
    with pytest.raises(LimitReached):
        await _start_stream(breaking_off([]), _last_line)
