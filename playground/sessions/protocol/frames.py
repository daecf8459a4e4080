"""Frames between the web process and its workers: a JSON header and raw attachments, each with its length.

Nothing is pickled: what a worker says is data.
"""

import struct
from collections.abc import Iterator, Sequence
from typing import Any

import orjson

_LENGTH = struct.Struct(">I")
_SIZE = struct.Struct(">Q")

Frame = tuple[dict[str, Any], list[bytes]]


def encode(header: dict[str, Any], attachments: Sequence[bytes] = ()) -> bytes:
    """A frame as bytes. numpy values and arrays become JSON numbers and lists."""
    head = orjson.dumps(header, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS)
    parts = [_LENGTH.pack(len(head)), _LENGTH.pack(len(attachments))]
    parts.extend(_SIZE.pack(len(one)) for one in attachments)
    parts.append(head)
    parts.extend(attachments)
    return b"".join(parts)


class Decoder:
    """Cuts a stream of bytes into frames."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[Frame]:
        """The frames that are complete now."""
        self._buffer += data
        while (frame := self._next()) is not None:
            yield frame

    def _next(self) -> Frame | None:
        buffer = self._buffer
        if len(buffer) < 8:
            return None
        head_size = _LENGTH.unpack_from(buffer, 0)[0]
        count = _LENGTH.unpack_from(buffer, 4)[0]
        start = 8 + 8 * count
        if len(buffer) < start:
            return None
        sizes = [_SIZE.unpack_from(buffer, 8 + 8 * i)[0] for i in range(count)]
        end = start + head_size + sum(sizes)
        if len(buffer) < end:
            return None
        header = orjson.loads(memoryview(buffer)[start : start + head_size])
        attachments, position = [], start + head_size
        for size in sizes:
            attachments.append(bytes(memoryview(buffer)[position : position + size]))
            position += size
        del buffer[:end]
        return header, attachments
