"""A worker process from inside: its answers to requests that go wrong."""

from __future__ import annotations

import os
import threading
from typing import Any

import pytest

from playground.sessions.protocol.frames import Decoder, encode
from playground.sessions.worker import handlers as requests
from playground.sessions.worker.handlers import Answer, Steps
from playground.sessions.worker.process import Worker


def answers(*asked: dict[str, Any]) -> dict[int, dict[str, Any]]:
    """What a worker answers to requests, by their number; then its input ends, and so does it."""
    source, ours = os.pipe()
    theirs, sink = os.pipe()
    worker = threading.Thread(target=Worker(source, sink).work)
    worker.start()
    found: dict[int, dict[str, Any]] = {}
    decoder = Decoder()
    for header in asked:
        os.write(ours, encode(header))
    while len(found) < len(asked):
        found |= {header["id"]: header for header, _ in decoder.feed(os.read(theirs, 65_536))}
    os.close(ours)
    worker.join()
    for end in (source, theirs, sink):
        os.close(end)
    return found


def test_an_answer_that_is_no_json_is_an_error_and_the_worker_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def odd(self: Any, header: Any, attachments: Any) -> Steps:
        yield
        return Answer({"set": {1, 2}})

    monkeypatch.setitem(requests.OPS, "odd", odd)
    found = answers({"id": 1, "op": "odd"}, {"id": 2, "op": "progress"})
    assert found[1]["error"]["kind"] == "engine"
    assert found[2]["result"]["done"] == 0
