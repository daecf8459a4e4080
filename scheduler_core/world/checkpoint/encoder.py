"""Writing a world: its objects as a list in which each refers only to earlier ones, and its arrays as raw bytes.

An object that is reached twice is written once, so that what was shared is shared again. A value is itself where JSON has it, or a list of
one number: the place of an object in the list. Each object is a list that begins with its Code.
"""

import enum
import math
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import chain
from typing import Any

import msgspec
import numpy as np

from scheduler_core.apimachinery.objects.node import Node
from scheduler_core.apimachinery.objects.pod import Pod, Reading
from scheduler_core.apimachinery.objects.spec import PodSpec
from scheduler_core.base.steps import finish
from scheduler_core.base.trace.records import Record
from scheduler_core.world.checkpoint.archive import AT_ONCE, LEVEL, Archive, CodecError, dump_json
from scheduler_core.world.checkpoint.shapes import CODEC_VERSION, Shape, classes
from scheduler_core.world.simulation import Simulation


class Code(enum.IntEnum):
    """The type of an object; from FIRST_CLASS on, an index into the table of classes."""

    TUPLE = 0
    LIST = 1
    DICT = 2
    SET = 3
    ARRAY = 4
    NUMBER = 5  # a number that JSON can't represent: text of a float, or an array's scalar
    MANIFEST = 6
    POD = 7
    NODE = 8
    SPEC = 9
    ROWS = 10
    UNSET = 11
    FIRST_CLASS = 16


PARTS_AT_ONCE = 256
CHUNK = 4096
_PLAIN = frozenset((str, int, bool, type(None)))
_COLLECTIONS: dict[type, Code] = {dict: Code.DICT, list: Code.LIST, tuple: Code.TUPLE}
_UNDER_WAY = -1


def encode(world: Simulation, archive: Archive) -> bytes:
    """Return a world's bytes. Shared data goes to the archive. Raise CodecError with a class that declares nothing."""
    return finish(encoding(world, archive))


def encoding(world: Simulation, archive: Archive) -> Generator[None, None, bytes]:
    """Encode a world in slices so that other work can proceed. The world must not change meanwhile."""
    encoder = Encoder(archive)
    for count, part in enumerate(_parts(world), 1):
        encoder.value(part)
        if count % PARTS_AT_ONCE == 0:
            yield
    for part in _wholes(world):
        yield from encoder.large_collections(part)
        encoder.value(part)
        yield
    return (yield from encoder.packed(encoder.value(world)))


def _parts(world: Simulation) -> Iterator[Any]:
    """Yield the numerous objects before their containers; each is written once."""
    # A container is written in one go with all that it holds; when its parts are already written, only their
    # places are looked up, and the slice stays short.
    yield from world.store.pods()
    yield from world.store.nodes()
    for edit in (*world.edits.undo, *world.edits.redo):
        yield from edit.changes
    for kind in world.store.kinds():
        yield from world.store.list(kind)
    for scheduler in world.schedulers:
        yield from scheduler.cache.where.values()
        yield from chain.from_iterable(places.values() for places in scheduler.queue.state.maps())
    yield from world.store.named()


def _wholes(world: Simulation) -> Iterator[Any]:
    """Yield the containers of the parts."""
    for scheduler in world.schedulers:
        yield from (scheduler.cache, scheduler.snapshot, *scheduler.queue.state.maps(), scheduler.queue)
    yield from world.store.tables()
    yield world


