"""Controllers that fight or get nowhere are named, and those that work together are not."""

from __future__ import annotations

from typing import Any

from scheduler_core.apiserver.watch import MODIFIED, WatchEvent
from scheduler_core.controllers.memory.nodes import Troubles
from scheduler_core.controllers.surroundings import Surroundings, WorkQueue
from scheduler_core.controllers.troubles import SECOND, Trouble, note, troubles_of
from scheduler_core.world.commands import DrainNode
from tests.scheduler_core.clusters import cluster, make, set_status, silent, wait
from tests.scheduler_core.worlds import node, pod


def written(*writes: tuple[str, Any], every: int = SECOND) -> tuple[Trouble, ...]:
    """Writes of spec.replicas, one after the other: by whom, and what."""
    surroundings, old = Surroundings(), 1
    now = 0
    for controller, replicas in writes:
        before, after = ({**make("ReplicaSet", "web"), "spec": {"replicas": number}} for number in (old, replicas))
        note(
            surroundings.troubles,
            controller,
            "default/web",
            [WatchEvent(MODIFIED, "ReplicaSet", before, after)],
            now,
            0,
        )
        old, now = replicas, now + every
    return troubles_of(surroundings, now)


def test_two_that_undo_each_other_fight() -> None:
    (trouble,) = written(("a", 3), ("b", 1), ("a", 3), ("b", 1), ("a", 3))
    assert (trouble.sign, trouble.controllers, trouble.count) == ("fight", ("a", "b"), 4)
    assert trouble.text == "a and b revert spec.replicas of ReplicaSet default/web in turn, 4 times so far"


def test_taking_turns_towards_something_is_no_fight() -> None:
    assert written(*((("a", "b")[i % 2], i) for i in range(2, 12))) == ()


def test_one_that_changes_its_mind_is_no_fight() -> None:
    assert written(*(("a", 1 + i % 2) for i in range(10))) == ()


def test_what_happens_once_a_quarter_of_an_hour_is_no_fight() -> None:
    assert written(*((("a", "b")[i % 2], 3 - 2 * (i % 2)) for i in range(8)), every=900 * SECOND) == ()


def test_pods_that_are_ended_as_soon_as_they_are_made_are_churn() -> None:
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "i"}], "terminationGracePeriodSeconds": 0},
    }
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    taint = {"key": "bad", "effect": "NoExecute"}
    names = ["replicaset-controller", "taint-eviction-controller"]
    sim = cluster({**node("n"), "spec": {"taints": [taint]}}, make("ReplicaSet", "web", spec=spec), controllers=names)
    wait(sim, 2)
    (trouble,) = [found for found in troubles_of(sim.surroundings, sim.now) if found.sign == "churn"]
    assert (trouble.about, trouble.controllers) == ("ReplicaSet default/web", ("taint-eviction-controller",))


def test_an_eviction_that_is_refused_time_after_time_says_why() -> None:
    budget = {**make("PodDisruptionBudget", "b", spec={"minAvailable": 1, "selector": {}}), "apiVersion": "policy/v1"}
    sim = silent(node("n"), budget, pod("p", nodeName="n"), controllers=["disruption-controller"])
    set_status(sim, "Pod", "p", phase="Running", conditions=[{"type": "Ready", "status": "True"}])
    wait(sim, 1)
    sim.apply(DrainNode("n", force=True))
    wait(sim, 30)
    (trouble,) = troubles_of(sim.surroundings, sim.now)
    assert (trouble.sign, trouble.about) == ("repeating", "default/p")
    assert "Cannot evict pod as it would violate the pod's disruption budget." in trouble.text


def test_a_key_that_fails_time_after_time_says_why() -> None:
    queue = WorkQueue(failures={"default/web": 4})
    queue.note(7, "default/web", "no")
    (trouble,) = troubles_of(Surroundings(queues={"x": queue}), 10)
    assert trouble.text == "x has failed 4 times to reconcile default/web: no"


def test_only_so_many_fields_are_remembered() -> None:
    troubles = Troubles()
    for number in range(600):
        before, after = ({**make("ReplicaSet", f"rs{number}"), "spec": {"replicas": n}} for n in (1, 2))
        note(troubles, "a", "k", [WatchEvent(MODIFIED, "ReplicaSet", before, after)], number, 0)
    assert len(troubles.fields) == 500
