"""Schedulers of different releases in one world."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from scheduler_core.apiserver.status import Refused
from scheduler_core.base.releases import Behavior
from scheduler_core.formats.export import table_csv
from scheduler_core.formats.export.traces import ReadLog
from scheduler_core.world.commands import ApplyObjects, SetConfiguration, SetSettings, Undo
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import configuration, node, nodes_of, pod, settle

NEWER = {"scheduler_releases": {"newer": "1.37"}}


def _use(name: str, cpu: int, memory: int, **spec: Any) -> dict[str, Any]:
    resources = {"requests": {"cpu": str(cpu), "memory": f"{memory}Gi"}}
    return pod(name, containers=[{"name": "c", "image": "app:v1", "resources": resources}], **spec)


def _world(settings: Mapping[str, Any] = NEWER) -> Simulation:
    sim = Simulation()
    sim.apply(SetConfiguration(configuration(profiles=[{"schedulerName": "newer"}]), "newer"))
    sim.apply(SetSettings(settings))
    return sim


@pytest.mark.parametrize(("scheduler", "chosen"), [("default-scheduler", "b"), ("newer", "a")])
def test_two_schedulers_of_one_world_decide_as_their_releases_do(scheduler: str, chosen: str) -> None:
    sim = _world()
    there = [_use("on-a", 3, 0, nodeName="a"), _use("on-b", 2, 3, nodeName="b")]
    sim.apply(ApplyObjects((node("a", cpu="8"), node("b", cpu="8"), *there, _use("p", 1, 0, schedulerName=scheduler))))
    settle(sim)
    assert nodes_of(sim)["default/p"] == chosen


def test_each_refuses_in_the_words_of_its_release() -> None:
    sim = _world()
    taint = {"taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]}
    sim.apply(ApplyObjects(({**node("a"), "spec": taint}, pod("old"), pod("new", schedulerName="newer"))))
    settle(sim)
    said = {attempt.pod: attempt.message for attempt in sim.journal.attempts}
    assert "untolerated taint {k: v}" in said["default/old"] and "untolerated taint(s)" in said["default/new"]


def test_only_the_scheduler_that_changes_restarts_and_undo_brings_it_back() -> None:
    sim = _world({})
    (first, second), before = sim.schedulers, sim.settings
    sim.apply(SetSettings(NEWER))
    assert sim.schedulers[0] is first and sim.schedulers[1] is not second
    assert [s.release for s in sim.schedulers] == ["1.34.1", "1.37.2"]
    assert [Behavior.SPLIT_POD_EVENTS in s.features.behaviors for s in sim.schedulers] == [False, True]
    assert [s.features.expect_nominated_node for s in sim.schedulers] == [False, True]
    sim.apply(Undo())
    assert sim.settings == before and sim.schedulers[1].release == "1.34.1"


def test_another_release_of_the_world_is_that_of_all() -> None:
    sim = _world()
    sim.apply(SetSettings({"release": "1.36"}))
    assert [s.release for s in sim.schedulers] == ["1.36.3", "1.36.3"]


def test_a_release_that_is_not_modeled_is_refused() -> None:
    with pytest.raises(Refused, match=r"scheduler_releases\.newer"):
        _world({"scheduler_releases": {"newer": "1.99"}})


def test_the_table_of_attempts_names_the_release_of_each_scheduler() -> None:
    commands = [
        {"kind": "SetConfiguration", "configuration": configuration(profiles=[{"schedulerName": "newer"}])},
        {"kind": "SetSettings", "settings": NEWER},
        {"kind": "ApplyObjects", "objects": [node("a"), pod("old"), pod("new", schedulerName="newer")]},
    ]
    log = dict(enumerate([{**commands[0], "scheduler": "newer"}, *commands[1:]]))
    head, *lines = table_csv(ReadLog(0, log, 40), "attempts").splitlines()
    assert head.endswith(",release")
    assert {line.split(",")[1]: line.rpartition(",")[2] for line in lines} == {
        "default/old": "1.34.1",
        "default/new": "1.37.2",
    }
