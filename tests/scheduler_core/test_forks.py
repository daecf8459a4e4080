"""A world and its copies go their own ways: what is done in one is not felt in another, whoever comes first."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from functools import lru_cache

from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.apiserver.status import Refused
from scheduler_core.world.commands import ApplyObjects, Command, DeleteObjects, PatchObject, Ref, SetSettings
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.world.checkpoint.rich import again, walk
from tests.scheduler_core.world.checkpoint.test_worlds import described, kept
from tests.scheduler_core.worlds import node, pod

Deed = Callable[[Simulation, int], list[str]]


def _asked(sim: Simulation, command: Command) -> list[str]:
    try:
        return [described(sim, sim.apply(command))]
    except Refused as refused:
        return [str(refused)]


def _advance(sim: Simulation, number: int) -> list[str]:
    return [described(sim, sim.advance()) for _ in range(number % 12 + 1)]


def _add(sim: Simulation, number: int) -> list[str]:
    objects = (pod(f"new{number}", priority=number), node(f"new{number}", labels={"zone": f"z{number % 3}"}))
    return _asked(sim, ApplyObjects(objects))


def _delete(sim: Simulation, number: int) -> list[str]:
    there = [*sim.store.pods(), *sim.store.nodes()]
    chosen = there[number % len(there)].manifest
    metadata = chosen["metadata"]
    ref = Ref(chosen["kind"], metadata.get("namespace", ""), metadata["name"])
    return _asked(sim, DeleteObjects((ref,)))


def _label(sim: Simulation, number: int) -> list[str]:
    nodes = sim.store.nodes()
    ref = Ref("Node", "", nodes[number % len(nodes)].name)
    return _asked(sim, PatchObject(ref, {"metadata": {"labels": {"zone": f"z{number}"}}}))


def _lag(sim: Simulation, number: int) -> list[str]:
    return _asked(sim, SetSettings({"informer_lag": number * 1_000_000}))


DEEDS: tuple[Deed, ...] = (_advance, _advance, _advance, _add, _delete, _label, _lag)
WAYS = 3


@lru_cache(maxsize=1)
def moments() -> tuple[Simulation, ...]:
    return tuple([sim.fork() for step, sim in enumerate(walk(6)) if step % 83 == 41])


def copies(origin: Simulation) -> list[Simulation]:
    """As many as there are ways: a copy, a copy of a copy, one that was written and read."""
    return [origin.fork(), origin.fork().fork(), again(origin)]


@given(
    st.integers(0, 13),
    st.lists(st.tuples(st.integers(0, WAYS - 1), st.sampled_from(DEEDS), st.integers(0, 99)), max_size=25),
)
def test_what_is_done_in_one_copy_is_not_felt_in_another(moment: int, deeds: list[tuple[int, Deed, int]]) -> None:
    origin = moments()[moment]
    together, stories = copies(origin), [[""] for _ in range(WAYS)]
    for way, deed, number in deeds:
        stories[way] += deed(together[way], number)
    for way in range(WAYS):
        alone, story = origin.fork(), [""]
        for mine, deed, number in deeds:
            if mine == way:
                story += deed(alone, number)
        assert stories[way] == story
        assert kept(together[way]) == kept(alone)


def test_the_memory_of_a_disconnected_copy_is_free_without_the_collector() -> None:
    for moment in moments():
        world = moment.fork()
        for _ in range(30):
            world.advance()
        parts = [world, world.store, *world.schedulers, *(each.cache for each in world.schedulers)]
        seen = [weakref.ref(part) for part in parts]
        gc.disable()
        try:
            world.disconnect()
            del world, parts
            assert [ref() for ref in seen] == [None] * len(seen)
        finally:
            gc.enable()


def test_a_copy_goes_on_after_it_is_connected_again() -> None:
    for moment in moments():
        apart, beside = moment.fork(), moment.fork()
        apart.disconnect()
        apart.connect()
        for number, deed in enumerate(DEEDS):
            assert deed(apart, number) == deed(beside, number)
        assert kept(apart) == kept(beside)
