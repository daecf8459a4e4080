"""What a class declares of its fields, and that copies of a world keep to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, is_dataclass
from itertools import chain
from typing import Any, NamedTuple, Protocol

import numpy as np
import pytest
from numpy.typing import NDArray

from scheduler_core.base.state import (
    Copied,
    DeclarationError,
    Derived,
    Growing,
    Shared,
    SharedState,
    State,
    fields_of,
    reachable,
)
from scheduler_core.world.checkpoint.shapes import classes
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.test_replicas import two_replicas
from tests.scheduler_core.world.checkpoint.rich import walk


class Row(NamedTuple):
    number: int


class Part(State):
    __slots__ = ("amounts",)

    amounts: Copied[list[int]]

    def __init__(self) -> None:
        self.amounts = [1]


class Interned(SharedState):
    names: list[str]


class Elsewhere(Protocol):
    """What is no state."""


@dataclass(slots=True)
class Whole(State):
    number: int = 0
    texts: tuple[str, ...] = ()
    manifest: Mapping[str, Any] = field(default_factory=dict)
    interned: Interned = field(default_factory=Interned)
    part: Copied[Part | None] = field(default_factory=Part)
    parts: Copied[dict[str, list[int]]] = field(default_factory=lambda: {"a": [1]})
    scores: Copied[list[Shared[NDArray[np.int64]]]] = field(default_factory=lambda: [np.ones(2, np.int64)])
    array: Copied[NDArray[np.int64]] = field(default_factory=lambda: np.ones(2, np.int64))
    table: Shared[dict[str, int]] = field(default_factory=dict)
    rows: Growing[Row] = field(default_factory=list)
    index: Derived[Copied[dict[str, int]]] = field(default_factory=lambda: {"a": 1})
    log: Derived[list[int]] = field(default_factory=lambda: [1])
    elsewhere: Derived[Elsewhere | None] = None


def test_a_copy_has_the_same_values() -> None:
    whole = Whole(7, ("x",), part=None)
    twin = whole.copy()
    assert type(twin) is Whole
    assert (twin.number, twin.texts, twin.part, twin.parts, twin.index) == (7, ("x",), None, {"a": [1]}, {"a": 1})
    assert twin.array.tolist() == [1, 1]


def test_what_is_copied_is_a_copys_own_as_deep_as_it_can_be_changed() -> None:
    whole = Whole()
    twin = whole.copy()
    assert twin.part is not None and whole.part is not None
    twin.part.amounts.append(2)
    twin.parts["a"].append(2)
    twin.array[0] = 2
    twin.rows.append(Row(1))
    twin.index["b"] = 2
    twin.scores.append(twin.array)
    assert (whole.part.amounts, whole.parts, whole.rows, whole.index) == ([1], {"a": [1]}, [], {"a": 1})
    assert (whole.array.tolist(), len(whole.scores)) == ([1, 1], 1)


def test_what_is_shared_is_the_very_same() -> None:
    whole = Whole()
    twin = whole.copy()
    assert (twin.table is whole.table, twin.manifest is whole.manifest) == (True, True)
    assert (twin.scores[0] is whole.scores[0], twin.interned is whole.interned) == (True, True)


def test_what_is_derived_begins_empty_or_unset() -> None:
    twin = Whole().copy()
    assert twin.log == []
    with pytest.raises(AttributeError):
        _ = twin.elsewhere


def test_a_copy_ties_its_parts_together() -> None:
    class Tied(State):
        part: Copied[Part]
        same: Shared[Part]

        def __init__(self) -> None:
            self.part = self.same = Part()

        def copied_from(self, original: Tied) -> None:
            self.same = self.part if self.same is original.part else self.same

    twin = Tied().copy()
    assert twin.same is twin.part


class Silent(State):
    amounts: list[int]


class Vain(State):
    number: Copied[int]


class Vague(State):
    value: Any


class Deep(State):
    pairs: Copied[dict[str, Any]]


class InATuple(State):
    pair: Copied[list[tuple[int, list[int]]]]


class Foreign(State):
    other: Elsewhere


class Slotted(State):
    __slots__ = ("forgotten", "number")

    number: int


@pytest.mark.parametrize(
    ("cls", "problem"),
    [
        (Silent, "Silent.amounts says nothing, and what is in it can be changed in place"),
        (Vain, "Vain.number says that it is copied, but nothing can be changed in place"),
        (Vague, "Vague.value: .* may be anything; say Shared, or Derived"),
        (Deep, "Deep.pairs: .* may be anything"),
        (InATuple, "InATuple.pair: what is in the tuple can be changed in place"),
        (Foreign, "Foreign.other: Elsewhere is neither frozen nor a State"),
        (Slotted, "Slotted declares no forgotten"),
    ],
)
def test_a_class_that_says_too_little_or_too_much_is_refused(cls: type, problem: str) -> None:
    with pytest.raises(DeclarationError, match=problem):
        fields_of(cls)


@dataclass
class Loose:
    """Neither frozen nor a State."""


class Holder(State):
    loose: Shared[Loose]


def test_what_a_checkpoint_would_hold_and_cannot_is_refused_by_name() -> None:
    with pytest.raises(DeclarationError, match="Loose is neither frozen nor a State"):
        reachable((Holder,))


# A world's classes


def _objects(sim: Simulation) -> Iterator[Any]:
    """Every object that a world's written fields lead to, once."""
    seen: set[int] = set()
    ahead: list[Any] = [sim]
    while ahead:
        value = ahead.pop()
        if id(value) in seen or isinstance(value, int | str | type(None)):
            continue
        seen.add(id(value))
        yield value
        ahead.extend(_parts(value))


