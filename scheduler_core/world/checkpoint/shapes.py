"""The classes that a checkpoint may hold, and how each is written: all from what the classes themselves declare (state.py).

They are reached from three roots: what a Simulation's fields name, the actions of the agenda, and what plugins leave in a cycle (their
`state_classes`). So which classes there are depends on no order of imports, and one on the way that declares nothing is an error.
"""

import enum
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from scheduler_core import ENGINE_VERSION
from scheduler_core.base.state import SharedState, State, fields_of, reachable
from scheduler_core.base.trace.kinds import CLASSES
from scheduler_core.scheduler.plugins.registry import state_classes
from scheduler_core.world.commands import CommandRecord
from scheduler_core.world.simulation import Simulation
from scheduler_core.world.simulation.actions import ROWS


@dataclass(frozen=True, slots=True)
class Shape:
    """The encoding of a class. `fields` are the written fields, `begins` the initial values of others in a decoded object, before
    `decoded` fills them; `rows` the classes of the rows of lists that only grow.
    """

    cls: type
    name: str
    fields: tuple[str, ...]
    begins: tuple[tuple[str, Callable[[], Any]], ...]
    rows: Mapping[str, type]
    decoded: Callable[[Any], None] | None


@dataclass(frozen=True, slots=True)
class Classes:
    """All classes that a checkpoint may hold. `shapes` leaves out enums and mappings (dicts of other kinds), which have no fields.

    `rows` are by the name of their list in an archive. `digest` changes with the declarations.
    """

    by_name: Mapping[str, type]
    shapes: Mapping[type, Shape]
    enums: Mapping[type, str]
    mappings: Mapping[type, str]
    rows: Mapping[str, type]
    digest: str


def classes() -> Classes:
    """Return the classes, given the current plugins."""
    return _classes((Simulation, *(row.kind for row in ROWS), *CLASSES, CommandRecord, *state_classes()))


@lru_cache(maxsize=2)
def _classes(roots: tuple[type, ...]) -> Classes:
    reached = reachable(roots)
    shapes = {cls: _shape(cls) for cls in reached if not issubclass(cls, enum.Enum | dict)}
    return Classes(
        by_name={class_name(cls): cls for cls in reached},
        shapes=shapes,
        enums={cls: class_name(cls) for cls in reached if issubclass(cls, enum.Enum)},
        mappings={cls: class_name(cls) for cls in reached if issubclass(cls, dict)},
        rows={f"{shape.name}.{name}": row for shape in shapes.values() for name, row in shape.rows.items()},
        digest=_digest(reached),
    )


def class_name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def _shape(cls: Any) -> Shape:
    fields = fields_of(cls)
    decoded = cls.decoded if issubclass(cls, State | SharedState) else None
    return Shape(
        cls,
        class_name(cls),
        tuple(field.name for field in fields if field.written),
        tuple((field.name, field.begin) for field in fields if field.begin is not None),
        {field.name: field.row for field in fields if field.row is not None},
        None if decoded in (State.decoded, SharedState.decoded) else decoded,
    )


def _digest(reached: tuple[type, ...]) -> str:
    into = hashlib.blake2b(digest_size=12)
    for cls in sorted(reached, key=class_name):
        into.update("\n".join([class_name(cls), *_list_declarations(cls)]).encode() + b"\0")
    return into.hexdigest()


def _list_declarations(cls: Any) -> list[str]:
    """Return a class's declarations as texts: values of an enum, or fields with their handling."""
    if issubclass(cls, enum.Enum):
        return [f"{member.name} {member.value}" for member in cls]
    fields = () if issubclass(cls, dict) else fields_of(cls)
    return [f"{field.name} {field.carried} {field.written} {field.copy is None}" for field in fields]


# Whether bytes that were written once may still be read: the codec's version, what is declared, and the engine's sources.
#
# A checkpoint is only a shortcut to what a replay would give, so it is of use to exactly the engine that wrote it: one that behaves
# otherwise with the same classes must not read it. That is what the sources are for; what is declared covers installed plugins, whose
# sources are elsewhere, and is all there is where there are no sources to read.

CODEC_VERSION = 2
_ROOT = Path(__file__).resolve().parents[2]


def fingerprint() -> str:
    """Return the versions of codec and engine, a digest of the declarations, and one of every module of scheduler_core:
    `2/1/5f0c.../91ab...`.
    """
    return f"{CODEC_VERSION}/{ENGINE_VERSION}/{classes().digest}/{_sources()}"


@lru_cache(maxsize=1)
def _sources() -> str:
    into = hashlib.blake2b(digest_size=12)
    for file in sorted(_ROOT.rglob("*.py")):
        into.update(file.relative_to(_ROOT).as_posix().encode() + b"\0")
        into.update(file.read_bytes() + b"\0")
    return into.hexdigest()
