"""What a world holds is found by what its classes declare, and what declares nothing is refused by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

from scheduler_core.scheduler.framework.plugin import Plugin
from scheduler_core.scheduler.plugins.registry import with_plugins
from scheduler_core.world.checkpoint import Archive, CodecError, decode, encode, fingerprint
from scheduler_core.world.checkpoint.shapes import classes
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.world.checkpoint.rich import walk


@dataclass
class Newcomer:
    """A class that declares nothing."""

    amount: int = 1


def refused(state: Any) -> str:
    sim = Simulation(1)
    sim.faults["bind", "default/p"] = state
    with pytest.raises(CodecError) as problem:
        encode(sim, Archive())
    return str(problem.value)


def test_every_class_that_a_rich_world_reaches_can_be_written() -> None:
    archive = Archive()
    for step, sim in enumerate(walk(2)):
        if step % 7 == 0:
            encode(sim.fork(), archive)  # CodecError: declare the class that it names


@pytest.mark.parametrize("state", [Newcomer(), lambda: None, {1, 2}, object()])
def test_what_declares_nothing_is_refused_by_name(state: Any) -> None:
    assert "declare it as scheduler_core/base/state.py says" in refused(state)


def test_a_loop_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    assert refused(loop) == "list refers to itself"


def test_a_number_that_json_cannot_hold_is_refused() -> None:
    assert "no JSON" in refused(1 << 70)


class Note(NamedTuple):
    """What a plugin of somebody's leaves in a cycle."""

    text: str = ""


class Noting(Plugin):
    """A plugin of somebody's."""

    name = "Noting"
    state_classes = (Note,)


def test_what_a_plugin_leaves_in_a_cycle_is_written_where_it_says_so() -> None:
    assert "Note is not written" in refused(Note("x"))
    with with_plugins(Noting):
        assert Note in classes().shapes
        sim, archive = Simulation(1), Archive()
        sim.faults["bind", "default/p"] = Note("x")  # type: ignore[assignment]
        assert decode(encode(sim, archive), archive).faults == sim.faults


def test_a_world_of_other_declarations_is_not_read_and_has_another_fingerprint() -> None:
    archive, before = Archive(), fingerprint()
    data = encode(Simulation(1), archive)
    with with_plugins(Noting):
        assert fingerprint() != before
        with pytest.raises(CodecError, match="declared otherwise"):
            decode(data, archive)
    assert fingerprint() == before
