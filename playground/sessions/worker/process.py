"""A worker process: it reads requests from a socket and answers them there.

It has no Django and no database. It ends as soon as its socket is closed, also in the middle of a long job: it never outlives the server.
"""

import contextlib
import gc
import os
import resource
import select
import sys
import threading
import traceback
from functools import cache, partial
from typing import Any, Union

from msgspec import Raw, ValidationError
from msgspec.msgpack import Decoder

from playground.presenters.words import message
from playground.sessions.protocol import wire
from playground.sessions.protocol.base import Message, Request
from playground.sessions.protocol.comparing import DropTask
from playground.sessions.protocol.errors import EngineFailed, Failure, OutOfMemory, SessionError
from playground.sessions.protocol.opening import AskProgress, Close, Interrupt
from playground.sessions.worker.engines import Engines
from playground.sessions.worker.handlers import progress
from playground.sessions.worker.memory import SHARED, Budget, Clearing, within
from playground.sessions.worker.past import DroppedWorlds
from playground.sessions.worker.time_sharing import HANDLERS, Handler, Job, Steps, TimeSharing, TimeSlice

LOWEST = 19  # the nice value
IDLE = 0.5  # seconds without work after which memory is cleared up


class Worker:
    """The main loop: it reads requests, executes jobs in turns, and sends answers."""

    def __init__(self, source: int, sink: int, at_work: wire.AtWork) -> None:
        self._source, self._sink = source, sink
        self._frames = wire.Frames()
        self._at_work = at_work
        self._jobs = TimeSharing(TimeSlice(), at_work.say)
        self._engines = Engines(self._jobs.slice, at_work.advance)
        self._clearing = Clearing(lambda: DroppedWorlds.dropped)

    def work(self) -> None:
        """Serve until the input ends."""
        while True:
            # Messages come before jobs: an Interrupt must reach a run between two of its slices.
            ready, _, _ = select.select([self._source], [], [], self._patience())
            if not ready:
                self._clearing.clear_up(busy=bool(self._jobs))
            if ready:
                data = os.read(self._source, wire.READ)
                if not data:
                    return
                for frame in self._frames.feed(data):
                    self._take(wire.ENVELOPES.decode(frame))
            elif self._jobs:
                self._jobs.turn()

    def _patience(self) -> float | None:
        """Return the seconds to wait for a request: with jobs, their patience; with memory to clear up, IDLE; else None."""
        if self._jobs:
            return self._jobs.patience
        return IDLE if self._clearing.due else None

    def _take(self, envelope: wire.Envelope) -> None:
        self._at_work.say(envelope.number)
        try:
            message = read_message(envelope)
            if isinstance(message, Request):
                self._ask(envelope.number, envelope.session, message)
            else:
                self._hear(envelope.session, message)
        except Exception as error:
            self._fail(envelope.number, error)
        self._at_work.say(0)

    def _hear(self, session: int, notice: Message) -> None:
        """Execute a notice at once; a notice needs no answer."""
        engine = self._engines.find(session)
        if isinstance(notice, Interrupt) and engine is not None:
            engine.interrupted = True
        elif isinstance(notice, Close):
            self._jobs.drop(session)
            self._engines.close(session)
        elif isinstance(notice, DropTask):
            self._engines.drop_task(session, notice.token)

    def _ask(self, number: int, session: int, request: Request[Any]) -> None:
        if isinstance(request, AskProgress):
            self._send(encode_answer(number, progress(self._engines, session)))
            return
        handler, work = start(self._engines, session, request)
        done = partial(self._done, number)
        self._jobs.add(Job(work, done, session, handler.slow, handler.unhurried, number))

    def _done(self, number: int, answer: Any, error: BaseException | None) -> None:
        if error is not None:
            self._fail(number, error)
            return
        try:
            data = encode_answer(number, answer)
        except Exception as not_data:  # a bug in the handler must not affect other sessions
            self._fail(number, not_data)
        else:
            self._send(data)

    def _fail(self, number: int, error: BaseException) -> None:
        if not isinstance(error, SessionError):
            traceback.print_exception(error)
            error = failure_of(error)
        self._send(encode_failure(number, Failure.of(error)))

    def _send(self, data: bytes) -> None:
        wire.write_all(self._sink, data)


def start(engines: Engines, session: int, request: Request[Any]) -> tuple[Handler, Steps[Any]]:
    """Begin the work for a request. Raise EngineFailed if its session is not open here."""
    handler = HANDLERS[type(request)]
    if handler.of_worker:
        return handler, handler.work(engines, session, request)
    work = handler.work(engines.get(session), request)
    return handler, within(Budget(SHARED, handler.too_much), work) if handler.too_much else work


def read_message(envelope: wire.Envelope) -> Message:
    """Decode an envelope. Raise EngineFailed with the invalid field."""
    try:
        return _messages(len(Message.kinds)).decode(envelope.message)
    except ValidationError as error:
        raise EngineFailed(f"The engine was asked for what it does not understand: {error}.") from error


@cache
def _messages(known: int) -> Decoder[Message]:
    """Return the decoder of all kinds of messages that this process has imported so far; `known` is their number.

    A worker imports each kind together with its handler (time_sharing.py), so no list of kinds is necessary.
    """
    kinds = [kind for kind in Message.kinds if not kind.__subclasses__()]
    return Decoder(Union[(*kinds,)])


def encode_answer(number: int, answer: Any) -> bytes:
    """Return the frame of an answer. Raise TypeError if the answer is not data."""
    return wire.frame_message(wire.ENCODER.encode(wire.Reply(number, Raw(wire.ENCODER.encode(answer)))))


def encode_failure(number: int, failure: Failure) -> bytes:
    return wire.frame_message(wire.ENCODER.encode(wire.Reply(number, Raw(wire.ENCODER.encode(None)), failure)))


def failure_of(error: BaseException) -> EngineFailed:
    """Return the error to report for an unexpected exception."""
    if isinstance(error, MemoryError):
        return OutOfMemory(message("This needs more memory than the limit."))
    return EngineFailed(message("The engine could not do this."))


def tune_garbage_collection() -> None:
    """Make collections rarer: a world is many small objects that live as long as it does and form no cycles."""
    # Present objects (modules, classes) live as long as the process, so collections skip them.
    gc.freeze()
    gc.enable()
    gc.set_threshold(100_000, 20, 20)


def end_with(source: int) -> None:
    """End the process at once when the other end of its socket is closed."""
    poll = select.poll()
    poll.register(source, 0)  # reports a closed socket, but not data to read
    poll.poll()
    # sys.exit would end only this thread.
    os._exit(0)


def run_worker(connection: int, at_work: int, memory: int, idle: bool) -> None:
    """Answer a web process's requests through a socket, until the socket is closed.

    `memory`: the memory limit in bytes. `at_work`: the shared file with the current request. `idle`: run at idle priority.
    """
    os.setsid()  # Ctrl+C in the terminal reaches the server alone, which ends its workers
    if idle:
        yield_processors()
    # Beyond the limit an allocation raises MemoryError, which `failure_of` reports; the process continues.
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    threading.Thread(target=end_with, args=(connection,), daemon=True).start()
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        Worker(connection, connection, wire.AtWork(at_work)).work()


def yield_processors() -> None:
    """Set the lowest priority that the system has for this process."""
    os.setpriority(os.PRIO_PROCESS, 0, LOWEST)
    if sys.platform == "linux":
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        # Where Linux groups processes by session, each group gets the same share, and priorities count only within a group.
        with contextlib.suppress(OSError), open("/proc/self/autogroup", "w") as group:
            group.write(str(LOWEST))
