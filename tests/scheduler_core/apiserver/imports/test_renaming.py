"""A renamed cluster decides what it would have decided, and holds no former name."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.imports.renaming import rename_manifests
from scheduler_core.world.commands import ApplyObjects
from scheduler_core.world.simulation import Simulation, in_creation_order, plan_import, take_in
from tests.scheduler_core.apiserver.imports.live import of, owner, running, snapshot
from tests.scheduler_core.formats.export.test_objects import begun, decisions, do, exported, load_manifests
from tests.scheduler_core.machine import objects
from tests.scheduler_core.worlds import node, nodes_of, pod

EXAMPLES = settings().max_examples
ZONES = ("east", "west", "north")
APPS = ("ledger", "checkout", "search-index", "search")


def brought(manifests: Sequence[Any], rename: bool) -> tuple[Simulation, dict[str, str]]:
    """A world into which objects were imported, and what became of their names."""
    sim = begun()
    intake = take_in(sim.store, sim.now, manifests, rename)
    plan = plan_import(sim.api, [each for each in intake.objects if each is not None])
    assert [str(error) for item in plan.items for error in item.errors] == []
    sim.apply(ApplyObjects(tuple(in_creation_order(plan.accepted))))
    return sim, dict(intake.names)


def translated(placements: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str]:
    """Placements in the new names."""
    return {
        "/".join(names.get(part, part) for part in key.split("/")): names.get(where, where)
        for key, where in placements.items()
    }


@settings(max_examples=max(EXAMPLES // 5, 1))
@given(
    nodes=objects.several(objects.nodes(), 1, 3),
    pods=objects.several(objects.pods(), 3, 6),
    others=st.lists(objects.storage(), max_size=3, unique_by=lambda m: m["metadata"]["name"]),
)
def test_any_world_decides_the_same_under_other_names(
    nodes: Sequence[Manifest], pods: Sequence[Manifest], others: Sequence[Manifest]
) -> None:
    sim = begun()
    for part in (objects.fixtures(), (*nodes, *others), pods):
        do(sim, ApplyObjects(tuple(part)))
    read = [each.manifest for each in load_manifests(exported(sim))]
    (same, _), (other, names) = brought(read, False), brought(read, True)
    assert len(decisions(same).splitlines()) == len(decisions(other).splitlines())
    assert nodes_of(other) == translated(nodes_of(same), names)


def estate() -> list[Manifest]:
    """A cluster of many nodes and workloads whose pods compete: spread, affinity, taints, priorities, volumes."""
    nodes = [
        node(
            f"host-{number}.{ZONES[number % 3]}.example.net",
            cpu="4",
            labels={
                "topology.kubernetes.io/zone": ZONES[number % 3],
                "kubernetes.io/hostname": f"host-{number}",
                "disk": "fast" if number % 2 else "slow",
            },
        )
        for number in range(9)
    ]
    nodes[4]["spec"] = {"taints": [{"key": "example.net/team", "value": "search", "effect": "NoSchedule"}]}
    deployments = [
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": app, "namespace": "shop"},
            "spec": {
                "replicas": 7,
                "selector": {"matchLabels": {"app": app}},
                "template": {"metadata": {"labels": {"app": app}}, "spec": pod_spec(app, number)},
            },
        }
        for number, app in enumerate(APPS)
    ]
    return [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}, *nodes, *deployments]


def pod_spec(app: str, number: int) -> Manifest:
    chosen = {"labelSelector": {"matchLabels": {"app": app}}}
    return {
        "containers": [
            {
                "name": "main",
                "image": f"registry.example.net/{app}:v{number}",
                "resources": {"requests": {"cpu": "1300m"}},
            }
        ],
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "topology.kubernetes.io/zone",
                "whenUnsatisfiable": "DoNotSchedule" if number % 2 else "ScheduleAnyway",
                **chosen,
            }
        ],
        "affinity": {
            "podAntiAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": 50, "podAffinityTerm": {"topologyKey": "kubernetes.io/hostname", **chosen}}
                ]
            },
            "nodeAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {
                        "weight": 10,
                        "preference": {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["fast"]}]},
                    }
                ]
            },
        },
        "tolerations": [{"key": "example.net/team", "operator": "Equal", "value": app.split("-")[0]}],
    }


def test_workloads_of_an_estate_get_the_same_nodes() -> None:
    (same, _), (other, names) = brought(estate(), False), brought(estate(), True)
    for sim in (same, other):
        sim.run(steps=20_000)
    before = sorted(nodes_of(same).values())
    assert len(before) > 20
    assert sorted(names.get(where, where) for where in before) == sorted(nodes_of(other).values())
    by_app = [
        sorted(
            (names.get(app, app), names.get(where, where))
            for key, where in nodes_of(same).items()
            if (app := same.store.get("Pod", *key.split("/"))["metadata"]["labels"]["app"])
        ),
        sorted(
            (other.store.get("Pod", *key.split("/"))["metadata"]["labels"][names["app"]], where)
            for key, where in nodes_of(other).items()
        ),
    ]
    assert by_app[0] == by_app[1]


def test_a_snapshot_goes_on_the_same() -> None:
    (same, _), (other, names) = brought(snapshot(), False), brought(snapshot(), True)
    assert nodes_of(other) == translated(nodes_of(same), names)
    for sim in (same, other):
        sim.run(steps=3_000)
    assert len(nodes_of(same)) == len(nodes_of(other))
    kept = {key: where for key, where in nodes_of(same).items() if key.split("/")[1] in names}
    assert kept and translated(kept, names).items() <= nodes_of(other).items()


def test_no_word_of_a_former_name_is_left() -> None:
    words = {
        "host",
        "east",
        "west",
        "north",
        "example",
        "ledger",
        "checkout",
        "search",
        "registry",
        "shop",
        "disk",
        "fast",
    }
    written = json.dumps(rename_manifests(estate()).objects)
    assert words & set(re.findall("[a-z]+", written)) == set()


TEXTS = "topsecret"


@pytest.mark.parametrize(
    "spec",
    [
        {"containers": [{"name": "a", "args": [TEXTS], "command": [TEXTS], "env": [{"name": "A", "value": TEXTS}]}]},
        {
            "containers": [
                {"name": "a", "workingDir": "/" + TEXTS, "volumeMounts": [{"name": TEXTS, "mountPath": "/x"}]}
            ]
        },
        {"containers": [{"name": "a", "livenessProbe": {"httpGet": {"path": "/" + TEXTS}}}], "hostname": TEXTS},
        {"containers": [], "hostAliases": [{"ip": "10.1.2.3", "hostnames": [TEXTS]}], "nodeSelector": {TEXTS: TEXTS}},
        {"containers": [], "volumes": [{"name": TEXTS, "hostPath": {"path": f"/srv/{TEXTS}/data"}}]},
        {"containers": [], "unheardOf": {"note": f"about {TEXTS}, and more"}},
    ],
)
def test_texts_go_or_are_names_too(spec: Manifest) -> None:
    made = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "annotations": {"a.b/c": TEXTS}}, "spec": spec}
    assert TEXTS not in json.dumps(rename_manifests([{**made, "status": {"message": TEXTS}}]).objects)


def test_names_keep_their_order_and_what_they_have_in_common() -> None:
    made = ["web", "web-1", "web-db", "webshop", "a", "zeta", "default-x", "kube-proxy"]
    names = dict(rename_manifests([pod(name) for name in made]).names)
    assert sorted(made) == sorted(made, key=lambda name: names.get(name, name))
    assert names["web-db"].startswith(names["web"] + "-")
    assert names["web-1"] == names["web"] + "-1"


def test_what_a_controller_has_drawn_stays_behind_its_owners_new_name() -> None:
    made = running("web-5d4f8c-x7k2p", "2025-11-20T08:00:00Z", ownerReferences=owner("ReplicaSet", "web-5d4f8c"))
    [new] = rename_manifests([made]).objects
    assert new["metadata"]["name"] == new["metadata"]["ownerReferences"][0]["name"] + "-x7k2p"


def test_what_kubernetes_defines_stays() -> None:
    made = of(
        node(
            "alpha", labels={"kubernetes.io/os": "linux", "node-role.kubernetes.io/control-plane": "", "size": "12345"}
        ),
        "2025-11-20T07:00:00Z",
    )
    chooses = {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [{"key": "size", "operator": "Gt", "values": ["12000"]}]}]
            }
        }
    }
    new, chooser = rename_manifests([made, pod("p", affinity=chooses)]).objects
    labels = new["metadata"]["labels"]
    assert labels["kubernetes.io/os"] == "linux"
    assert "node-role.kubernetes.io/control-plane" in labels
    assert "12345" in labels.values()
    assert '"12000"' in json.dumps(chooser)


def test_kinds_that_decide_nothing_are_left_out() -> None:
    made = [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}},
        {"apiVersion": "example.net/v1", "kind": "Pod", "metadata": {"name": "c"}},
        pod("p"),
    ]
    result = rename_manifests(made)
    assert result.left_out == 2
    assert result.objects[:2] == [None, None]
