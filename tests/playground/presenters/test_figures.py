"""The plugins' own figures for a node, in the tabs Why and Node: from a world to the page's HTML."""

from __future__ import annotations

import re
from typing import Any

from django.template.loader import get_template

from scheduler_core.world.simulation import Simulation
from tests.playground.presenters.worlds import ZONE, decided, node, pod, shown, three_nodes, until, world

WEB = {"app": "web"}


def labelled(made: dict[str, Any], labels: dict[str, str] | None = None) -> dict[str, Any]:
    return {**made, "metadata": {**made["metadata"], "labels": labels or WEB}}


def figures(sim: Simulation, on: str, stage: str = "") -> dict[str, dict[str, Any]]:
    panel = "stage" if stage else "inspector"
    found = shown(panel, sim, stage=stage, about="node", node=on)
    of = found["cards"]["filter-why"] if stage else found["context"]["body"]
    return {section["plugin"]: section for section in of["figures"]}


def text(parts: list[dict[str, Any]]) -> str:
    """What a reader sees of a cell or a paragraph."""
    seen = (each.get("text") or each.get("name") or text(each.get("parts", [])) for each in parts)
    return " ".join("".join(seen).split())


def rows(section: dict[str, Any]) -> list[tuple[str, ...]]:
    """The cells of a section's tables; "bad" behind those of a row that keeps the pod off the node."""
    return [
        (text(row["name"]), *map(text, row["cells"]), *(("bad",) if "bad" in row["tone"] else ()))
        for block in section["blocks"]
        if block["kind"] == "table"
        for row in block["rows"]
    ]


def html(*sections: dict[str, Any]) -> str:
    page = get_template("inspector_figures.html", using="panels").render({"figures": sections})
    return re.sub(r"\s+", " ", page)


def test_resources_tell_what_comes_what_is_taken_and_what_lacks() -> None:
    sim = until(three_nodes(pod("p", cpu="64")), decided())
    section = figures(sim, "small")["NodeResourcesFit"]
    assert section["blocks"][0]["columns"] == ["resource", "incoming", "requested", "allocatable", "short"]
    assert rows(section) == [("cpu", "64", "0", "1", "63", "bad"), ("pods", "1", "0", "110", "")]
    row = html(section).partition('<tr class="bad"><th scope="row">cpu</th>')[2]
    assert ">64</a></td>" in row
    assert 'data-field="status.allocatable[cpu]">1</a>' in row


def test_long_amounts_of_a_table_are_in_one_unit() -> None:
    real, asking = node("real"), pod("p")
    real["status"]["allocatable"] = {**real["status"]["allocatable"], "memory": "16265756Ki"}
    asking["spec"]["containers"][0]["resources"]["requests"]["memory"] = "24Gi"
    sim = until(world(real, asking), decided())
    assert ("memory", "24Gi", "0", "15.5Gi", "8.5Gi", "bad") in rows(figures(sim, "real")["NodeResourcesFit"])


def test_why_shows_the_figures_of_the_plugin_that_refused_the_chosen_node() -> None:
    sim = until(three_nodes(pod("p", cpu="64")), decided())
    assert list(figures(sim, "small", "filter")) == ["NodeResourcesFit"]
    assert list(figures(sim, "infra", "filter")) == ["TaintToleration"]


def test_what_a_plugin_compares_leads_to_where_the_pod_and_the_node_say_so() -> None:
    sim = until(three_nodes(pod("p", nodeSelector={ZONE: "b"})), decided())
    taint = figures(sim, "infra", "filter")["TaintToleration"]["blocks"][0]["rows"][0]["cells"]
    row = figures(sim, "free", "filter")["NodeAffinity"]["blocks"][0]["rows"][0]
    written = [part for cell in (row["name"], *row["cells"]) for part in cell if part["kind"] == "leading"]
    assert [(part["object"], part["path"]) for part in written] == [
        ("Pod", f"spec.nodeSelector[{ZONE}]"),
        ("Node", f"metadata.labels[{ZONE}]"),
    ]
    assert taint == [[{"kind": "words", "text": "no toleration"}]]


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
    section = figures(spread_world(), "a")["PodTopologySpread"]
    heading, table = section["blocks"]
    assert text(heading["parts"]) == f"{ZONE} maxSkew 1 · global minimum 0 · app in (web)"
    assert rows(section) == [("a this node", "1", "2 > 1", "bad"), ("b", "0", "1")]
    assert [row["tone"] for row in table["rows"]] == ["bad here", ""]
    written = 'data-field="spec.topologySpreadConstraints[0].maxSkew">maxSkew 1</a>'
    assert f"{written} · global minimum 0 · <code>app in (web)</code></p>" in html(section)
    assert '>a</a> <span class="by">this node</span><svg class="mini"' in html(section)


def test_affinity_tells_which_existing_pods_match_which_term() -> None:
    term = {"labelSelector": {"matchLabels": WEB}, "topologyKey": "kubernetes.io/hostname"}
    rule = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    sim = until(world(node("a"), labelled(pod("one", nodeName="a")), pod("p", affinity=rule)), decided())
    section = figures(sim, "a")["InterPodAffinity"]
    assert rows(section) == [("anti-affinity app in (web)kubernetes.io/hostname = a", "1 one", "bad")]
    assert '<a href="?pod=default/one" data-pod="default/one"><code>one</code></a>' in html(section)
    assert 'data-field="metadata.labels[kubernetes.io/hostname]">kubernetes.io/hostname = a</a></span>' in html(section)


def test_existing_pods_that_keep_the_pod_away_are_named() -> None:
    term = {"labelSelector": {"matchLabels": WEB}, "topologyKey": "kubernetes.io/hostname"}
    rule = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    sim = until(world(node("a"), pod("one", nodeName="a", affinity=rule), labelled(pod("p"))), decided())
    assert rows(figures(sim, "a")["InterPodAffinity"]) == [
        ("anti-affinity of an existing pod app in (web)kubernetes.io/hostname = a", "one", "bad")
    ]


def test_a_selector_is_told_against_the_nodes_own_value() -> None:
    sim = until(world(node("a", labels={"disk": "hdd"}), pod("p", nodeSelector={"disk": "ssd"})), decided())
    assert rows(figures(sim, "a")["NodeAffinity"]) == [("disk In ssd", "hdd", "bad")]


def test_volumes_tell_what_a_claim_would_get_and_which_volumes_are_offered() -> None:
    storage = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "local"}}
    klass = {**storage, "provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer"}
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
                        {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["a"]}]}
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
    here, elsewhere = figures(sim, "a")["VolumeBinding"], figures(sim, "b")["VolumeBinding"]
    assert rows(here) == [("datalocal", "would get disk-1disk-1")]
    ((_, volume),) = rows(elsewhere)
    assert "would get" not in volume
    assert volume.endswith("disk-1 (not accessible)")
    offered = 'data-controller="PersistentVolume//disk-1" data-tab="yaml" data-field="spec.nodeAffinity">disk-1</a>'
    assert html(here).count(offered) == 2
