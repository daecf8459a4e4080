"""Reading a world: objects are made in the order of the list, their fields set as they were written.

No code of theirs is run; msgspec's classes, which nothing else can make, are called with what was written.

What is derived, and what wires a scheduler to its world, is not in the bytes: the world that was read is forked, and the fork has it.
"""

import enum
import zlib
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import numpy as np
import orjson

from scheduler_core.apimachinery.objects.node import Node
from scheduler_core.apimachinery.objects.pod import Pod, Reading
from scheduler_core.apimachinery.objects.spec import PodSpec
from scheduler_core.world.checkpoint.archive import MAX_PART_BYTES, Archive, CodecError
from scheduler_core.world.checkpoint.encoder import Code
from scheduler_core.world.checkpoint.shapes import CODEC_VERSION, Shape, classes
from scheduler_core.world.simulation import Simulation

Make = Callable[[list[Any]], Any]
_KINDS = frozenset("biuf")


def decode(data: bytes, archive: Archive) -> Simulation:
    """Return the world of a checkpoint. Raise CodecError if the bytes are malformed or of another format."""
    try:
        return _read(data, archive).fork()
    except CodecError:
        raise
    except (ArithmeticError, AttributeError, IndexError, KeyError, LookupError, TypeError, ValueError) as error:
        raise CodecError(f"the bytes make no world: {type(error).__name__}: {error}") from error


def _read(data: bytes, archive: Archive) -> Simulation:
    unpacker = zlib.decompressobj()
    try:
        raw = unpacker.decompress(data, MAX_PART_BYTES)
    except zlib.error as error:
        raise CodecError(f"the bytes are damaged: {error}") from None
    head, at = _text(raw, 0)
    if head["codec"] != CODEC_VERSION:
        raise CodecError(f"written by codec {head['codec']}; this is codec {CODEC_VERSION}")
    if head["shapes"] != classes().digest:
        raise CodecError("written of classes that were declared otherwise")
    objects: list[list[Any]] = []
    for _ in range(head["chunks"]):
        chunk, at = _text(raw, at)
        objects += chunk
    world = Decoder(archive, memoryview(raw)[at:], head["classes"]).read(objects)[head["root"]]
    if not isinstance(world, Simulation):
        raise CodecError(f"received {type(world).__name__}; expected a Simulation")
    return world


def _text(raw: bytes, at: int) -> tuple[Any, int]:
    """A text of JSON that begins with its length, and where the next one begins."""
    start = at + 4
    end = start + int.from_bytes(raw[at:start], "little")
    return orjson.loads(memoryview(raw)[start:end]), end


class Decoder:
    """One world being read."""

    def __init__(self, archive: Archive, arrays: memoryview, names: list[str]) -> None:
        self._archive = archive
        self._arrays = arrays
        self._at = 0
        self._objects: list[Any] = []
        self._like: dict[tuple[int, Reading], Pod] = {}  # by id of a spec and reading: a pod that has both
        self._how: dict[int, Make] = {
            Code.TUPLE: lambda row: tuple(self._values(row)),
            Code.LIST: self._values,
            Code.DICT: self._dict,
            Code.SET: lambda row: frozenset(self._values(row)),
            Code.ARRAY: self._array,
            Code.NUMBER: self._number,
            Code.MANIFEST: lambda row: archive.get(row[1]),
            Code.POD: self._pod,
            Code.NODE: lambda row: Node.from_manifest(archive.get(row[1])),
            Code.SPEC: lambda row: PodSpec.of(archive.get(row[1])),
            Code.ROWS: lambda row: archive.rows(row[1], row[2]),
            Code.UNSET: lambda row: msgspec.UNSET,
        }
        self._known = classes()
        for place, name in enumerate(names):
            self._how[Code.FIRST_CLASS + place] = self._maker(name)

    def read(self, objects: list[list[Any]]) -> list[Any]:
        """Every object, in order."""
        how, objects_read = self._how, self._objects
        for row in objects:
            objects_read.append(how[row[0]](row))
        return objects_read

    def _values(self, row: list[Any]) -> list[Any]:
        objects = self._objects
        return [objects[value[0]] if type(value) is list else value for value in row[1:]]

    def _dict(self, row: list[Any]) -> dict[Any, Any]:
        values = self._values(row)
        return dict(zip(values[::2], values[1::2], strict=True))

    def _array(self, row: list[Any]) -> np.ndarray[Any, Any]:
        dtype, shape = np.dtype(row[1]), tuple(row[2])
        if dtype.kind not in _KINDS or any(length < 0 for length in shape):
            raise CodecError(f"an array of {row[1]} {row[2]} is not read")
        size = dtype.itemsize
        for length in shape:
            size *= length
        data = self._arrays[self._at : self._at + size]
        self._at += size
        # A copy: what frombuffer returns is read-only, and would keep the whole text in memory.
        return np.frombuffer(data, dtype).reshape(shape).astype(dtype.newbyteorder("="), copy=True)

    def _number(self, row: list[Any]) -> Any:
        if row[1] == "":
            return float(row[2])
        dtype = np.dtype(row[1])
        if dtype.kind not in _KINDS:
            raise CodecError(f"a number of {row[1]} is not read")
        return dtype.type(row[2])

    def _pod(self, row: list[Any]) -> Pod:
        number, place = row[1], row[2]
        reading = Reading(row[3]) if len(row) > 3 else Reading.ALL
        pod = self._archive.pods.get(number)
        if pod is None or pod.reading is not reading:
            spec = self._objects[place[0]]
            like = self._like.get((id(spec), reading))
            pod = Pod.from_manifest(self._archive.get(number), like, reading)
            if pod.spec is spec:
                self._like.setdefault((id(spec), reading), pod)
            self._archive.pods[number] = pod
        return pod

    def _maker(self, name: str) -> Make:
        cls = self._known.by_name.get(name)
        if cls is None:
            raise CodecError(f"{name} is not read from checkpoints")
        if issubclass(cls, enum.Enum):
            return lambda row: cls(row[1])
        if issubclass(cls, dict):
            return lambda row: cls(self._dict(row))
        if issubclass(cls, tuple):
            return lambda row: tuple.__new__(cls, self._values(row))
        if issubclass(cls, msgspec.Struct):
            return lambda row: cls(*self._values(row))
        return self._object_maker(self._known.shapes[cls])

    def _object_maker(self, shape: Shape) -> Make:
        setters = [_setter(shape.cls, name) for name in shape.fields]
        begins = [(_setter(shape.cls, name), begin) for name, begin in shape.begins]
        cls: Any = shape.cls
        new, decoded, values = object.__new__, shape.decoded, self._values

        def make(row: list[Any]) -> Any:
            target: Any = new(cls)
            for setter, value in zip(setters, values(row), strict=True):
                setter(target, value)
            for setter, begin in begins:
                setter(target, begin())
            if decoded is not None:
                decoded(target)
            return target

        return make


def _setter(cls: type, name: str) -> Callable[[Any, Any], None]:
    """Return a function that sets a field, even of a frozen class: by its slot, or in the object's dict."""
    for base in cls.__mro__:
        slot: Mapping[str, Any] = vars(base)
        if name in slot and hasattr(slot[name], "__set__"):
            setter: Callable[[Any, Any], None] = slot[name].__set__
            return setter

    def put(target: Any, value: Any) -> None:
        vars(target)[name] = value

    return put
