"""The commands of a session's log inside a worker: by position, decoded on demand, with a running digest."""

import hashlib
import zlib
from bisect import bisect_left
from collections.abc import Iterator, Mapping

import msgspec
import orjson

from playground.sessions.worker.world import Command, command_from_json

_DIGEST_BYTES = 16


class _Entry(msgspec.Struct):
    """The command of an entry in the log; a worker ignores the entry's other fields."""

    command: Command


_entries = msgspec.json.Decoder(_Entry)


def read_command(data: bytes) -> Command:
    """Return the command of an entry in the log, JSON from command_data. Raise Refused with the invalid field."""
    try:
        return _entries.decode(data).command
    except msgspec.ValidationError:
        return command_from_json(orjson.loads(data)["command"])  # raises a readable error


class Commands(Mapping[int, Command]):
    """The commands by position. A command stays compressed, as in the log, until its first use."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._positions: list[int] = []
        self._payloads: list[bytes] = []
        self._digests: list[bytes] = [_digest(b"", str(seed).encode())]
        self._index: dict[int, int] = {}
        self._read: dict[int, Command] = {}

    def __getitem__(self, at: int) -> Command:
        if at not in self._read:
            self._read[at] = read_command(zlib.decompress(self._payloads[self._index[at]]))
        return self._read[at]

    def __contains__(self, at: object) -> bool:
        return at in self._index

    def __iter__(self) -> Iterator[int]:
        return iter(self._positions)

    def __len__(self) -> int:
        return len(self._positions)

    def add(self, at: int, payload: bytes) -> None:
        """Add the next command, in the form of the log (compressed JSON)."""
        self._index[at] = len(self._positions)
        self._positions.append(at)
        self._payloads.append(payload)
        self._digests.append(_digest(self._digests[-1], str(at).encode(), payload))

    def cut(self, keep: int) -> None:
        """Discard the commands at a position or later."""
        count = bisect_left(self._positions, keep)
        del self._positions[count:], self._payloads[count:], self._digests[count + 1 :]
        self._index = {at: index for at, index in self._index.items() if at < keep}
        self._read = {at: command for at, command in self._read.items() if at < keep}

    def until(self, at: int) -> "Commands":
        """Return the commands before a position, for a fork."""
        other = Commands(self._seed)
        other._positions, other._payloads = list(self._positions), list(self._payloads)
        other._digests, other._index = list(self._digests), dict(self._index)
        other.cut(at)
        return other

    def digest(self, position: int) -> str:
        """Return a digest of the inputs to a world at a position, besides the engine: the seed and the commands before it."""
        return self._digests[bisect_left(self._positions, position)].hex()


def _digest(*parts: bytes) -> bytes:
    into = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    for part in parts:
        into.update(len(part).to_bytes(8, "little") + part)
    return into.digest()
