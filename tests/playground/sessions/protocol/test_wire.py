"""What goes through the pipe between the web process and its workers."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest

from playground.presenters import Look
from playground.presenters.panel import Delta, Panel, PanelChange, SeenPage
from playground.sessions.protocol import wire
from playground.sessions.protocol.base import Message, Request
from playground.sessions.protocol.errors import (
    CommandRefused,
    EngineFailed,
    Failure,
    FieldProblem,
    LimitReached,
    OutOfMemory,
    SessionError,
)
from playground.sessions.protocol.looking import Compare
from playground.sessions.protocol.moving import Apply, Step
from playground.sessions.protocol.opening import Archive, Checkpoint, Interrupt, LogRow, Open
from playground.sessions.protocol.wire import Frames
from playground.sessions.web.engines import encode_message, read_answer
from playground.sessions.worker.process import encode_answer, encode_failure, failure_of, read_message
from playground.sessions.worker.world import Grain

OPEN = Open(
    seed=7,
    story="",
    rows=[LogRow(1, "command", 0, 1, b"\x00one"), LogRow(2, "run", 1, 9, b"")],
    head=9,
    archive=Archive("v", [b"part"], [Checkpoint(3, 0.5, 1, "d", "f", b"world")]),
    outcomes=[],
    outcomes_saved=0,
)


def through(message: Message) -> Message:
    """What a worker reads of it."""
    (frame,) = Frames().feed(encode_message(1, 5, message))
    envelope = wire.ENVELOPES.decode(frame)
    assert (envelope.number, envelope.session) == (1, 5)
    return read_message(envelope)


def answered(request: Request[Any], frame: bytes) -> Any:
    """What the web process reads of an answer."""
    (data,) = Frames().feed(frame)
    return read_answer(request, wire.REPLIES.decode(data))


@pytest.mark.parametrize(
    "message",
    [
        OPEN,
        Interrupt(),
        Step(grain=Grain.POD, times=3),
        Apply(data=b"\xff{}", max_objects=1),
        Compare(at=3, look=Look(pod="default/p", at=3), before=SeenPage(2, Look())),
    ],
    ids=lambda message: type(message).__name__,
)
def test_a_message_comes_out_as_it_went_in(message: Message) -> None:
    assert through(message) == message


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
def test_frames_may_arrive_in_parts_of_any_size(size: int) -> None:
    sent = [OPEN, Interrupt(), Step(grain=Grain.CALL)]
    stream = b"".join(encode_message(number, 0, message) for number, message in enumerate(sent))
    reader = Frames()
    found = [frame for i in range(0, len(stream), size) for frame in reader.feed(stream[i : i + size])]
    assert [read_message(wire.ENVELOPES.decode(frame)) for frame in found] == sent


def test_an_answer_is_read_by_its_requests_type() -> None:
    delta = Delta([PanelChange("map", Panel("map", {"n": 1}, {"c": {"x": 2}}))], ["default/p"])
    asked = Compare(at=1, look=Look(), before=None)
    assert answered(asked, encode_answer(1, delta)) == delta


def test_numbers_and_arrays_of_the_engine_become_data() -> None:
    context = {"a": np.array([1, 2]), "b": np.int64(3), "c": np.bool_(True), "d": np.float32(0.5)}
    delta = Delta([PanelChange("map", Panel("map", context))], [])
    found = answered(Compare(look=Look(), before=None), encode_answer(1, delta))
    assert found.panels[0].panel.context == {"a": [1, 2], "b": 3, "c": True, "d": 0.5}


@pytest.mark.parametrize(
    ("request_", "says"),
    [
        (msgspec.structs.replace(OPEN, head="far"), "$.head"),  # type: ignore[arg-type]
        (msgspec.structs.replace(OPEN, rows=[(1, "jump", 0, 1, b"")]), "$.rows[0]"),  # type: ignore[list-item]
        (Step(grain="year"), "$.grain"),  # type: ignore[arg-type]
    ],
)
def test_a_request_is_refused_with_the_field_at_fault(request_: Message, says: str) -> None:
    with pytest.raises(EngineFailed) as failed:
        through(request_)
    assert says in failed.value.message


def test_an_answer_is_refused_with_the_field_at_fault() -> None:
    frame = encode_answer(1, {"at": 1, "to": "far"})
    with pytest.raises(EngineFailed, match=r"\$\.to"):
        answered(Step(grain=Grain.POD), frame)


@pytest.mark.parametrize("kind", [CommandRefused, LimitReached, EngineFailed, OutOfMemory, SessionError])
def test_an_error_is_the_same_on_the_other_side(kind: type[SessionError]) -> None:
    error = kind("no", [FieldProblem(path="spec.x", received="1", expected="2", line=3)])
    with pytest.raises(kind) as raised:
        answered(Step(grain=Grain.POD), encode_failure(1, Failure.of(error)))
    assert (raised.value.message, raised.value.errors) == (error.message, error.errors)


def test_out_of_memory_is_told_as_such_and_not_as_a_mistake() -> None:
    told = Failure.of(failure_of(MemoryError())).error()
    assert (type(told), told.status) == (OutOfMemory, 507)
    assert failure_of(ValueError()).status == 500
