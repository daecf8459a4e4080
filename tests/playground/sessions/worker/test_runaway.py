"""A run that goes in circles is stopped and tells what it was doing."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest

from playground.models import Session
from playground.presenters.words import in_english
from playground.sessions.protocol.moving import Movement
from playground.sessions.web.client import SessionClient, create_session
from playground.sessions.web.runtime import runtime
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.time_sharing import TimeSlice
from scheduler_core.analysis.whatif import Watchdog, loops
from scheduler_core.world.commands import command_from_json
from scheduler_core.world.simulation import Simulation
from tests.playground.sessions.worlds import applying, cluster, node, pod

JSON = dict[str, Any]
FREE = {"cycle_cost": 0, "patch_cost": 0}


def fighters(wait: str) -> list[JSON]:
    """Two pods that are rejected while they wait on Permit: each one's rejection frees its place, which wakes the other."""
    pods = [pod("a"), pod("b")]
    for one in pods:
        one["metadata"]["annotations"] = {"playground.dev/permit": f"wait:{wait}"}
    return [node("n0"), *pods]


def commands(wait: str, **settings: int) -> list[JSON]:
    return [{"kind": "SetSettings", "settings": {"demonstration": True, **settings}}, applying(*fighters(wait))]


def engine(given: list[JSON]) -> Engine:
    slice_ = TimeSlice()
    made = Engine(0, slice_)
    slice_.start(1000)
    for command in given:
        made.apply_data(orjson.dumps({"command": command}), 1000)
    return made


def run(made: Engine) -> Movement:
    """Run to the end, in slices as a worker does."""
    while True:
        steps = made.run(60)
        try:
            while True:
                made.slice.start(0.01)
                next(steps)
        except StopIteration as end:
            result: Movement = end.value
            return result


def test_two_pods_that_wake_each_other_are_stopped_at_a_time_that_stands_still() -> None:
    made = engine(commands("0ms", **FREE))
    result = run(made)
    assert result.reason == "runaway"
    assert "virtual time stayed at 00:00:00.000" in in_english(result.doing)
    assert "× default/a moved waiting on permit → backoff (AssignedPodDelete, Demonstration)" in in_english(
        result.doing
    )
    assert made.world.now == 0


def test_two_pods_that_wake_each_other_are_stopped_while_time_goes_on() -> None:
    result = run(engine(commands("1s")))
    assert result.reason == "runaway"
    assert "virtual time went from" in in_english(result.doing)
    assert "attempt of default/b" in in_english(result.doing)


def test_the_run_may_go_on_all_the_same() -> None:
    made = engine(commands("0ms", **FREE))
    first = run(made)
    again = run(made)
    assert again.reason == "runaway" and again.to > first.to


def test_a_run_that_gets_somewhere_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops, "MOVES", 20)
    monkeypatch.setattr(loops, "MOVES_PER_POD", 0)
    made = engine([cluster(4, 60)])
    assert run(made).reason == "idle"
    assert len(made.world.journal.attempts) == 60


def test_a_pod_that_comes_to_another_node_has_got_somewhere() -> None:
    sim = Simulation()
    sim.apply(command_from_json(applying(node("n0"), pod("p"))))
    sim.run()
    watchdog = Watchdog(sim)
    sim.journal.move("default/p", 0, 1, "bound", "n0")
    assert watchdog.circles(sim) is None
    barren = watchdog._barren
    sim.journal.move("default/p", 0, 2, "bound", "n1")
    watchdog.circles(sim)
    assert (barren, watchdog._barren) == (0, 0)
    sim.journal.move("default/p", 0, 3, "bound", "n1")
    watchdog.circles(sim)
    assert watchdog._barren == 1


def test_a_spent_budget_tells_what_the_last_steps_did() -> None:
    made = engine(commands("1s"))
    made.slice.start(1000)
    steps = made.run(60, most=500)
    with pytest.raises(StopIteration) as end:
        next(steps)
    assert end.value.value.reason == "budget"
    assert "The last 502 steps:\n" in in_english(end.value.value.doing)


@pytest.mark.django_db(transaction=True)
async def test_a_session_says_why_its_run_was_stopped() -> None:
    session: Session = await create_session("Test", commands=commands("0ms", **FREE))
    client = await SessionClient.open(session.edit_key)

    async def until_stopped() -> str:
        live = client.live()
        await live.run(None)
        while live.driver is not None:
            await asyncio.sleep(0.02)
        return live.said_at_head

    assert "repeats itself" in await runtime().call(until_stopped)


def test_a_workload_that_makes_pods_in_vain_is_named() -> None:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {**pod("p")["spec"], "os": {"name": "windows"}}}
    workload = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"a": "b"}}, "template": template},
    }
    made = engine([applying(node("n0"), workload)])
    result = run(made)
    assert result.reason == "runaway"
    said = in_english(result.doing)
    assert said.startswith(
        "The run was stopped: The pods of Deployment default/web fail in the same way, 100 so far, on n0."
    )
    assert "(PodOSNotSupported): Pod was rejected: Failed to admit pod" in said
    assert run(made).reason == "runaway"
