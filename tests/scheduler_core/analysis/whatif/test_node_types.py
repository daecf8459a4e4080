"""Node types: from nodes, a list, autoscalers' annotations, and NodePools; and the nodes that are made of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scheduler_core.analysis.whatif import BadTypes, NodeType, add, make_nodes, read_types, types_of_nodes
from scheduler_core.analysis.whatif.node_types import INSTANCE_TYPE, ZONE
from scheduler_core.world.commands import ApplyObjects
from tests.scheduler_core.analysis.whatif.test_outcome import standing
from tests.scheduler_core.worlds import node

LARGE = {"name": "m5.large", "capacity": {"cpu": "2", "memory": "8Gi"}, "zones": ["a", "b"], "price": 0.096}
POD_LIMITS = "capacity.cluster-autoscaler.kubernetes.io/"


def read(*documents: Any, known: list[NodeType] | None = None) -> dict[str, NodeType]:
    text = "\n---\n".join(map(json.dumps, documents))
    return {each.name: each for each in read_types(text, known or [])[0]}


def test_a_list_says_what_is_reserved_and_what_a_node_can_attach() -> None:
    entry = {**LARGE, "kubeReserved": {"cpu": "70m", "memory": "1Gi"}, "csi": {"ebs.csi.aws.com": 25}}
    found = read({"nodeTypes": [entry]})["m5.large"]
    assert dict(found.manifest["status"]["allocatable"]) == {"cpu": "1930m", "memory": "7Gi", "pods": "110"}
    node, csi = found.objects("x")
    assert (node["metadata"]["name"], found.price) == ("x", 0.096)
    assert csi["spec"]["drivers"][0]["allocatable"] == {"count": 25}


def test_nodes_of_a_type_take_turns_in_its_zones_and_have_free_names() -> None:
    sim = standing(node("m5.large-new-1"))
    found = read({"nodeTypes": [LARGE]})["m5.large"]
    made = make_nodes(sim.store, [(found, 3)])
    assert [each["metadata"]["name"] for each in made] == [f"m5.large-new-{i}" for i in (2, 3, 4)]
    assert [each["metadata"]["labels"][ZONE] for each in made] == ["a", "b", "a"]


def test_devices_of_a_type_become_slices_of_each_node() -> None:
    entry = {
        "name": "gpu",
        "capacity": {"cpu": "8", "memory": "8Gi"},
        "devices": {"gpu.example.com": [{"name": "gpu-0"}]},
    }
    sim = standing(node("n"))
    sim.apply(ApplyObjects(make_nodes(sim.store, [(read({"nodeTypes": [entry]})["gpu"], 2)])))
    slices = sim.store.list("ResourceSlice")
    assert [each["spec"]["nodeName"] for each in slices] == ["gpu-new-1", "gpu-new-2"]
    assert [each["spec"]["pool"]["name"] for each in slices] == ["gpu-new-1", "gpu-new-2"]


def test_annotations_of_a_machine_deployment_are_read_as_cluster_autoscaler_reads_them() -> None:
    said = {
        "cpu": "16",
        "memory": "128G",
        "maxPods": "200",
        "gpu-type": "nvidia.com/gpu",
        "gpu-count": "2",
        "labels": "a=1,b=2",
        "taints": "k=v:NoSchedule",
        "csi-driver": "ebs.csi.aws.com=25",
    }
    annotations = {f"{POD_LIMITS}{key}": value for key, value in said.items()}
    annotations["cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size"] = "5"
    group = {"kind": "MachineDeployment", "metadata": {"name": "md", "annotations": annotations}, "spec": {}}
    found = read(group)["md"]
    assert found.manifest["status"]["capacity"] == {"cpu": "16", "memory": "128G", "pods": "200", "nvidia.com/gpu": "2"}
    assert found.manifest["spec"]["taints"] == [{"key": "k", "value": "v", "effect": "NoSchedule"}]
    assert (found.node.labels["b"], found.most, found.csi[0]["name"]) == ("2", 5, "ebs.csi.aws.com")


def test_a_node_pool_narrows_the_machines_that_are_known() -> None:
    spot = {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"]}
    kinds = {"key": INSTANCE_TYPE, "operator": "In", "values": ["m5.large"]}
    place = {"key": ZONE, "operator": "In", "values": ["b", "c"]}
    template = {"spec": {"requirements": [spot, kinds, place], "taints": [{"key": "spot", "effect": "NoSchedule"}]}}
    pool = {"kind": "NodePool", "metadata": {"name": "p"}, "spec": {"template": template, "limits": {"cpu": "9"}}}
    other = {"name": "c5", "capacity": {"cpu": "4", "memory": "8Gi"}}
    found = read({"nodeTypes": [LARGE, other]}, pool)
    assert list(found) == ["m5.large", "c5", "p/m5.large"]
    made = found["p/m5.large"]
    assert (made.zones, made.most, made.price) == (("b",), 4, 0.096)
    assert made.node.labels["karpenter.sh/capacity-type"] == "spot"
    assert read_types(json.dumps(pool))[1] == ["NodePool p: no known type meets its requirements; name its machines"]


def test_nodes_that_differ_in_name_and_zone_alone_are_of_one_type_which_may_get_a_price() -> None:
    labels = {INSTANCE_TYPE: "m5"}
    sim = standing(*(node(name, labels={**labels, ZONE: name}) for name in ("a", "b")), node("c", "2"))
    known = types_of_nodes(sim.store)
    assert [(each.name, each.zones) for each in known] == [("m5", ("a", "b")), ("c", ())]
    priced = read({"nodeTypes": [{"name": "m5", "price": 2}]}, known=known)
    assert [each.price for each in priced.values()] == [2.0, None]
    command = add(sim, "m5", 2, priced)
    assert isinstance(command, ApplyObjects)
    assert [each["metadata"]["labels"][ZONE] for each in command.objects] == ["a", "b"]


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"nodeTypes": [{"name": "x"}]}, "x has no capacity"),
        ({"nodeTypes": [{"name": "x", "cpu": 1}]}, r"unknown field `cpu` - at `\$\[0\]`"),
        ({"nodeTypes": [{"name": "x", "capacity": {"cpu": "1x"}}]}, "x: '1x' is not a quantity"),
        ({"kind": "MachineSet", "metadata": {"name": "m"}}, "MachineSet m: received no capacity"),
        ({"kind": "NodePool", "metadata": 3, "spec": {"template": 3}}, "NodePool: received a field of another type"),
        ({"kind": "MachineSet", "metadata": 3}, "document 1: received a field of another type"),
        (["x"], "document 1: received a field of another type"),
        ({"nodeTypes": {"name": "x"}}, "Expected `array`, got `object`"),
    ],
)
def test_what_names_no_type_is_refused_with_its_place(document: Any, said: str) -> None:
    with pytest.raises(BadTypes, match=said):
        read(document)
