"""A world in the middle of a call goes on the same after it was written and read, or copied."""

import json
from typing import Any

import pytest

from scheduler_core.scheduler.extenders.behaviour import RecordedServer, Remote
from scheduler_core.scheduler.extenders.written import WrittenServer
from scheduler_core.world.commands import AnswerExtender, ApplyObjects, OutsideAnswer, SetExtender
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.scheduler.extenders.test_sessions import URL, extended
from tests.scheduler_core.world.checkpoint.rich import again
from tests.scheduler_core.worlds import pod

ALL = {"prioritizeVerb": "score", "weight": 2, "preemptVerb": "preempt", "bindVerb": "bind"}
RULES = (
    {"verb": "filter", "pods": ["default/web"], "refuse": {"a": "no licence"}},
    {"verb": "prioritize", "scores": {"b": 7}},
    {"verb": "preempt", "dropNodes": ["a"]},
)


def told(sim: Simulation, steps: int) -> str:
    """What the next steps do, to the byte."""
    out: list[Any] = []
    for _ in range(steps):
        out += [record.to_json() for record in sim.advance()]
    return json.dumps(out)


@pytest.mark.parametrize("names", [True, False])
def test_a_world_goes_on_the_same_from_a_checkpoint_at_any_step(names: bool) -> None:
    sim = extended(*RULES, extender={**ALL, "nodeCacheCapable": names})
    sim.apply(ApplyObjects((pod("web"), pod("one", cpu="3"), pod("two", cpu="3"))))
    sim.apply(ApplyObjects((pod("big", cpu="4", priority=9),)))
    for step in range(120):
        if step % 7 == 0:
            assert told(sim.fork(), 6) == told(again(sim), 6)
        sim.advance()


def test_a_call_that_goes_outside_is_still_awaited_after_a_checkpoint() -> None:
    sim = extended()
    sim.apply(SetExtender(URL, Remote()))
    sim.apply(ApplyObjects((pod("web"),)))
    sim.run()
    twin = again(sim)
    ((scheduler, attempt, exchange),) = twin.awaited()
    assert twin.advance() == []
    answer = OutsideAnswer(200, '{"NodeNames": ["b"]}', latency=1_000_000)
    for world in (sim, twin):
        world.apply(AnswerExtender(scheduler, attempt, exchange.number, answer))
    assert told(sim, 40) == told(twin, 40)


@pytest.mark.parametrize("behaviour", [RecordedServer(RULES), WrittenServer(filter="true"), Remote()])
def test_what_an_extender_does_is_part_of_the_world(behaviour: Any) -> None:
    sim = extended()
    sim.apply(SetExtender(URL, behaviour))
    assert again(sim).behaviours == ((URL, behaviour),)
