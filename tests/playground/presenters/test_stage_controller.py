"""The controller stage: who acted, what followed, owners with counts, nodes, evictions, who leads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playground.presenters.stage.aim import at_hand
from playground.presenters.stage.controller.owners import eviction
from playground.presenters.words import in_english
from scheduler_core.base.trace.kinds import Reconciled
from scheduler_core.world.commands import ApplyObjects, DeleteObjects, PatchObject, Ref, SetKubelet, StartScheduler
from scheduler_core.world.simulation import Simulation
from tests.playground.presenters.worlds import empty_world, node, pod, shown

DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "default"},
    "spec": {
        "replicas": 3,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
    },
}


def cluster(*objects: dict[str, Any]) -> Simulation:
    """A world whose controllers run."""
    sim = empty_world()
    sim.apply(ApplyObjects(objects))
    return sim


def until(sim: Simulation, here: Callable[[Simulation], bool], most: int = 600) -> Simulation:
    for _ in range(most):
        if here(sim):
            return sim
        assert sim.advance(), "nothing is left to do and the condition never held"
    raise AssertionError("the condition did not hold")


def did(controller: str, words: str) -> Callable[[Simulation], bool]:
    """The condition that a controller did something just now."""

    def here(sim: Simulation) -> bool:
        facts = sim.last[-1].of(Reconciled) if sim.last else None
        return facts is not None and facts.controller == controller and words in facts.did

    return here


def body(sim: Simulation, **look: Any) -> dict[str, Any]:
    context: dict[str, Any] = shown("stage", sim, **{"stage": "controller", **look})["context"]["body"]
    return context


def test_the_narrator_tells_what_a_controller_did_before_the_objects_it_wrote() -> None:
    sim = until(cluster(node("a"), DEPLOYMENT), did("deployment-controller", "created"))
    told = shown("narrator", sim)["context"]
    assert (told["head"], told["sentence"]["values"]["name"]["exact"]) == ("deployment-controller", "web")


def test_a_controller_is_named_with_its_key_and_what_it_did_and_why() -> None:
    sim = until(cluster(node("a"), DEPLOYMENT), did("deployment-controller", "created"))
    assert at_hand(sim) == "controller"
    actor = body(sim)["actor"]
    assert (actor["who"]["exact"], actor["key"]["exact"]) == ("deployment-controller", "web")
    assert in_english(actor["did"]).endswith("with 3 of 3 pods for revision 1")


def test_what_followed_stands_behind_its_cause() -> None:
    sim = until(cluster(node("a"), DEPLOYMENT), did("deployment-controller", "created"))
    effects = [effect["sentence"]["values"]["kind"] for effect in body(sim)["effects"]]
    assert effects[0] == "ReplicaSet"


def test_owners_stand_above_their_pods_with_what_is_desired_and_there() -> None:
    sim = until(cluster(node("a"), DEPLOYMENT), did("replicaset-controller", "created"))
    (chain,) = body(sim)["owners"]
    assert [(each["kind"], each["desired"]) for each in chain["way"]] == [("Deployment", 3), ("ReplicaSet", 3)]
    assert [made["what"] for made in chain["pods"]] == ["added"] * 3


def test_a_deployment_leads_on_to_its_replica_set() -> None:
    sim = until(cluster(node("a"), DEPLOYMENT), did("deployment-controller", "created"))
    (chain,) = body(sim)["owners"]
    assert [each["kind"] for each in chain["way"]] == ["Deployment", "ReplicaSet"]


def test_a_transition_that_makes_pods_is_the_controllers_and_not_the_queues() -> None:
    sim = until(cluster(node("a"), DEPLOYMENT), did("replicaset-controller", "created"))
    assert at_hand(sim) == "controller"


def test_a_command_is_told_as_kubectl_and_lists_its_objects() -> None:
    sim = cluster(node("a"))
    sim.apply(PatchObject(Ref("Node", name="a"), {"spec": {"unschedulable": True}}))
    assert body(sim)["actor"]["did"]["text"] == "PATCH"
    assert [(each["name"], each["cordoned"]) for each in body(sim)["nodes"]] == [("a", True)]
    rows = body(sim, form="table")["table"]["rows"]
    assert [(row["kind"], row["name"], row["what"]) for row in rows] == [("Node", "a", "changed")]


def test_a_node_whose_kubelet_is_silent_shows_its_condition_its_taint_and_what_is_planned() -> None:
    sim = until(cluster(node("a"), node("b"), pod("web")), lambda w: w.journal.place("default/web") == "running")
    home = sim.store.pod_at("default/web").node_name
    sim.apply(SetKubelet(home, False))
    until(sim, did("node-lifecycle-controller", "unreachable"), 3000)
    (found,) = body(sim)["nodes"]
    assert {"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown", "bad": True} in found["conditions"]
    assert any(taint.startswith("node.kubernetes.io/unreachable") for taint in found["taints"])


def test_a_pod_that_is_told_to_go_shows_its_grace_period() -> None:
    sim = until(cluster(node("a"), pod("web")), lambda w: w.journal.place("default/web") == "running")
    sim.apply(DeleteObjects((Ref("Pod", "default", "web"),)))
    (told,) = body(sim)["evictions"]["pods"]
    assert (told["name"], told["node"], told["grace"]) == ("web", "a", "30 s")


def test_who_leads_is_shown_only_where_that_changed() -> None:
    sim = cluster(node("a"))
    assert body(sim)["schedulers"] == []
    sim.apply(StartScheduler("second"))
    until(sim, lambda w: bool(w.last) and w.last[0].kind == "scheduler_stage", 50)
    assert [(row["name"], row["leads"]) for row in body(sim)["schedulers"]] == [("second", False)]


def test_a_ranking_says_which_pods_are_critical() -> None:
    ranked = {"pod": "default/p", "priority": 2_000_001_000, "usage": 2048, "request": 1024, "exceeds": True}
    row = {"t": 0, "resource": "memory", "signal": "memory.available", "threshold": "100Mi", "available": "50Mi"}
    rows = [{**ranked, "critical": critical} for critical in (True, False)]
    shown = eviction({**row, "chosen": "default/p", "message": "", "ranking": rows})
    assert [each["critical"] for each in shown["ranking"]] == [True, False]


def test_the_controller_of_a_namespace_and_of_a_volume_has_the_stage_of_their_choice() -> None:
    sim = cluster(node("a"), {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}})
    names = {"Namespace/team": "namespace-controller", "PersistentVolume/pv": "persistentvolume-binder-controller"}
    for chosen, name in names.items():
        said = shown("stage", sim, stage="aim", about="controller", controller=chosen)["context"]["question"]
        assert in_english(said) == f"What did {name} do last to {chosen.partition('/')[2]}?"
