"""A worker process: `python -m playground.sessions.worker` reads requests from its input and answers on its output.

It knows no Django and no database. It ends as soon as its input is closed, also in the middle of a long job: it never outlives the server.
"""

from __future__ import annotations

import contextlib
import gc
import os
import resource
import select
import sys
import threading
import traceback
from functools import partial
from typing import Any

from playground.sessions.protocol.errors import EngineFailed, SessionError
from playground.sessions.protocol.frames import Decoder, encode
from playground.sessions.worker.handlers import Answer, Requests
from playground.sessions.worker.history import DroppedWorlds
from playground.sessions.worker.time_sharing import Job, TimeSharing, TimeSlice

READ = 1 << 20
# Seconds without work, and worlds dropped, after which memory is cleared up; and worlds after which it is in any case.
IDLE = 0.5
SOME = 48
MUCH = 300


class Worker:
    """Requests in, answers out, jobs in turn between them."""

    def __init__(self, source: int, sink: int) -> None:
        self._source = source
        self._sink = sink
        self._decoder = Decoder()
        self._turns = TimeSharing(TimeSlice())
        self._requests = Requests(self._turns.slice)

    def work(self) -> None:
        """Serve until the input ends."""
        while True:
            ready, _, _ = select.select([self._source], [], [], self._patience())
            if not ready:
                self._clear_up()
            if ready:
                data = os.read(self._source, READ)
                if not data:
                    return
                for header, attachments in self._decoder.feed(data):
                    self._take(header, attachments)
            elif self._turns:
                self._turns.turn()

    def _patience(self) -> float | None:
        """How long to wait for a request: not at all with work to do, for long with nothing to clear up."""
        if self._turns:
            return 0
        return IDLE if DroppedWorlds.dropped > SOME else None

    def _clear_up(self) -> None:
        """Get memory back when there is nothing else to do, or there is much of it."""
        if DroppedWorlds.dropped > (MUCH if self._turns else SOME):
            DroppedWorlds.dropped = 0
            gc.collect()

    def _take(self, header: dict[str, Any], attachments: list[bytes]) -> None:
        number, op, session = header["id"], header["op"], header.get("sid", 0)
        if op == "interrupt":
            self._requests.interrupt(session)
        elif op == "close":
            self._turns.drop(session)
            self._requests.close(session)
        elif op in ("ping", "progress"):
            self._answer(number, Answer(self._requests.quick(op, session)))
        else:
            steps = self._requests.start(op, header, attachments)
            slow, unhurried = op in ("open", "run"), op == "save"
            done = partial(self._done, number)
            self._turns.add(Job(steps, done, session, slow, unhurried))

    def _done(self, number: int, value: Answer | None, error: BaseException | None) -> None:
        if error is None and value is not None:
            try:
                self._answer(number, value)
                return
            except TypeError as not_json:  # such an answer is a mistake here; the other sessions go on
                error = not_json
        if not isinstance(error, SessionError):
            traceback.print_exception(error)
            error = EngineFailed("The engine could not do this. Nothing was changed.")
        self._send(encode({"id": number, "error": error.to_json()}))

    def _answer(self, number: int, answer: Answer) -> None:
        self._send(encode({"id": number, "result": answer.result}, answer.attachments))

    def _send(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._sink, view) :]


def tune_garbage_collection() -> None:
    """Fewer passes over what stays: a world is many small objects that live as long as it does and form no cycles."""
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)


def end_with(source: int) -> None:
    """End the process at once when nobody holds the other end of its input any more."""
    poll = select.poll()
    poll.register(source, 0)  # a closed pipe is told in any case, what there is to read is not
    poll.poll()
    os._exit(0)


def main() -> None:
    """The argument is the memory, in bytes, that the process may take.

    Answers go to the standard output as it was; whatever prints goes to the standard error.
    """
    memory = int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    sink = os.dup(1)
    os.dup2(2, 1)
    tune_garbage_collection()
    threading.Thread(target=end_with, args=(sys.stdin.fileno(),), daemon=True).start()
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        Worker(sys.stdin.fileno(), sink).work()
