"""What an import refers to and does not hold, and the command that would bring it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from typing import Any

import pytest

from scheduler_core.apiserver.imports.items import DECIDING, snapshot_command
from scheduler_core.world.simulation import Simulation, plan_import
from tests.scheduler_core.worlds import node, pod


def found(*manifests: Mapping[str, Any]) -> list[tuple[str, tuple[str, ...], str]]:
    plan = plan_import(Simulation().api, manifests)
    return [(each.kind, each.names, each.command) for each in plan.missing]


def claiming(name: str, claim: str) -> dict[str, Any]:
    return pod(name, volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": claim}}])


def test_claims_that_are_not_there_are_named_with_their_command() -> None:
    command = "kubectl get persistentvolumeclaims data -n default -o yaml"
    assert found(claiming("a", "data"), claiming("b", "data")) == [
        ("PersistentVolumeClaim", ("default/data",), command)
    ]


def test_of_many_all_of_their_namespace_are_asked_for() -> None:
    [(_, names, command)] = found(*(claiming(f"p{i}", f"c{i}") for i in range(9)))
    assert len(names) == 9
    assert command == "kubectl get persistentvolumeclaims -n default -o yaml"


def test_owners_and_nodes_are_missed() -> None:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "uid": "u", "controller": True}
    web = pod("web", nodeName="n9")
    web["metadata"]["ownerReferences"] = [owner]
    assert [(kind, names) for kind, names, _ in found(web)] == [("Node", ("n9",)), ("ReplicaSet", ("default/web-1",))]


def test_a_budget_without_pods_says_which_to_bring() -> None:
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b"}, "spec": spec}
    assert found(budget)[0][2] == "kubectl get pods -n default -o yaml"
    web = pod("web")
    web["metadata"]["labels"] = {"app": "web"}
    assert found(budget, web) == []


def test_nothing_is_missed_of_what_is_whole() -> None:
    assert found(node("n1"), pod("a", nodeName="n1")) == []


@pytest.mark.skipif(not shutil.which("sh"), reason="no sh")
def test_the_command_goes_on_where_a_kind_is_lacking(tmp_path: Any) -> None:
    kubectl = tmp_path / "kubectl"
    kubectl.write_text('#!/bin/sh\ncase "$2" in device*) echo "no resource type" >&2; exit 1;; esac\necho "kind: $2"\n')
    kubectl.chmod(0o755)
    path = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    subprocess.run(["sh", "-c", snapshot_command()], cwd=tmp_path, env=path, check=False, capture_output=True)
    printed = (tmp_path / "cluster.yaml").read_text().count("kind: ")
    assert printed == len(DECIDING) - 2  # DeviceClass and DeviceTaintRule
