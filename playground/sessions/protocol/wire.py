"""The forms of requests and answers in a pipe: msgpack, each message behind its length. Nothing is pickled: what either side says is data.

A request travels in an envelope with its number (0: no answer is wanted) and its session; what it says is checked when it is taken out of
it, and so is the answer, by its type. Each side writes and reads its own half: web/engines.py and worker/process.py.
"""

import os
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Raw, Struct
from msgspec.msgpack import Decoder, Encoder

from playground.sessions.protocol.errors import Failure

# Messages in a stream of bytes: each stands behind its length.

READ = 1 << 20  # bytes that either side reads at once
_LENGTH = struct.Struct(">Q")


def frame_message(data: bytes) -> bytes:
    """A message as it goes through a stream."""
    return _LENGTH.pack(len(data)) + data


def write_all(sink: int, data: bytes) -> None:
    """Write bytes to a file descriptor, however many it takes at once."""
    view = memoryview(data)
    while view:
        view = view[os.write(sink, view) :]


class Frames:
    """Cuts a stream of bytes into messages."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The messages that are complete now."""
        self._buffer += data
        while (frame := self._next()) is not None:
            yield frame

    def _next(self) -> bytes | None:
        buffer = self._buffer
        if len(buffer) < _LENGTH.size:
            return None
        end = _LENGTH.size + _LENGTH.unpack_from(buffer)[0]
        if len(buffer) < end:
            return None
        frame = bytes(memoryview(buffer)[_LENGTH.size : end])
        del buffer[:end]
        return frame


# What a worker process works on just now and how far that is, in a file that its web process has too: it outlives a process that dies
# of it, and is read while the process is busy.

BYTES = 8


class AtWork:
    """The number of a request; 0 is none."""

    def __init__(self, file: int) -> None:
        self.file = file

    @classmethod
    def made(cls) -> "AtWork":
        """Create the file, in memory if the system supports this."""
        if hasattr(os, "memfd_create"):
            return cls(os.memfd_create("at-work"))
        with tempfile.TemporaryFile() as file:
            return cls(os.dup(file.fileno()))

    def say(self, number: int) -> None:
        os.pwrite(self.file, number.to_bytes(BYTES), 0)

    def said(self) -> int:
        return int.from_bytes(os.pread(self.file, BYTES, 0))

    def advance(self, done: int, total: int) -> None:
        """Say how far what takes long is; 0 of 0: nothing does."""
        os.pwrite(self.file, done.to_bytes(BYTES) + total.to_bytes(BYTES), BYTES)

    def advanced(self) -> tuple[int, int]:
        said = os.pread(self.file, 2 * BYTES, BYTES)
        return int.from_bytes(said[:BYTES]), int.from_bytes(said[BYTES:])

    def close(self) -> None:
        os.close(self.file)


# How much memory a process has, as both sides of the pipe look at it (proc(5), statm).

PAGE = os.sysconf("SC_PAGE_SIZE")


def resident(process: int | str | None = "self") -> int:
    """Its bytes of memory; 0 where there is no such process, or the system does not say it."""
    try:
        pages = Path(f"/proc/{process}/statm").read_text().split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * PAGE


class Envelope(Struct, frozen=True, array_like=True):
    """A request or notice on its way to a worker."""

    number: int
    session: int
    message: Raw


class Reply(Struct, frozen=True, array_like=True):
    """An answer on its way back; empty where there is a failure."""

    number: int
    answer: Raw
    failure: Failure | None = None


def _plain(value: Any) -> Any:
    """numpy's numbers and arrays, which presenters may leave in their data."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"an answer holds a {type(value).__name__}, which is no data")


ENCODER = Encoder(enc_hook=_plain)
ENVELOPES = Decoder(Envelope)
REPLIES = Decoder(Reply)


# What a web process and the process that forks its workers say to each other.

# The bytes of memory that a worker may take, and whether it takes only what processors have left.
ORDER = struct.Struct("!q?")
REPORT = struct.Struct("!qq")  # the number of a worker's process, and its exit code or STARTED
STARTED = 256  # no exit code
