"""The plugins' own figures for a node, in the tabs Why and Node."""

from __future__ import annotations

from typing import Any

from scheduler_core.simulation import Simulation
from tests.playground.presenters.worlds import ZONE, decided, node, pod, shown, three_nodes, until, world

WEB = {"app": "web"}


def labelled(made: dict[str, Any], labels: dict[str, str] | None = None) -> dict[str, Any]:
    return {**made, "metadata": {**made["metadata"], "labels": labels or WEB}}


def figures(sim: Simulation, on: str, tab: str = "node") -> dict[str, dict[str, Any]]:
    body = shown("inspector", sim, tab=tab, node=on)["context"]["body"]
    return {section["plugin"]: section for section in body["figures"]}


def test_resources_tell_what_comes_what_is_taken_and_what_lacks() -> None:
    sim = until(three_nodes(pod("p", cpu="64")), decided())
    rows = {row["name"]: row for row in figures(sim, "small")["NodeResourcesFit"]["rows"]}
    assert rows["cpu"] == {
        "name": "cpu",
        "incoming": "64",
        "requested": "0",
        "allocatable": "1",
        "lacks": "63",
    }
    assert rows["pods"]["lacks"] == ""


def test_why_shows_the_figures_of_the_plugin_that_refused_the_chosen_node() -> None:
    sim = until(three_nodes(pod("p", cpu="64")), decided())
    assert list(figures(sim, "small", "why")) == ["NodeResourcesFit"]
    assert figures(sim, "infra", "why") == {}


def spread_world() -> Simulation:
    constraint = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": WEB},
    }
    sim = world(
        node("a", labels={ZONE: "a"}),
        node("b", cpu="1", labels={ZONE: "b"}),
        labelled(pod("one", nodeName="a")),
        labelled(pod("p", cpu="2", topologySpreadConstraints=[constraint])),
    )
    return until(sim, decided())


def test_spread_tells_the_pods_of_each_domain_and_the_skew_that_the_pod_would_make() -> None:
    (constraint,) = figures(spread_world(), "a")["PodTopologySpread"]["constraints"]
    assert (constraint["key"], constraint["max_skew"], constraint["minimum"]) == (ZONE, 1, 0)
    domains = {d["name"]: (d["pods"], d["skew"], d["ok"], d["here"]) for d in constraint["domains"]}
    assert domains == {"a": (1, 2, False, True), "b": (0, 1, True, False)}


def test_affinity_tells_which_existing_pods_match_which_term() -> None:
    term = {"labelSelector": {"matchLabels": WEB}, "topologyKey": "kubernetes.io/hostname"}
    rule = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    sim = until(world(node("a"), labelled(pod("one", nodeName="a")), pod("p", affinity=rule)), decided())
    (told,) = figures(sim, "a")["InterPodAffinity"]["terms"]
    assert (told["side"], told["ok"], told["selector"]) == ("anti-affinity", False, "app in (web)")
    assert [p["key"] for p in told["pods"]] == ["default/one"]


def test_existing_pods_that_keep_the_pod_away_are_named() -> None:
    term = {"labelSelector": {"matchLabels": WEB}, "topologyKey": "kubernetes.io/hostname"}
    rule = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    sim = until(world(node("a"), pod("one", nodeName="a", affinity=rule), labelled(pod("p"))), decided())
    (told,) = figures(sim, "a")["InterPodAffinity"]["existing"]
    assert [p["key"] for p in told["pods"]] == ["default/one"]


def test_a_selector_is_told_against_the_nodes_own_value() -> None:
    sim = until(world(node("a", labels={"disk": "hdd"}), pod("p", nodeSelector={"disk": "ssd"})), decided())
    (row,) = figures(sim, "a")["NodeAffinity"]["rows"]
    assert (row["key"], row["values"], row["value"], row["ok"]) == ("disk", "ssd", "hdd", False)


def test_volumes_tell_what_a_claim_would_get_and_which_volumes_are_offered() -> None:
    storage = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "local"}}
    klass = {
        **storage,
        "provisioner": "kubernetes.io/no-provisioner",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "disk-1"},
        "spec": {
            "capacity": {"storage": "10Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "local",
            "local": {"path": "/disk"},
            "nodeAffinity": {
                "required": {
                    "nodeSelectorTerms": [
                        {
                            "matchExpressions": [
                                {"key": "kubernetes.io/hostname", "operator": "In", "values": ["a"]}
                            ]
                        }
                    ]
                }
            },
        },
    }
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": "default"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "local",
            "resources": {"requests": {"storage": "5Gi"}},
        },
    }
    uses = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
    sim = until(world(klass, volume, claim, node("a"), node("b"), pod("p", volumes=uses)), decided())
    (told,) = figures(sim, "a")["VolumeBinding"]["claims"]
    assert (told["claim"], told["state"], told["volume"]) == ("data", "unbound", "disk-1")
    assert told["candidates"] == [{"volume": "disk-1", "reached": True}]
    (elsewhere,) = figures(sim, "b")["VolumeBinding"]["claims"]
    assert (elsewhere["volume"], elsewhere["candidates"][0]["reached"]) == ("", False)
