"""Objects are written as Go writes them; the samples were read into v1.Pod and v1.Node of k8s.io/api v0.34.1 and written there."""

import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from scheduler_core.apimachinery.objects.node import Node
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apiserver.schema.table import fields, parse_expression
from scheduler_core.scheduler.extenders.wire import node_json, pod_json, write_go_object
from tests.scheduler_core.worlds import node, pod

HERE = Path(__file__)
SAMPLES = json.loads(lzma.decompress(HERE.with_name("go_objects.json.xz").read_bytes()))
TABLE = json.loads((HERE.parents[4] / "scheduler_core/scheduler/extenders/wire.json").read_text())


@pytest.mark.parametrize("sample", SAMPLES)
def test_an_object_is_written_as_go_writes_it(sample: dict[str, Any]) -> None:
    assert json.dumps(write_go_object(sample["given"], sample["type"])) == json.dumps(sample["written"])


@pytest.mark.parametrize("status", [{}, {"nominatedNodeName": ""}, {"nominatedNodeName": None}])
def test_a_nomination_that_was_cleared_is_absent(status: dict[str, Any]) -> None:
    assert pod_json(Pod.from_manifest({**pod("p"), "status": status}))["status"] == {}


def test_a_pointer_to_a_zero_is_written_and_a_zero_is_not() -> None:
    given = pod("p", terminationGracePeriodSeconds=0, hostNetwork=False, nodeName="", tolerations=[])
    spec = pod_json(Pod.from_manifest(given))["spec"]
    assert spec == {
        "containers": [{"name": "c", "image": "app:v1", "resources": {"requests": {"cpu": "1"}}}],
        "terminationGracePeriodSeconds": 0,
    }


def test_structs_are_written_though_they_are_empty() -> None:
    status = node_json(Node.from_manifest(node("n")))["status"]
    assert status["daemonEndpoints"] == {"kubeletEndpoint": {"Port": 0}}
    assert set(status["nodeInfo"].values()) == {""}


def test_the_table_is_about_fields_that_there_are_and_says_of_each_how_go_writes_it() -> None:
    reached: set[str] = set()
    todo = ["Pod", "Node"]
    while todo:
        type_ = todo.pop()
        if type_ in reached:
            continue
        reached.add(type_)
        for field in fields(type_).values():
            inner = field if field.shape == "object" else parse_expression(field.inner)
            todo += [inner.inner] if inner.shape == "object" else []
    for told in TABLE.values():
        assert set(told) <= reached
        assert all(name in fields(type_) for type_, names in told.items() for name in names)
