"""The inspector's Summary of a pending pod: the sentence, what would help, the evidence."""

from __future__ import annotations

import re
from typing import Any

import pytest

from playground.presenters.why import panel
from playground.presenters.why.reasons import about
from playground.presenters.words import in_english
from playground.templatetags.studio import sentence as shown_in_words
from scheduler_core.analysis.explain import GivenReason, explain
from scheduler_core.scheduler.plugins import ROOMS
from scheduler_core.world.commands import ApplyObjects
from tests.playground.presenters.worlds import node, pod, shown, tainted, world
from tests.scheduler_core.worlds import settle


def why(sim: Any, name: str) -> Any:
    return shown("inspector", sim, tab="summary", about="pod", pod=f"default/{name}")["context"]["body"]["why"]


def words(message: Any) -> str:
    return in_english(message)


def test_the_sentence_names_what_came_nearest_and_a_button_looks_for_fixes() -> None:
    sim = world(tainted("t"), node("n", cpu="4"), pod("f", cpu="3", nodeName="n"), pod("p", cpu="1200m"))
    settle(sim)
    said = why(sim, "p")
    expected = (
        "p requests 1.2 cpu. Closest: n, 0.2 short. p does not tolerate the taint dedicated=infra of t. "
        "f holds 3 cpu on n."
    )
    assert words(said["sentence"]) == expected
    assert said["fixable"]
    assert [each["code"] for each in said["reasons"]] == [
        "NodeResourcesFit/InsufficientCpu",
        "TaintToleration/UntoleratedTaint",
    ]
    assert said["reasons"][0]["near"] == [{"node": "n", "short": "200m", "free": "1", "allocatable": "4"}]


def test_a_pod_that_its_kubelet_refuses_says_so_and_why() -> None:
    sim = world(node("n", cpu="4"), pod("p", cpu="9", nodeName="n"))
    settle(sim)
    said = why(sim, "p")
    refused = "Pod was rejected: Node didn't have enough resource: cpu, requested: 9000, used: 0, capacity: 4000"
    bypassed = "p names n in spec.nodeName, so no scheduler and no filter was involved."
    assert words(said["sentence"]) == f"The kubelet of n refuses p: {refused}. {bypassed}"
    assert ([each["code"] for each in said["reasons"]], said["fixable"]) == (["Kubelet/OutOfcpu"], False)


def claim(**spec: Any) -> dict[str, Any]:
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    meta = {"name": "data", "namespace": "default", **spec.pop("meta", {})}
    spec = {**wanted, "storageClassName": "manual", **spec}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta, "spec": spec}


def volume(**spec: Any) -> dict[str, Any]:
    spec = {
        "capacity": {"storage": "5Gi"},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "manual",
        "hostPath": {"path": "/d"},
        **spec,
    }
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "disk"}, "spec": spec}


USES = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]


@pytest.mark.parametrize(
    ("asked", "offered", "sentence"),
    [
        (
            {},
            {"volumeMode": "Block"},
            "The claim data of p requests the volume mode Filesystem, but the volume disk has the mode Block.",
        ),
        (
            {"selector": {"matchLabels": {"tier": "gold"}}},
            {},
            "The claim data of p takes only volumes with the labels tier=gold, which the volume disk lacks.",
        ),
    ],
    ids=["mode", "labels"],
)
def test_what_keeps_a_claim_from_a_free_volume_is_said(
    asked: dict[str, Any], offered: dict[str, Any], sentence: str
) -> None:
    sim = world(node("n"), volume(**offered), claim(**asked), pod("p", volumes=USES))
    settle(sim)
    assert words(why(sim, "p")["sentence"]) == sentence


def test_of_a_claim_that_is_being_deleted_it_is_said_who_still_uses_it() -> None:
    going = {"finalizers": ["kubernetes.io/pvc-protection"], "deletionTimestamp": "2026-01-01T00:00:00Z"}
    users = [pod(name, nodeName="n", volumes=USES) for name in ("a", "b")]
    sim = world(node("n"), volume(), claim(meta=going), *users, pod("p", volumes=USES))
    settle(sim)
    said = why(sim, "p")
    assert words(said["sentence"]) == (
        "The claim data of p is being deleted. It remains while a, b use it, and no new pod can use it."
    )
    assert said["reasons"][0]["claims"][0]["used_by"] == ["default/a", "default/b"]


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ({"schedulerName": "volcano"}, "No running scheduler has a profile named volcano, so p stays Pending."),
        ({"schedulingGates": [{"name": "g"}]}, "p is not scheduled until its scheduling gates are removed: g."),
        ({"nodeSelector": {"gpu": "a100"}}, "p requires nodes with gpu=a100, but no node has the label gpu."),
        (
            {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]},
            "p waits for its claim data, which does not exist.",
        ),
        ({"nodeName": "gone"}, "The nodeName of p is gone, which does not exist, so no kubelet will start the pod."),
    ],
    ids=["scheduler", "gates", "selector", "claim", "node"],
)
def test_a_colleague_would_say(spec: dict[str, Any], sentence: str) -> None:
    assert words(why(world(node("n"), pod("p", **spec)), "p")["sentence"]) == sentence


@pytest.mark.parametrize("room", [room for room in ROOMS if room.reasons], ids=lambda room: str(room.name))
def test_every_reason_of_a_plugin_makes_a_whole_sentence(room: Any) -> None:
    for reason in room.reasons:
        values = dict.fromkeys(re.findall(r"<(\w+)>", reason.text), "x")
        given = GivenReason(f"{room.name}/{reason.code}", room.name, reason(**values), ("n",), 1, evidence=values)
        said = words(about(given, "p", 3))
        assert said.endswith((".", reason(**values))) and "%(" not in said, said


def test_a_pod_that_runs_has_nothing_to_explain() -> None:
    sim = world(node("n"), pod("p"))
    settle(sim)
    assert why(sim, "p") is None


def test_an_explanation_is_made_again_only_when_something_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def counted(sim: Any, key: str) -> Any:
        asked.append(key)
        return explain(sim, key)

    monkeypatch.setattr(panel, "explain", counted)
    sim = world(node("n", cpu="1"), pod("p", cpu="2"))
    settle(sim)
    assert why(sim, "p") == why(sim, "p")
    assert len(asked) == 1
    sim.apply(ApplyObjects((node("m", cpu="1"),)))
    why(sim, "p")
    assert len(asked) == 2


def test_nodes_in_a_sentence_are_named_counted_or_all() -> None:
    cordoned = [{**node(name), "spec": {"unschedulable": True}} for name in ("a", "b", "c")]
    texts = []
    for sim in (world(cordoned[0], pod("p")), world(*cordoned[:2], pod("p")), world(*cordoned, pod("p"))):
        settle(sim)
        texts.append(str(shown_in_words(why(sim, "p")["sentence"], str)))
    assert texts == ["<code>a</code>: cordoned.", "both nodes: cordoned.", "all 3 nodes: cordoned."]
