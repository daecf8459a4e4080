"""Where the stage is aimed: at the present step, or at what was chosen."""

from __future__ import annotations

import pytest

from playground.presenters import Look, aim_look, past_of, present
from playground.presenters.stage import pending
from playground.presenters.stage.aim import aim_of
from playground.presenters.words import ordinal
from scheduler_core.world.commands import ApplyObjects
from scheduler_core.world.simulation import Simulation
from tests.playground.preemption_world import objects
from tests.playground.presenters.test_stage_controller import DEPLOYMENT, cluster, did
from tests.playground.presenters.test_stage_controller import until as advanced
from tests.playground.presenters.worlds import decided, node, pod, ran, three_nodes, until, world

WEB, HUGE = "default/web-1", "default/huge"


def two_pods() -> Simulation:
    """One pod's attempt is over and failed; the other's goes on."""
    sim = world(node("a", cpu="4"), node("b", cpu="4"), pod("huge", cpu="64", priority=9), pod("web-1", cpu="1"))
    return until(until(sim, decided()), ran("Filter", "NodeResourcesFit"))


def aim(sim: Simulation, **look: str) -> tuple[str, str]:
    found = aim_of(sim, Look(**look))
    return found.stage, found.pod


def test_following_it_is_the_present_steps_pod_whoever_is_chosen() -> None:
    assert aim(two_pods()) == aim(two_pods(), pod=HUGE) == ("filter", WEB)


def test_a_chosen_pod_is_shown_where_its_last_attempt_was_decided() -> None:
    sim = two_pods()
    assert aim(sim, pod=HUGE, stage="aim") == ("pending", HUGE)
    assert past_of(sim, Look(pod=HUGE, stage="aim")) == sim.journal.attempts[0].last_position


def test_the_present_attempt_needs_no_other_world() -> None:
    assert past_of(two_pods(), Look(pod=WEB, stage="aim")) is None
    assert aim(two_pods(), pod=WEB, stage="aim") == ("filter", WEB)


def test_a_pod_that_is_being_bound_is_shown_in_its_lane() -> None:
    sim = until(three_nodes(), lambda w: bool(w.schedulers[0].bindings))
    assert aim(sim, pod=WEB, stage="aim") == ("binding", WEB)


def test_a_pod_that_has_been_placed_is_not_asked_why_it_stays_pending() -> None:
    sim = until(two_pods(), lambda w: bool(w.store.pod_at(WEB).node_name))
    assert aim(sim, pod=HUGE, stage="pending") == ("pending", HUGE)
    assert aim(sim, pod=WEB, stage="pending") == ("placed", WEB)


def test_a_few_reasons_show_what_the_first_one_compares() -> None:
    taint = {"key": "gpu", "effect": "NoSchedule"}
    labeled = pod("picky", nodeSelector={"disk": "ssd"})
    for refused, path, marked in (
        (pod("web-1", cpu="64"), "spec.containers.0.resources", "status.allocatable"),
        (labeled, "spec.nodeSelector", "metadata.labels"),
        (pod("web-1", cpu="1"), "spec.tolerations", "spec.taints"),
    ):
        key = f"default/{refused['metadata']['name']}"
        nodes = [node("a", cpu="4")]
        if "taints" in marked:
            nodes[0]["spec"] = {"taints": [taint]}
        sim = until(world(*nodes, refused), decided())
        body = pending.present(sim, Look(), key).body
        assert [each["object"] for each in body["evidence"]] == ["Pod", "Node"], body["rows"]
        for quoted, place in zip(body["evidence"], (path, marked), strict=True):
            excerpt = quoted["excerpt"]
            assert place.startswith(excerpt["path"])
            assert f"{place.split('.')[-1]}:" in excerpt["text"] + excerpt["mark"] + excerpt["rest"]


def test_a_pod_without_an_attempt_is_shown_in_the_queue() -> None:
    sim = until(three_nodes(pod("web-1", cpu="2"), pod("late")), ran("Filter", "TaintToleration"))
    assert aim(sim, pod="default/late", stage="aim") == ("queue", "default/late")


