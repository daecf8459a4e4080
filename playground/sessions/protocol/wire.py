"""The wire format of requests and answers: msgpack messages, each prefixed with its length. Nothing is pickled: messages are data.

A request travels in an envelope with its number (0: no answer is wanted) and its session; its content is validated when it is unpacked,
as is the answer, by its type. Each side implements its own half: web/engines.py and worker/process.py.
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

# Messages in a byte stream: each is prefixed with its length.

READ = 1 << 20  # bytes that each side reads at once
_LENGTH = struct.Struct(">Q")


def frame_message(data: bytes) -> bytes:
    """Return a message with its length in front."""
    return _LENGTH.pack(len(data)) + data


def write_all(sink: int, data: bytes) -> None:
    """Write all bytes to a file descriptor, in as many calls as necessary."""
    view = memoryview(data)
    while view:
        view = view[os.write(sink, view) :]


class Frames:
    """A splitter of a byte stream into messages."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Add bytes of the stream, and yield the messages that are complete now."""
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


# A worker's current request and its progress, in a file shared with the web process: the file survives a crash of the worker, and can be
# read while the worker is busy.

BYTES = 8


class AtWork:
    """The shared file with the number of the request that a worker executes (0: none), and the progress of blocking work."""

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
        """Record the progress of blocking work; 0 of 0: there is none."""
        os.pwrite(self.file, done.to_bytes(BYTES) + total.to_bytes(BYTES), BYTES)

    def advanced(self) -> tuple[int, int]:
        said = os.pread(self.file, 2 * BYTES, BYTES)
        return int.from_bytes(said[:BYTES]), int.from_bytes(said[BYTES:])

    def close(self) -> None:
        os.close(self.file)


# The memory of a process, as both sides of the pipe measure it (proc(5), statm).

PAGE = os.sysconf("SC_PAGE_SIZE")


def resident(process: int | str | None = "self") -> int:
    """Return the resident memory of a process in bytes; 0 if there is no such process, or the system does not report it."""
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
    """An answer on its way back; empty if there is a failure."""

    number: int
    answer: Raw
    failure: Failure | None = None


def _plain(value: Any) -> Any:
    """Convert numpy's numbers and arrays, which presenters may leave in their data. Raise TypeError for other types."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"an answer holds a {type(value).__name__}, which is no data")


ENCODER = Encoder(enc_hook=_plain)
ENVELOPES = Decoder(Envelope)
REPLIES = Decoder(Reply)


# The messages between a web process and the process that forks its workers.

# A worker's memory limit in bytes, and whether it runs at idle priority.
ORDER = struct.Struct("!q?")
REPORT = struct.Struct("!qq")  # the pid of a worker, and its exit code or STARTED
STARTED = 256  # no exit code
