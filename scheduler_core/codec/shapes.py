"""The classes that a checkpoint may hold, and how each is written: all told by what the classes themselves declare (state.py).

They are found from three roots: what a Simulation's fields name, the actions of the agenda, and what plugins leave in a cycle (their
`state_classes`). So which classes there are depends on no order of imports, and what is on the way is declared or an error.
"""

from __future__ import annotations

import enum
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from scheduler_core.plugins.registry import state_classes
from scheduler_core.simulation import Simulation
from scheduler_core.simulation.actions import ROWS
from scheduler_core.state import SharedState, State, fields_of, reachable


@dataclass(frozen=True, slots=True)
class Shape:
    """How a class is written. `fields` are the names of those that are, `begins` what others are in an object that was read, before
    `decoded` fills them; `rows` the classes of the rows of lists that only grow.
    """

    cls: type
    name: str
    fields: tuple[str, ...]
    begins: tuple[tuple[str, Callable[[], Any]], ...]
    rows: Mapping[str, type]
    decoded: Callable[[Any], None] | None


def shapes() -> Mapping[type, Shape]:
    """By class, but for enums and mappings, which have no fields."""
    return _shapes(_roots())


def enums() -> Mapping[type, str]:
    """Names by class."""
    return {cls: class_name(cls) for cls in reachable(_roots()) if issubclass(cls, enum.Enum)}


def mappings() -> frozenset[type]:
    """Dicts of other kinds."""
    return frozenset(cls for cls in reachable(_roots()) if issubclass(cls, dict))


def by_name() -> Mapping[str, type]:
    return {class_name(cls): cls for cls in reachable(_roots())}


def row_types() -> Mapping[str, type]:
    """Of lists that only grow, by the names that they have in an archive."""
    return {f"{shape.name}.{name}": row for shape in shapes().values() for name, row in shape.rows.items()}


def class_name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def digest() -> str:
    """Tells other shapes from these: classes, their fields and what the fields say, and the values of enums."""
    return _digest(_roots())


def _roots() -> tuple[type, ...]:
    return (Simulation, *(row.kind for row in ROWS), *state_classes())


@lru_cache(maxsize=2)
def _shapes(roots: tuple[type, ...]) -> Mapping[type, Shape]:
    return {cls: _shape(cls) for cls in reachable(roots) if not issubclass(cls, enum.Enum | dict)}


@lru_cache(maxsize=2)
def _digest(roots: tuple[type, ...]) -> str:
    into = hashlib.blake2b(digest_size=12)
    for cls in sorted(reachable(roots), key=class_name):
        into.update(class_name(cls).encode() + b"\0")
        if issubclass(cls, enum.Enum):
            said = [f"{member.name} {member.value}" for member in cls]
        else:
            said = [f"{f.name} {f.carried} {f.written} {f.copy is None}" for f in _shape_fields(cls)]
        into.update("\n".join(said).encode() + b"\0")
    return into.hexdigest()


def _shape_fields(cls: Any) -> tuple[Any, ...]:
    return () if issubclass(cls, dict) else fields_of(cls)


def _shape(cls: Any) -> Shape:
    fields = fields_of(cls)
    decoded = getattr(cls, "decoded", None) if issubclass(cls, State | SharedState) else None
    return Shape(
        cls,
        class_name(cls),
        tuple(field.name for field in fields if field.written),
        tuple((field.name, field.begin) for field in fields if field.begin is not None),
        {field.name: field.row for field in fields if field.row is not None},
        None if decoded in (State.decoded, SharedState.decoded) else decoded,
    )
