"""Evaluator: a process in which those expressions are evaluated that might take long. It may use so much memory and so much time for one
record; what needs more is ended with it, and the worker and its sessions go on.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import resource
import select
import subprocess
import sys
import time
from functools import lru_cache
from typing import Any

import msgspec
import orjson

from playground.sessions.protocol.frames import Frames, frame_message, write_all
from playground.sessions.worker.conditions.evaluation import Failed, OutOfMemory, environment, evaluate

MEMORY = 768 << 20
SECONDS = 0.5  # for one record
START = 20.0  # for the process to be there
GRACE = 2  # seconds of the processor after which it ends by itself, should nobody be left to end it
READY = b"ready"
READ = 1 << 20


class Question(msgspec.Struct, frozen=True, array_like=True):
    """An expression, and the variables that it is given, as JSON."""

    expression: str
    given: bytes


class Reply(msgspec.Struct, frozen=True, array_like=True):
    """Its value, or why there is none."""

    value: Any = None
    failed: str = ""


class Ended(Exception):
    """The process was ended: one record took longer, or more memory, than it may."""


class Evaluator:
    """The process as its worker sees it; it is started when it is first needed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, expression: str, given: bytes) -> Any:
        """The value of an expression for variables as JSON. Raises Failed, and Ended where it took too much."""
        process = self._process or self._start()
        try:
            write_all(
                _file(process.stdin), frame_message(msgspec.msgpack.encode(Question(expression, given)))
            )
            reply = msgspec.msgpack.decode(self._read(process, SECONDS), type=Reply)
        except (OSError, EOFError, TimeoutError):
            self.stop()
            raise Ended from None
        if reply.failed:
            raise Failed(reply.failed)
        return reply.value

    def stop(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()

    def _start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", __name__]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603 - our own module
        self._process = process
        atexit.register(self.stop)
        try:
            self._read(process, START)
        except (EOFError, TimeoutError):
            self.stop()
            raise Failed("The process for expressions did not start.") from None
        return process

    def _read(self, process: subprocess.Popen[bytes], seconds: float) -> bytes:
        source, frames, end = _file(process.stdout), Frames(), time.monotonic() + seconds
        while True:
            ready, _, _ = select.select([source], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                raise TimeoutError
            data = os.read(source, READ)
            if not data:
                raise EOFError
            for frame in frames.feed(data):
                return frame


@lru_cache(maxsize=1)
def evaluator() -> Evaluator:
    """The one of this worker."""
    return Evaluator()


def _file(pipe: Any) -> int:
    return int(pipe.fileno())


# The process itself


@lru_cache(maxsize=64)
def _compile_expression(expression: str) -> Any:
    return environment().compile(expression)


def _answer(question: Question) -> Reply:
    try:
        return Reply(evaluate(_compile_expression(question.expression), orjson.loads(question.given)))
    except Failed as why:
        return Reply(failed=str(why))


def _limit_time() -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(used.ru_utime + used.ru_stime + SECONDS) + GRACE
    resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.RLIM_INFINITY))


def main() -> None:
    """Questions at the standard input, replies at the standard output, until the input ends."""
    sink = os.dup(1)
    os.dup2(2, 1)
    environment()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    write_all(sink, frame_message(READY))
    frames = Frames()
    with contextlib.suppress(BrokenPipeError, OutOfMemory):
        while data := os.read(0, READ):
            for frame in frames.feed(data):
                _limit_time()
                reply = _answer(msgspec.msgpack.decode(frame, type=Question))
                write_all(sink, frame_message(msgspec.msgpack.encode(reply)))


if __name__ == "__main__":
    main()
