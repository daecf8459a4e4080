"""The builder's forms: from what is filled in to manifests, or to an error at its field."""

import pytest
import yaml

from playground.workbench.builder import CLUSTERS, to_yaml
from playground.workbench.forms.build import NodesForm, PodsForm
from playground.workbench.forms.extenders import PluginForm
from playground.workbench.forms.world import SettingsForm, gate_rows
from scheduler_core.scheduler.config import CURRENT, HISTORICAL, NORMALIZE, RELEASES

NODES = {"count": 3, "name": "node-{i}", "first": 1, "cpu": "4", "memory": "16Gi", "pods": 110}
PODS = {"replicas": 1, "name": "web", "first": 1, "namespace": "default"}


def nodes(**changed):
    form = NodesForm({**NODES, **changed})
    assert form.is_valid(), form.errors
    return form.manifests


def pod(**changed):
    form = PodsForm({**PODS, **changed})
    assert form.is_valid(), form.errors
    return form.manifests[0]


def error(form_class, given, field, **changed):
    form = form_class({**given, **changed})
    assert not form.is_valid()
    assert form.manifests == []
    assert list(form.errors) == [field]
    return form.errors[field][0]


def test_nodes_take_their_zones_in_turns():
    zones = [each["metadata"]["labels"]["topology.kubernetes.io/zone"] for each in nodes(zones="a, b")]
    assert zones == ["a", "b", "a"]


def test_a_pattern_counts_from_where_it_is_told():
    assert [each["metadata"]["name"] for each in nodes(name="n{i}", first=8)] == ["n8", "n9", "n10"]


def test_a_pattern_without_a_counter_gets_one_where_several_are_asked_for():
    assert [each["metadata"]["name"] for each in nodes(name="big", count=2)] == ["big-1", "big-2"]


def test_a_node_has_its_capacity_extended_resources_labels_and_taints():
    node = nodes(count=1, resources="nvidia.com/gpu=4", labels="disk=ssd", taints="gpu:NoSchedule")[0]
    assert node["status"]["allocatable"] == {
        "cpu": "4", "memory": "16Gi", "pods": "110", "nvidia.com/gpu": "4",
    }  # fmt: skip
    assert node["metadata"]["labels"] == {"kubernetes.io/hostname": "node-1", "disk": "ssd"}
    assert node["spec"]["taints"] == [{"key": "gpu", "effect": "NoSchedule"}]


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("cpu", "10x", "“10x” is not a quantity. Write it as 500m or 2"),
        ("cpu", "-1", "negative"),
        ("cpu", "", "required"),
        ("count", "0", "greater than or equal to 1"),
        ("count", "100000", "less than or equal to 2000"),
        ("count", "three", "whole number"),
        ("name", "Node_{i}", "“Node_1”"),
        ("name", "node-{j}", "contains a brace"),
        ("name", "node-{zone}-x-{i}{i", "contains a brace"),
        ("taints", "gpu", "is not a taint"),
        ("labels", "disk", "is not a label"),
    ],
)
def test_a_wrong_value_of_the_node_form_is_told_at_its_field(field, value, said):
    assert said in error(NodesForm, NODES, field, **{field: value})


def test_a_pattern_of_zones_alone_that_names_two_nodes_alike_gets_a_counter():
    assert [each["metadata"]["name"] for each in nodes(name="{zone}", zones="a b")] == ["a-1", "b-2", "a-3"]


def test_a_pod_left_empty_asks_for_nothing():
    assert pod()["spec"] == {"containers": [{"name": "main", "image": "registry.k8s.io/pause:3.10"}]}


def test_a_pod_has_all_that_its_form_can_say():
    made = pod(
        labels="app=web", cpu="500m", memory="1Gi", resources="nvidia.com/gpu=1", limits="nvidia.com/gpu=1",
        priority="10", scheduler_name="packing", gates="example.com/a", node_selector="disk=ssd",
        tolerations="gpu:NoSchedule", node_required="zone in (a,b)", node_preferred="50 disk=ssd",
        away="app=web @ zone", near_preferred="10 app=cache", host_ports="8080", spread_key="zone",
    )  # fmt: skip
    spec = made["spec"]
    container = spec["containers"][0]
    assert container["resources"]["requests"] == {"cpu": "500m", "memory": "1Gi", "nvidia.com/gpu": "1"}
    assert container["resources"]["limits"] == {"nvidia.com/gpu": "1"}
    assert container["ports"][0]["hostPort"] == 8080
    assert (spec["priority"], spec["schedulerName"]) == (10, "packing")
    assert spec["schedulingGates"] == [{"name": "example.com/a"}]
    assert spec["nodeSelector"] == {"disk": "ssd"}
    assert set(spec["affinity"]) == {"nodeAffinity", "podAffinity", "podAntiAffinity"}
    assert spec["tolerations"] == [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}]


def test_a_spread_counts_the_pods_own_labels_unless_told_otherwise():
    spread = pod(labels="app=web", spread_key="zone")["spec"]["topologySpreadConstraints"][0]
    assert spread["labelSelector"] == {"matchLabels": {"app": "web"}}
    assert (spread["maxSkew"], spread["whenUnsatisfiable"]) == (1, "DoNotSchedule")


def test_each_line_of_a_required_node_affinity_is_a_term():
    affinity = pod(node_required="zone=a\nzone=b, disk=ssd")["spec"]["affinity"]["nodeAffinity"]
    terms = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert [len(term["matchExpressions"]) for term in terms] == [1, 2]


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("namespace", "Team A", "“Team A”"),
        ("name", "-web", "“-web”"),
        ("cpu", "much", "is not a quantity"),
        ("priority", "high", "whole number"),
        ("priority", "2000000000", "less than or equal to 1000000000"),
        ("tolerations", "gpu:Sometimes", "is not a toleration"),
        ("node_preferred", "ssd", "weight from 1 to 100"),
        ("near", "@ zone", "selector of pods"),
        ("host_ports", "99999", "is not a host port"),
    ],
)
def test_a_wrong_value_of_the_pod_form_is_told_at_its_field(field, value, said):
    assert said in error(PodsForm, PODS, field, **{field: value})


def test_the_yaml_reads_back_as_the_same_manifests():
    made = nodes(count=2, labels="a=yes, b=1", taints="gpu:NoSchedule")
    assert list(yaml.safe_load_all(to_yaml(made))) == made


@pytest.mark.parametrize(("slug", "nodes", "pods"), [("small", 3, 4), ("zones", 6, 6), ("fifty", 50, 102)])
def test_a_starter_cluster_has_the_nodes_and_pods_it_promises(slug, nodes, pods):
    kinds = [each["kind"] for each in CLUSTERS[slug].make()]
    assert (kinds.count("Node"), kinds.count("Pod")) == (nodes, pods)


@pytest.mark.parametrize("release", RELEASES)
def test_every_gate_of_a_release_has_a_row_that_says_what_it_does(release):
    assert all(row.about for row in gate_rows(SettingsForm(release=release), release))


@pytest.mark.parametrize(
    ("form", "field", "values"),
    [(PluginForm, "normalize", [*NORMALIZE]), (SettingsForm, "queue_mode", [CURRENT, HISTORICAL])],
)
def test_the_choices_that_have_words_are_those_that_there_are(form, field, values):
    assert [value for value, _ in form.base_fields[field].choices] == values
