"""Pods that end: how long they take, on the rail, where a preemption lands and where the eviction is shown."""

from __future__ import annotations

from typing import Any

import pytest

from playground.presenters.acting import grace_ends
from scheduler_core.world.commands import (
    ApplyObjects,
    DeleteObjects,
    Ref,
    SetKubelet,
    SetPrograms,
    SetSettings,
    SetUsage,
)
from scheduler_core.world.simulation import Simulation
from tests.playground.presenters.worlds import node, pod, shown, until, world

SECOND = 1_000_000_000
KEY = "default/old"
STUBBORN = {"pods": {}, "onTerm": {"after": "1h"}}
SIDECAR = {"name": "s", "image": "s", "restartPolicy": "Always"}


def running(*programs: dict[str, Any], **spec: Any) -> Simulation:
    """A world in which a pod runs that fills its node."""
    sim = world(node("a", cpu="1"), pod("old", cpu="1", **spec))
    if programs:
        sim.apply(SetPrograms(programs))
    return until(sim, lambda w: w.journal.place(KEY) == "running")


def preempted(*programs: dict[str, Any], **spec: Any) -> Simulation:
    """A world in which the pod has been told to go, for one of a higher priority."""
    sim = running(*programs, **spec)
    sim.apply(ApplyObjects((pod("urgent", cpu="1", priority=9),)))
    return until(sim, lambda w: w.store.pod_at(KEY).deleting)


def signalled(sim: Simulation) -> bool:
    run = sim.surroundings.kubelet.pods.get(KEY)
    return run is not None and run.kill is not None


def lands(sim: Simulation) -> dict[str, Any]:
    body = shown("stage", sim, stage="preemption", pod="default/urgent")["context"]["body"]
    (victim,) = body["lands"]["victims"]
    return victim


def rail(sim: Simulation) -> list[tuple[str, str]]:
    return [(each["name"], each["left"]) for each in shown("queues", sim)["cards"]["queue-victims"]["pods"]]


def gone_at(sim: Simulation) -> int:
    return until(sim, lambda w: w.store.pod_at(KEY) is None).now


@pytest.mark.parametrize(
    ("programs", "spec"),
    [
        ((), {}),
        ((STUBBORN,), {}),
        ((STUBBORN,), {"terminationGracePeriodSeconds": 90}),
        ((STUBBORN,), {"terminationGracePeriodSeconds": 1}),
        (({"container": "c", "onTerm": {"after": "7s"}},), {}),
    ],
    ids=["ends on SIGTERM", "ignores it", "has 90 s", "has 1 s", "takes 7 s"],
)
def test_a_victim_ends_when_its_containers_do(programs: tuple[Any, ...], spec: dict[str, Any]) -> None:
    sim = until(preempted(*programs, **spec), signalled)
    found = grace_ends(sim, (KEY,))[KEY]
    assert lands(sim)["state"] == "ends"
    assert [name for name, _ in rail(sim)] == ["old"]
    assert found == gone_at(sim)


def test_a_victim_whose_sidecar_waits_for_its_containers_ends_within_its_grace_period() -> None:
    sim = until(preempted(initContainers=[SIDECAR]), signalled)
    assert grace_ends(sim, (KEY,)) == {KEY: sim.now + 30 * SECOND}
    until(sim, lambda w: not w.surroundings.kubelet.pods[KEY].containers[0].running)
    assert grace_ends(sim, (KEY,))[KEY] == gone_at(sim)


def test_until_the_kubelet_knows_of_it_the_whole_grace_period_is_left() -> None:
    sim = preempted(STUBBORN)
    assert (lands(sim)["state"], lands(sim)["grace"], rail(sim)) == ("ends", "30 s", [("old", lands(sim)["left"])])
    assert 29 * SECOND < grace_ends(sim, (KEY,))[KEY] - sim.now <= 30 * SECOND


def test_what_is_left_counts_down_and_in_the_end_the_victim_has_gone() -> None:
    sim = until(preempted(STUBBORN), signalled)
    rings = [lands(sim)["ring"]]
    sim.apply(ApplyObjects((pod("other", cpu="100m"),)))
    while (victim := lands(sim))["state"] == "ends":
        rings.append(victim["ring"])
        assert sim.advance()
    assert rings == sorted(rings, reverse=True) and rings[0] == 100
    assert (victim["state"], rail(sim)) == ("gone", [])


def test_a_victim_whose_kubelet_is_silent_stays_with_nothing_left() -> None:
    sim = running(STUBBORN)
    sim.apply(SetKubelet("a", False))
    sim.apply(ApplyObjects((pod("urgent", cpu="1", priority=9),)))
    until(sim, lambda w: w.store.pod_at(KEY).deleting)
    until(sim, lambda w: w.now > 40 * SECOND, 3000)
    assert (lands(sim)["state"], lands(sim)["left"]) == ("ends", "0 s")
    assert grace_ends(sim, (KEY,)) == {KEY: sim.now}


def test_a_pod_of_the_same_name_that_was_not_told_to_go_does_not_end() -> None:
    assert grace_ends(running(), (KEY, "default/nobody")) == {}


def test_a_pod_that_somebody_deletes_shows_what_is_left() -> None:
    sim = running(STUBBORN)
    sim.apply(DeleteObjects((Ref("Pod", "default", "old"),)))
    (told,) = shown("stage", sim)["context"]["body"]["evictions"]["pods"]
    assert told["grace"] == "30 s"
    assert told["left"].startswith(("29", "30"))


def test_a_kubelet_under_pressure_shows_whom_it_evicts_in_which_ranking_and_how_long_that_takes() -> None:
    sim = running(STUBBORN)
    kubelet = {
        "evictionSoft": {"memory.available": "1Gi"},
        "evictionSoftGracePeriod": {"memory.available": "30s"},
        "evictionMaxPodGracePeriod": 20,
    }
    sim.apply(SetSettings({"cluster": {"kubelet": kubelet}}))
    sim.apply(SetUsage(({"pod": KEY, "at": "5s", "memory": "7.5Gi"},)))
    until(sim, signalled, 3000)
    body = shown("stage", sim)["context"]["body"]
    (told,) = body["evictions"]["pods"]
    assert (told["name"], told["reason"], told["grace"], told["left"]) == ("old", "Evicted", "20 s", "20 s")
    assert told["message"].startswith("The node was low on resource: memory.")
    assert [ranking["chosen"] for ranking in body["evictions"]["rankings"]] == [KEY]
