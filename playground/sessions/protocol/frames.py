"""Messages in a stream of bytes: each stands behind its length."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator

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
