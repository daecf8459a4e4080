"""Archive: the data that the checkpoints of one session share: manifests, stored once by number, and rows of append-only lists.

An archive is written in parts. Each part holds the data since the previous part, so the total grows with history, not with its square.
Manifests are stored as JSON by content. Large parts of a spec (containers, tolerations ...) are texts of their own, so that pods of one
template share them, in the bytes and in the objects.
"""

import hashlib
import struct
import zlib
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np
import orjson

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.world.checkpoint.shapes import classes

LEVEL = 1
AT_ONCE = 1 << 18  # bytes that are packed between two turns of others
MAX_PART_BYTES = 512 << 20  # of one part, unpacked
_HEAD = struct.Struct("<III")  # first text, number of texts, bytes of the rows
_DIGEST_BYTES = 16


class CodecError(ValueError):
    """A world that can't be written, or bytes that can't be read."""


@dataclass(frozen=True, slots=True)
class _Part:
    """Texts `first` to `first + count - 1`, and rows; `data` is compressed."""

    first: int
    count: int
    data: bytes


class Archive:
    """Texts and rows by number. `release_when_idle` drops its caches."""

    def __init__(self) -> None:
        self.parts: list[_Part] = []
        self._fresh: list[bytes] = []  # texts that are in no part yet
        self._rows: dict[str, list[Any]] = {}
        self._sealed: dict[str, int] = {}  # rows that are in a part
        self._numbers: dict[bytes, int] | None = {}  # digest -> number; None: to be made again from the parts
        self._known: dict[int, tuple[Any, int]] = {}  # id -> (object, number)
        self._objects: dict[int, Any] = {}  # number -> object
        self._texts: dict[int, list[bytes]] = {}  # unpacked parts by their first text
        self.pods: dict[int, Pod] = {}  # number of the manifest -> the pod made from it

    @property
    def size(self) -> int:
        """The size of all parts in bytes."""
        return sum(len(part.data) for part in self.parts)

    @property
    def count(self) -> int:
        """The number of texts."""
        sealed = self.parts[-1].first + self.parts[-1].count if self.parts else 0
        return sealed + len(self._fresh)

    def release_when_idle(self) -> None:
        """Drop the data that can be rebuilt."""
        self._numbers = None if self.parts else self._numbers
        self._known, self._objects, self._texts, self.pods = {}, {}, {}, {}

    # Manifests

    def put(self, manifest: Mapping[str, Any]) -> int:
        """Return the number of a manifest, which must not change afterwards."""
        known = self._known.get(id(manifest))
        if known is not None:
            return known[1]
        shallow: Any = dict(manifest)
        shared: list[tuple[str, int]] = []
        spec = manifest.get("spec")
        if type(spec) is dict:
            inner = dict(spec)
            for name, value in spec.items():
                if value and type(value) in (dict, list):
                    shared.append((name, self._put_part(value)))
                    # A placeholder instead of a deletion: when the part is put back, the keys keep their order.
                    inner[name] = 0
            shallow["spec"] = inner
        return self._remember(manifest, self._text(dump_json([shallow, shared])))

    def _put_part(self, value: Any) -> int:
        known = self._known.get(id(value))
        return known[1] if known is not None else self._remember(value, self._text(dump_json(value)))

    def _remember(self, value: Any, number: int) -> int:
        # Keep the object with its number: as long as it lives, Python gives its id to no other object.
        self._known[id(value)] = (value, number)
        self._objects.setdefault(number, value)
        return number

    def _text(self, text: bytes) -> int:
        if self._numbers is None:
            self._numbers = {_digest(each): i for i, each in enumerate(self._all_texts())}
        digest = _digest(text)
        number = self._numbers.get(digest)
        if number is None:
            number = self._numbers[digest] = self.count
            self._fresh.append(text)
        return number

    def get(self, number: int) -> Any:
        """Return the manifest of a number: the same object every time until `release_when_idle`."""
        manifest = self._objects.get(number)
        if manifest is None:
            manifest, shared = orjson.loads(self._find(number))
            for name, part in shared:
                manifest["spec"][name] = self._part(part)
            self._objects[number] = manifest
            self._known[id(manifest)] = (manifest, number)
        return manifest

    def _part(self, number: int) -> Any:
        part = self._objects.get(number)
        if part is None:
            part = self._objects[number] = orjson.loads(self._find(number))
            self._known[id(part)] = (part, number)
        return part

    def _find(self, number: int) -> bytes:
        if self.parts and number < self.parts[-1].first + self.parts[-1].count:
            part = next(part for part in reversed(self.parts) if part.first <= number)
            texts = self._texts.get(part.first)
            if texts is None:
                texts = self._texts[part.first] = _texts_of(_unpack(part.data))
            return texts[number - part.first]
        return self._fresh[number - (self.count - len(self._fresh))]

    def _all_texts(self) -> Iterator[bytes]:
        for part in self.parts:
            yield from _texts_of(_unpack(part.data))
        yield from self._fresh

    # Lists that only grow

    def extend(self, name: str, rows: Sequence[Any]) -> int:
        """Store a list's rows and return their count. The list must continue the stored rows, or be their beginning."""
        kept = self._rows.setdefault(name, [])
        # Rows are only appended: if the last common row is equal, so are those before it. To compare all would cost
        # more with each checkpoint.
        common = min(len(kept), len(rows))
        if common and kept[common - 1] != rows[common - 1]:
            raise CodecError(f"{name}: row {common - 1} is not what it was")
        kept.extend(rows[len(kept) :])
        return len(rows)

    def rows(self, name: str, count: int) -> list[Any]:
        """The first rows of a list."""
        kept = self._rows.get(name, [])
        if count > len(kept):
            raise CodecError(f"{name}: {count} rows are requested, {len(kept)} are kept")
        return kept[:count]

    # Parts

    def sealing(self) -> Generator[None, None, bytes | None]:
        """Build a part with the data since the previous part, or None if there is none.

        Runs in slices so that other work can proceed. The archive must not change meanwhile.
        """
        rows = {name: kept[self._sealed.get(name, 0) :] for name, kept in self._rows.items()}
        if not self._fresh and not any(rows.values()):
            return None
        packed = dump_json({name: _columns(new) for name, new in rows.items() if new})
        yield
        lengths = np.array([len(text) for text in self._fresh], "<u4").tobytes()
        first = self.count - len(self._fresh)
        raw = b"".join((_HEAD.pack(first, len(self._fresh), len(packed)), packed, lengths, *self._fresh))
        packer, done = zlib.compressobj(LEVEL), []
        for begin in range(0, len(raw), AT_ONCE):
            yield
            done.append(packer.compress(raw[begin : begin + AT_ONCE]))
        data = b"".join((*done, packer.flush()))
        self.parts.append(_Part(first, len(self._fresh), data))
        self._fresh = []
        self._sealed = {name: len(kept) for name, kept in self._rows.items()}
        return data

    def load(self, data: bytes) -> None:
        """Add a sealed part. Raise CodecError if the data is not the next part."""
        try:
            raw = _unpack(data)
            first, count, size = _HEAD.unpack_from(raw)
            if first != self.count or self._fresh:
                raise CodecError(f"a part begins with text {first}; expected {self.count}")
            types = classes().rows
            for name, columns in orjson.loads(raw[_HEAD.size : _HEAD.size + size]).items():
                kept = self._rows.setdefault(name, [])
                kept.extend(_rows_of(types[name], columns))
                self._sealed[name] = len(kept)
            self.parts.append(_Part(first, count, data))
            self._texts[first] = _texts_of(raw)
            self._numbers = None
        except (KeyError, IndexError, TypeError, ValueError, struct.error) as error:
            raise CodecError(f"the bytes make no part of an archive: {error}") from error


