"""The list of classes is whole, and what is not on it is refused by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from scheduler_core.codec import Archive, CodecError, encode
from scheduler_core.codec.shapes import ABSENT, CLASSES, shapes
from scheduler_core.simulation import Simulation
from tests.scheduler_core.codec.rich import walk


@dataclass
class Newcomer:
    """A class that nobody has named in shapes.py."""

    amount: int = 1


def refused(state: Any) -> str:
    sim = Simulation(1)
    sim.faults["bind", "default/p"] = state
    with pytest.raises(CodecError) as problem:
        encode(sim, Archive())
    return str(problem.value)


def test_every_class_that_a_rich_world_reaches_is_on_the_list() -> None:
    archive = Archive()
    for step, sim in enumerate(walk(2)):
        if step % 7 == 0:
            encode(sim.fork(), archive)  # CodecError: add the class that it names to codec/shapes.py


@pytest.mark.parametrize("state", [Newcomer(), lambda: None, {1, 2}, object()])
def test_what_is_not_on_the_list_is_refused_by_name(state: Any) -> None:
    assert "name it in scheduler_core/codec/shapes.py" in refused(state)


def test_a_loop_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    assert refused(loop) == "list refers to itself"


def test_a_number_that_json_cannot_hold_is_refused() -> None:
    assert "no JSON" in refused(1 << 70)


def _listed() -> Iterator[tuple[type, str]]:
    yield from ((cls, name) for cls, fields in ABSENT.items() for name in fields)


@pytest.mark.parametrize(("cls", "name"), list(_listed()))
def test_what_is_left_out_is_a_field_of_the_class(cls: type, name: str) -> None:
    assert cls in CLASSES
    shape = shapes()[cls]
    reached = {type(one): vars(one) for one in _plain_objects()} if shape.fields is None else {}
    assert name in (reached[cls] if reached else _declared(cls))


def _declared(cls: type) -> set[str]:
    slots = {name for base in cls.__mro__ for name in vars(base).get("__slots__", ())}
    return slots | set(getattr(cls, "__dataclass_fields__", ()))


def _plain_objects() -> list[Any]:
    sim = Simulation(1)
    scheduler = sim.schedulers[0]
    table = scheduler.snapshot.pod_table
    return [sim, scheduler, scheduler.queue, sim.store, scheduler.cache, table, table.classes]
