"""A world that was written and read goes on exactly as the one that was not."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from playground.presenters import PANELS, Look, present
from scheduler_core.formats.export.traces import digest
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.world.checkpoint.rich import again, walk

GOES_ON = 60


def described(sim: Simulation, records: Any) -> str:
    """What a transition did, what is kept of it, and the cycle in all detail."""
    cycles = [digest(s.cycle) for s in sim.schedulers if s.cycle is not None and s.cycle.ended is not None]
    return json.dumps([[record.to_json() for record in records], sim.position, sim.now, cycles])


def panels(sim: Simulation) -> str:
    return msgspec.json.encode([present(name, sim, Look(), "").to_json() for name in PANELS]).decode()


def kept(sim: Simulation) -> tuple[Any, ...]:
    store, journal = sim.store, sim.journal
    objects = {kind: store.list(kind) for kind in store.kinds()}
    return objects, store.events, journal.moves, journal.attempts, journal.last_move, sim.edits.undo == ()


@pytest.mark.parametrize("seed", range(5))
def test_the_future_and_the_panels_are_the_same_to_the_byte(seed: int) -> None:
    compared = 0
    for at, sim in enumerate(walk(seed)):
        if at % 97 != seed * 19:
            continue
        compared += 1
        one, two = sim.fork(), again(sim)
        assert (described(one, one.last), panels(one)) == (described(two, two.last), panels(two))
        for _ in range(GOES_ON):
            assert described(one, one.advance()) == described(two, two.advance())
        assert kept(one) == kept(two)
        assert panels(one) == panels(two)
    assert compared > 1


def test_a_world_that_is_written_and_read_on_its_way_comes_to_the_same_end() -> None:
    *_, plain = walk(3)
    *_, reread = walk(3, through=again)
    assert kept(reread) == kept(plain)


def test_what_was_shared_is_shared_again() -> None:
    *_, sim = walk(1, steps=500)
    twin = again(sim)
    scheduler = twin.schedulers[0]
    pod = next(pod for pod in twin.store.pods() if pod.node_name)
    assert scheduler.cache.where[pod.uid][0] is pod
    assert twin.store.get("Pod", pod.namespace, pod.name) is pod.manifest
    if scheduler.cycle is not None and sim.schedulers[0].cycle is not None:
        same = sim.schedulers[0].cycle.nodes is sim.schedulers[0].snapshot
        assert (scheduler.cycle.nodes is scheduler.snapshot) is same
