"""Commands in a sentence."""

import pytest

from playground.presenters.commands import describe_omission, sentence
from scheduler_core.world.commands import KINDS


@pytest.mark.parametrize(
    ("command", "what"),
    [
        (
            {"kind": "ApplyObjects", "objects": [{"kind": "Node", "metadata": {"name": f"n{i}"}} for i in range(5)]},
            "Node n0, n1, n2 … (5)",
        ),
        ({"kind": "ApplyObjects", "objects": "no list"}, ""),
        ({"kind": "ApplyObjects", "objects": [None, {"kind": "Pod", "metadata": 3}]}, "? ?; Pod ?"),
        ({"kind": "DeleteObjects", "refs": [{"kind": "Pod", "namespace": "a", "name": "b"}]}, "Pod b"),
        ({"kind": "PatchObject", "ref": {"kind": "Node", "name": "n"}, "patch": {"spec": {"podCIDR": "10.0.0.0/24"}}},
         "spec.podCIDR=10.0.0.0/24"),
        ({"kind": "SetSettings", "settings": {"demonstration": True}}, "demonstration=True"),
        ({"kind": "SetUsage", "entries": [{"pod": "a/b", "memory": 1}, {"at": "5s", "node": "n", "memory": "1Gi"}]},
         "memory=1Gi"),
        ({"kind": "SetPrograms", "rules": [{"pods": "app=web", "onTerm": "ignore"}]}, "onTerm=ignore"),
        ({"kind": "SomethingNew", "pod": "a/b", "times": 3}, "pod=a/b, times=3"),
    ],
)  # fmt: skip
def test_a_command_says_what_it_is_about(command, what):
    assert sentence(command)["values"]["what"] == what


NODE_N = {"kind": "Node", "name": "n"}
WEB = {"kind": "Deployment", "namespace": "default", "name": "web"}


@pytest.mark.parametrize(
    ("ref", "patch", "said"),
    [
        (NODE_N, {"spec": {"unschedulable": True}}, "cordons n"),
        (NODE_N, {"spec": {"unschedulable": None}}, "uncordons n"),
        (WEB, {"spec": {"paused": True}}, "pauses the rollout of Deployment web"),
        (
            WEB,
            {"spec": {"template": {"metadata": {"annotations": {"kubectl.kubernetes.io/restartedAt": "now"}}}}},
            "restarts the rollout of Deployment web",
        ),
        (WEB, {"spec": {"replicas": 3, "paused": True}}, "changes Deployment web: spec.replicas=3, spec.paused=True"),
    ],
)
def test_a_patch_that_kubectl_has_a_verb_for_says_so(ref, patch, said):
    told = sentence({"kind": "PatchObject", "ref": ref, "patch": patch})
    assert told["text"] % told["values"] == said


def test_a_long_command_is_cut():
    names = [{"kind": f"Kind{i}", "metadata": {"name": "x" * 40}} for i in range(50)]
    assert len(sentence({"kind": "ApplyObjects", "objects": names})["values"]["what"]) <= 360


def named(kind, name):
    return {"kind": kind, "metadata": {"name": name}}


SHORT = [
    ({"kind": "ApplyObjects", "objects": []}, "?"),
    (
        {"kind": "ApplyObjects", "objects": [named("Node", "a"), named("Node", "b"), named("Pod", "c")]},
        "Node a … (2); Pod c",
    ),
    ({"kind": "DeleteObjects", "refs": [{"kind": "Node", "name": "a"}]}, "deleting Node a"),
    ({"kind": "PatchObject", "ref": {"kind": "Node", "name": "a"}, "patch": {}}, "changing Node a"),
    ({"kind": "SetSettings", "settings": {}}, "settings"),
    ({"kind": "Undo"}, "an undo"),
    ({"kind": "Nonsense", "objects": 7}, "a command"),
]


@pytest.mark.parametrize(("command", "short"), SHORT)
def test_what_a_history_lacks_is_named_in_few_words(command, short):
    message = describe_omission(command)
    assert message["text"] % message.get("values", {}) == short


FAULTS = [
    ({"code": 409}, "makes the next bind of a/b fail with 409"),
    ({"code": 500, "times": 3}, "makes the next 3 bind calls of a/b fail with 500"),
    ({"latency": 5}, "changes the latency of the next bind of a/b"),
    ({"times": 0}, "removes the injected faults from the bind calls of a/b"),
]


@pytest.mark.parametrize(("fault", "said"), FAULTS)
def test_a_failing_call_is_told_in_words(fault, said):
    message = sentence({"kind": "FailCall", "call": "bind", "pod": "a/b", **fault})
    assert message["text"] % message["values"] == said


@pytest.mark.parametrize("kind", KINDS)
def test_every_command_has_words_of_its_own(kind):
    assert sentence({"kind": kind})["text"] != sentence({"kind": "SomethingNew"})["text"]
    assert describe_omission({"kind": kind})["text"] != describe_omission({"kind": "SomethingNew"})["text"]