class Encoder:
    """One world being written."""

    def __init__(self, archive: Archive) -> None:
        self.objects: list[list[Any]] = []
        self._archive = archive
        self._places: dict[int, int] = {}  # id -> place
        self._alive: list[Any] = []  # made for the writing: their ids must not be used again
        self._arrays: list[bytes] = []
        self._known = classes()
        self._shapes = self._known.shapes
        self._classes: dict[str, int] = {}  # name -> code, of those that are written
        self._how: dict[type, Callable[[Any], list[Any]]] = {
            tuple: lambda value: [Code.TUPLE, *map(self.value, value)],
            list: lambda value: [Code.LIST, *map(self.value, value)],
            dict: self._dict,
            frozenset: lambda value: [Code.SET, *map(self.value, value)],
            float: self._float,
            np.ndarray: self._array,
            Pod: self._pod,
            Node: lambda node: [Code.NODE, archive.put(node.manifest)],
            PodSpec: lambda spec: [Code.SPEC, archive.put(spec.manifest)],
            Record: self._record,
            msgspec.UnsetType: lambda unset: [Code.UNSET],
        }

    def value(self, value: Any) -> Any:
        """A value as JSON."""
        kind = type(value)
        if kind in _PLAIN:
            return value
        place = self._places.get(id(value))
        if place is None:
            self._places[id(value)] = _UNDER_WAY
            how = self._how.get(kind)
            place = self._place(value, self._other(value, kind) if how is None else how(value))
        elif place == _UNDER_WAY:
            raise CodecError(f"{kind.__name__} refers to itself")
        return [place]

    def large_collections(self, value: Any) -> Generator[None, None, None]:
        """Write a large dict, list or tuple, or those in the fields of an object, little by little."""
        kind = type(value)
        shape = self._shapes.get(kind)
        if shape is not None:
            for name in shape.fields:
                if name not in shape.rows:
                    yield from self.large_collections(getattr(value, name))
        elif kind in _COLLECTIONS and len(value) > CHUNK and id(value) not in self._places:
            self._places[id(value)] = _UNDER_WAY
            written: list[Any] = [_COLLECTIONS[kind]]
            items = [*(value.items() if kind is dict else value)]
            for begin in range(0, len(items), CHUNK):
                some = items[begin : begin + CHUNK]
                written += self._items(some) if kind is dict else map(self.value, some)
                yield
            self._place(value, written)

    def packed(self, root: Any) -> Generator[None, None, bytes]:
        """Everything written, as bytes: texts of JSON, each after its length, then the arrays."""
        chunks = [self.objects[i : i + CHUNK] for i in range(0, len(self.objects), CHUNK)]
        head = {
            "codec": CODEC_VERSION,
            "shapes": self._known.digest,
            "parts": len(self._archive.parts),
            "root": root[0],
            "classes": list(self._classes),
            "chunks": len(chunks),
        }
        packer, packed = zlib.compressobj(LEVEL), []
        for part in (head, *chunks):
            text = dump_json(part)
            packed += [packer.compress(len(text).to_bytes(4, "little")), packer.compress(text)]
            yield
        for array in self._arrays:
            for begin in range(0, len(array), AT_ONCE):
                packed.append(packer.compress(array[begin : begin + AT_ONCE]))
                yield
        return b"".join((*packed, packer.flush()))

    def _place(self, value: Any, written: list[Any]) -> int:
        place = self._places[id(value)] = len(self.objects)
        self.objects.append(written)
        return place

    def _other(self, value: Any, kind: type) -> list[Any]:
        shape = self._shapes.get(kind)
        if shape is not None:
            return self._object(value, shape)
        if kind in self._known.enums:
            self._alive.append(value)
            return [self._class(self._known.enums[kind]), int(value) if isinstance(value, int) else value.value]
        if isinstance(value, np.generic):
            self._alive.append(value)
            return [Code.NUMBER, value.dtype.str, value.item()]
        if kind in self._known.mappings:
            return [self._class(self._known.mappings[kind]), *self._items(value.items())]
        raise CodecError(
            f"{kind.__module__}.{kind.__qualname__} is not written in checkpoints; "
            "declare it as scheduler_core/base/state.py says, or name it among the state_classes of its plugin"
        )

    def _class(self, name: str) -> int:
        return self._classes.setdefault(name, int(Code.FIRST_CLASS) + len(self._classes))

    def _object(self, value: Any, shape: Shape) -> list[Any]:
        written: list[Any] = [self._class(shape.name)]
        for name in shape.fields:
            field = getattr(value, name)
            written.append(self._rows(f"{shape.name}.{name}", field) if name in shape.rows else self.value(field))
        return written

    def _rows(self, name: str, rows: list[Any]) -> list[int]:
        place = len(self.objects)
        self.objects.append([Code.ROWS, name, self._archive.extend(name, rows)])
        return [place]

    def _dict(self, value: dict[Any, Any]) -> list[Any]:
        if "metadata" in value and "kind" in value and type(value["metadata"]) is dict:
            return [Code.MANIFEST, self._archive.put(value)]
        return [Code.DICT, *self._items(value.items())]

    def _items(self, items: Iterable[tuple[Any, Any]]) -> list[Any]:
        written: list[Any] = []
        for key, item in items:
            written.append(self.value(key))
            written.append(self.value(item))
        return written

    def _float(self, value: float) -> list[Any]:
        self._alive.append(value)
        return [Code.NUMBER, "", value if math.isfinite(value) else repr(value)]

    def _array(self, value: np.ndarray[Any, Any]) -> list[Any]:
        # The bytes of other arrays are no values: those of an object array are pointers.
        if value.dtype.kind not in "biuf":
            raise CodecError(f"an array of {value.dtype} is not written in checkpoints")
        # A fixed byte order: the bytes are the same on each machine.
        plain = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<"))
        self._arrays.append(plain.tobytes())
        return [Code.ARRAY, plain.dtype.str, list(value.shape)]

    def _pod(self, pod: Pod) -> list[Any]:
        row = [Code.POD, self._archive.put(pod.manifest), self.value(pod.spec)]
        return row if pod.reading == Reading.ALL else [*row, int(pod.reading)]

    def _record(self, record: Record) -> list[Any]:
        self._alive.append(record.facts)  # made now, where nobody has looked yet
        return self._object(record, self._shapes[Record])
