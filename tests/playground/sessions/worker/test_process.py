"""A worker process from inside: what it does with requests that go wrong, and that it knows every request."""

from __future__ import annotations

import os
import pkgutil
import threading
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any, get_args, get_type_hints

import msgspec
import pytest

from playground.sessions.protocol.base import Message, Query, Request, answer_of
from playground.sessions.protocol.comparing import CheckTrace, FilePart, NextPart
from playground.sessions.protocol.looking import NodeNames
from playground.sessions.protocol.opening import AskProgress, ReplayProgress
from playground.sessions.protocol.wire import REPLIES, AtWork, Frames, Reply
from playground.sessions.web.engines import encode_message, read_answer
from playground.sessions.worker import handlers
from playground.sessions.worker.process import Worker
from playground.sessions.worker.time_sharing import HANDLERS, Handler, Steps, answers_as_worker


@pytest.fixture
def at_work() -> Iterator[AtWork]:
    made = AtWork.made()
    yield made
    made.close()


def answers(at_work: AtWork, *frames: bytes) -> dict[int, Reply]:
    """What a worker answers to requests, by their number; then its input ends, and so does it."""
    source, ours = os.pipe()
    theirs, sink = os.pipe()
    worker = threading.Thread(target=Worker(source, sink, at_work).work)
    worker.start()
    found: dict[int, Reply] = {}
    reader = Frames()
    for frame in frames:
        os.write(ours, frame)
    while len(found) < len(frames):
        for frame in reader.feed(os.read(theirs, 65_536)):
            reply = REPLIES.decode(frame)
            found[reply.number] = reply
    os.close(ours)
    worker.join()
    for end in (source, theirs, sink):
        os.close(end)
    return found


PROGRESS = AskProgress()


def test_an_answer_that_is_no_data_is_an_error_and_the_worker_goes_on(
    monkeypatch: pytest.MonkeyPatch, at_work: AtWork
) -> None:
    def odd(*_: Any) -> Steps[Any]:
        yield
        return {"thing": object()}

    monkeypatch.setitem(HANDLERS, NextPart, Handler(odd, of_worker=True))
    found = answers(at_work, encode_message(1, 0, NextPart()), encode_message(2, 0, PROGRESS))
    assert found[1].failure is not None
    assert found[1].failure.kind == "engine"
    assert read_answer(PROGRESS, found[2]) == ReplayProgress(0, 0)


def test_it_says_what_it_works_on(monkeypatch: pytest.MonkeyPatch, at_work: AtWork) -> None:
    said = []

    def noting(*_: Any) -> Steps[FilePart]:
        said.append(at_work.said())
        yield
        said.append(at_work.said())
        return FilePart(0, b"", True)

    monkeypatch.setitem(HANDLERS, NextPart, Handler(noting, of_worker=True))
    answers(at_work, encode_message(5, 0, NextPart()), encode_message(6, 0, PROGRESS))
    assert said == [5, 5]
    assert at_work.said() == 0


def test_a_request_with_a_wrong_field_is_answered_with_its_path(at_work: AtWork) -> None:
    wrong = msgspec.structs.replace(CheckTrace(data=b"", max_objects=1), max_objects="many")  # type: ignore[arg-type]
    found = answers(at_work, encode_message(1, 0, wrong), encode_message(2, 0, PROGRESS))
    assert found[1].failure is not None
    assert "$.max_objects" in found[1].failure.message


def test_a_session_that_is_not_open_is_told_so(at_work: AtWork) -> None:
    found = answers(at_work, encode_message(7, 3, NodeNames(at=1)))
    assert found[7].failure is not None
    assert "does not have this session" in found[7].failure.message


def queries() -> list[str]:
    """The modules that may declare requests: the protocol's, and `query.py` of each feature."""
    protocol = [one.name for one in pkgutil.iter_modules(import_module("playground.sessions.protocol").__path__)]
    features = [one.name for one in pkgutil.iter_modules(import_module("playground.features").__path__)]
    found = [f"playground.sessions.protocol.{name}" for name in protocol]
    found += [f"playground.features.{name}.query" for name in features]
    return [name for name in found if find_spec(name)]


def test_every_request_has_a_handler() -> None:
    declared = [kind for name in queries() for kind in vars(import_module(name)).values()]
    requests = {kind for kind in Message.kinds if kind in declared and issubclass(kind, Request)}
    assert requests - {Request, Query, AskProgress} == set(HANDLERS)


def test_a_request_has_no_second_handler() -> None:
    with pytest.raises(ValueError, match=r"NextPart has a second handler, .*handlers\.progress"):
        answers_as_worker(NextPart)(handlers.progress)  # type: ignore[type-var]  # the refusal comes first


def test_no_two_messages_have_one_name() -> None:
    names = [kind.__name__ for kind in Message.kinds if not kind.__subclasses__()]
    assert sorted(set(names)) == sorted(names)


@pytest.mark.parametrize("request_", [*HANDLERS], ids=lambda kind: kind.__name__)
def test_a_handler_takes_its_request_and_gives_its_answer(request_: type[Request[Any]]) -> None:
    hints = get_type_hints(HANDLERS[request_].work)
    (_sends, _gets, answer) = get_args(hints.pop("return"))
    assert hints["request"] == request_
    # msgspec reads no union of several TypedDicts, such as a journey's entries: such an answer is declared as Any.
    assert answer_of(request_) in (answer, Any)