def test_a_pod_keeps_the_cluster_on_the_stage_while_nothing_has_run() -> None:
    assert aim(three_nodes(), pod=WEB, stage="aim") == ("cluster", WEB)


def test_a_past_theatre_is_shown_with_what_has_followed_since() -> None:
    sim, key = until(world(*objects(), pod("late", cpu="100m")), decided()), "default/ml-train-0"
    past = sim.fork()
    until(sim, decided(2))
    look = Look(pod=key, stage="aim")
    assert (aim_of(sim, look).stage, past_of(sim, look)) == ("preemption", past.position)
    until(sim, lambda w: all(p.deleting for p in w.store.pods() if p.name.startswith("batch")))
    panel = present("stage", sim, look, past=past)
    body = panel.context["body"]
    assert (body["kind"], panel.context["past"]["number"]) == ("candidates", ordinal(1))
    assert [victim["state"] for victim in body["lands"]["victims"]] == ["ends", "ends"]


@pytest.mark.parametrize("look", [{"about": "controller", "controller": "kubelet"}, {"about": "node"}])
def test_other_subjects_need_no_attempt(look: dict[str, str]) -> None:
    sim = two_pods()
    found = aim_of(sim, Look(stage="aim", **look))
    assert (found.stage, found.attempt) == ("controller" if "controller" in look else "filter", None)


# Nodes, claims and controllers


def aimed_at_node(sim: Simulation, name: str) -> tuple[str, str]:
    return aim(sim, stage="aim", about="node", node=name)


def test_a_chosen_node_is_shown_in_the_attempt_at_hand() -> None:
    assert aimed_at_node(two_pods(), "a") == ("filter", WEB)


def test_a_chosen_node_is_shown_in_the_last_attempt_that_looked_at_it() -> None:
    sim = until(three_nodes(), decided())
    sim.apply(ApplyObjects((pod("late", cpu="100"),)))
    advanced(sim, lambda w: _begins(w, "late"))  # it has not looked at any node
    assert aimed_at_node(sim, "free") == ("filter", WEB)
    look = Look(stage="aim", about="node", node="free")
    assert past_of(sim, look) == sim.journal.attempts[0].last_position
    assert aim_look(sim, look).pod == WEB  # and so every panel marks this pod


def _begins(sim: Simulation, name: str) -> bool:
    cycle = sim.schedulers[0].cycle
    return cycle is not None and cycle.pod.name == name


def test_before_any_attempt_a_node_keeps_the_stage_at_hand() -> None:
    assert aimed_at_node(three_nodes(), "free") == ("cluster", "")


def test_a_claim_is_shown_in_the_attempt_of_its_pod() -> None:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"}, "spec": spec}
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
    sim = world(node("a"), node("b"), claim, pod("db", volumes=volumes), pod("other"))
    look = Look(stage="aim", about="claim", claim="default/data")
    until(sim, decided(2))
    found = aim_of(sim, look)
    assert (found.pod, found.stage) == ("default/db", "pending")  # refused: nobody makes its volume
    assert past_of(sim, look) == sim.journal.attempts[0].last_position
    assert aim_look(sim, look).pod == "default/db"


def test_a_controller_is_shown_with_what_it_did_last() -> None:
    sim = cluster(DEPLOYMENT)
    advanced(sim, did("replicaset-controller", "reated"))
    stage = present("stage", sim, Look(stage="aim", about="controller", controller="deployment-controller"))
    acted = stage.context["body"]["acted"]
    assert (acted["who"], acted["here"], acted["done"][0]["key"]["exact"]) == ("deployment-controller", False, "web")
    workload = Look(stage="aim", about="controller", controller="Deployment/default/web")
    owned = present("stage", sim, workload).context["body"]["acted"]["owners"][0]["way"]
    assert [each["kind"] for each in owned] == ["Deployment", "ReplicaSet"]
