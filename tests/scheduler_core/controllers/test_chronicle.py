"""The chronicle keeps figures as they change, and no more of them than it should."""

from __future__ import annotations

from scheduler_core.controllers.surroundings import MOST_LEVELS
from scheduler_core.world.commands import ApplyObjects, DeleteObjects, PatchObject, Ref
from scheduler_core.world.simulation import Simulation

SET = Ref("ReplicaSet", "default", "web")
KEY = "ReplicaSet/default/web"


def with_replica_set() -> Simulation:
    sim = Simulation()
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
    meta = {"name": "web", "namespace": "default"}
    sim.apply(ApplyObjects(({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": meta, "spec": spec},)))
    return sim


def desired(sim: Simulation) -> list[int | str]:
    return [dict(level.figures)["desired"] for level in sim.surroundings.levels[KEY] if level.figures]


def test_a_figure_is_kept_when_it_changes() -> None:
    sim = with_replica_set()
    sim.apply(PatchObject(SET, {"spec": {"replicas": 3}}))
    sim.apply(PatchObject(SET, {"metadata": {"labels": {"other": "thing"}}}))
    assert desired(sim)[-2:] == [1, 3]


def test_what_has_gone_has_no_figures() -> None:
    sim = with_replica_set()
    sim.apply(DeleteObjects((SET,)))
    assert sim.surroundings.levels[KEY][-1].figures == ()


def test_only_so_many_are_kept() -> None:
    sim = with_replica_set()
    for replicas in range(MOST_LEVELS + 10):
        sim.apply(PatchObject(SET, {"spec": {"replicas": replicas}}))
    assert len(sim.surroundings.levels[KEY]) == MOST_LEVELS