def dump_json(value: Any) -> bytes:
    """Return a value as JSON. Raises CodecError for one that JSON does not have."""
    try:
        return orjson.dumps(value)
    except TypeError as error:
        raise CodecError(f"no JSON: {error}") from None


def _digest(text: bytes) -> bytes:
    return hashlib.blake2b(text, digest_size=_DIGEST_BYTES).digest()


def _unpack(data: bytes) -> bytes:
    unpacker = zlib.decompressobj()
    try:
        # With a limit: few compressed bytes may unpack to more than the memory holds.
        raw = unpacker.decompress(data, MAX_PART_BYTES)
    except zlib.error as error:
        raise CodecError(f"the bytes are damaged: {error}") from None
    if not unpacker.eof:
        raise CodecError("the bytes are cut short, or too many")
    return raw


def _texts_of(raw: bytes) -> list[bytes]:
    _, count, size = _HEAD.unpack_from(raw)
    start = _HEAD.size + size
    at = start + 4 * count
    texts = []
    for length in np.frombuffer(raw, "<u4", count, start).tolist():
        texts.append(raw[at : at + length])
        at += length
    return texts


def _columns(rows: Sequence[Any]) -> list[list[Any]]:
    names = _names(type(rows[0]))
    return [list(map(attrgetter(name), rows)) for name in names]


def _names(row: type) -> tuple[str, ...]:
    names = getattr(row, "_fields", None)
    return names if names is not None else tuple(row.__dataclass_fields__)  # type: ignore[attr-defined]


def _rows_of(row: type, columns: list[list[Any]]) -> list[Any]:
    nested = [any(type(value) is list for value in column) for column in columns]
    values_of = [list(map(_tuples, column)) if deep else column for deep, column in zip(nested, columns, strict=True)]
    return [row(*values) for values in zip(*values_of, strict=True)]


def _tuples(value: Any) -> Any:
    # JSON has no tuples: what was one in a row was read as a list.
    return tuple(map(_tuples, value)) if type(value) is list else value
