import pytest

from scheduler_core.apimachinery.objects.node import Node, Taint, zone_key
from scheduler_core.apimachinery.objects.resources import Resources


def test_a_node_reads_what_its_manifest_says():
    node = Node.from_manifest(
        {
            "metadata": {"name": "n1", "labels": {"zone": "a"}},
            "spec": {"unschedulable": True, "taints": [{"key": "k", "effect": "NoSchedule"}]},
            "status": {
                "allocatable": {"cpu": "4", "memory": "1Ki", "pods": "110", "example.com/fpga": "2"},
                "images": [{"names": ["nginx:1", "nginx@sha256:1"], "sizeBytes": 7}],
                "conditions": [{"type": "Ready", "status": "False"}],
            },
        }
    )
    assert node.unschedulable
    assert node.taints == (Taint("k", "", "NoSchedule"),)
    assert node.allocatable == Resources(4000, 1024, 0, (("example.com/fpga", 2),))
    assert (node.allowed_pods, node.ready) == (110, "False")
    assert node.images == ((("nginx:1", "nginx@sha256:1"), 7),)


def test_a_node_without_status_has_room_for_nothing():
    node = Node.from_manifest({"metadata": {"name": "n1"}})
    assert (node.allocatable, node.allowed_pods, node.zone_key) == (Resources(), 0, "")


def test_a_taint_keeps_the_blank_of_an_empty_value_in_messages():
    assert Taint("k", "", "NoSchedule").text() == "{k: }"
    assert str(Taint("k", "v", "NoSchedule")) == "k=v:NoSchedule"


@pytest.mark.parametrize(
    ("labels", "key"),
    [
        ({}, ""),
        ({"topology.kubernetes.io/zone": "a"}, ":\x00:a"),
        ({"topology.kubernetes.io/region": "r"}, "r:\x00:"),
        ({"topology.kubernetes.io/zone": "new", "failure-domain.beta.kubernetes.io/zone": "old"}, ":\x00:old"),
    ],
)
def test_the_zone_key_is_kubes(labels, key):
    assert zone_key(labels) == key