def _parts(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [*value, *value.values()]
    if type(value) in (list, tuple, frozenset):
        return list(value)
    shape = classes().shapes.get(type(value))
    return [] if shape is None else [getattr(value, name) for name in shape.fields]


def _own(value: Any) -> set[str]:
    """The names of an object's fields, declared or not."""
    if is_dataclass(value) or isinstance(value, tuple):
        return set()
    slots = {name for base in type(value).__mro__ for name in vars(base).get("__slots__", ())}
    return slots | set(getattr(value, "__dict__", ()))


def test_every_object_of_a_rich_world_has_the_fields_that_its_class_declares_and_no_others() -> None:
    seen: set[type] = set()
    rich = (sim for step, sim in enumerate(walk(2)) if step % 40 == 0)
    for sim in chain(rich, (two_replicas(),)):
        for value in _objects(sim):
            if isinstance(value, State | SharedState) and type(value) not in seen:
                seen.add(type(value))
                assert _own(value) <= {each.name for each in fields_of(type(value))}, type(value)
    declared = {cls for cls in classes().shapes if issubclass(cls, State | SharedState)}
    assert len(seen) > 0.9 * len(declared)


def _common(one: State, two: State, path: str = "world") -> Iterator[str]:
    """What two worlds have in common of what is declared as copied."""
    for each in fields_of(type(one)):
        mine, others = getattr(one, each.name, None), getattr(two, each.name, None)
        if each.copy is not None and mine is not None:
            if mine is others:
                yield f"{path}.{each.name}"
            for key, value in mine.items() if isinstance(mine, dict) else [("", mine)]:
                if isinstance(value, State):
                    twin = others[key] if isinstance(mine, dict) else others
                    yield from [key] if value is twin else _common(value, twin, f"{path}.{each.name}")


@pytest.mark.parametrize("steps", [150, 333, 700, 1100])
def test_a_fork_has_nothing_in_common_that_is_declared_as_copied(steps: int) -> None:
    *_, sim = walk(4, steps=steps)
    assert list(_common(sim, sim.fork())) == []


def test_a_forks_parts_are_tied_to_each_other_as_the_worlds_were() -> None:
    for sim in walk(4, steps=700):
        fork, scheduler = sim.fork(), sim.schedulers[0]
        twin = fork.schedulers[0]
        assert twin.world is fork
        assert twin.snapshot.resources is twin.cache.resources
        assert twin.algorithm_state.nominator is twin.queue.nominator is not scheduler.queue.nominator
        if scheduler.cycle is not None and twin.cycle is not None:
            same = scheduler.cycle.nodes is scheduler.snapshot
            assert twin.cycle.nodes is (twin.snapshot if same else scheduler.cycle.nodes)
