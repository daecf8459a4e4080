"""The HTTP surface of the API server, without a socket."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from scheduler_core.apiserver.door import JSON, Call, Failure, answer_read, answer_write, hash_template, read_body
from scheduler_core.apiserver.door.bodies.decoding import Decoder, Undecodable, read_protobuf
from scheduler_core.apiserver.door.tables.row import human_duration
from scheduler_core.world.commands import ApplyObjects, BeginLife, CallAPI
from scheduler_core.world.simulation import Simulation

MAPS = "/api/v1/namespaces/default/configmaps"
MERGE, APPLY = "application/merge-patch+json", "application/apply-patch+yaml"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
# kubectl create configmap c --from-literal=a=1, as it sends it.
CONFIG_MAP = base64.b64decode("azhzAAoPCgJ2MRIJQ29uZmlnTWFwEhcKDQoBYxIAGgAiACoAMgASBgoBYRIBMRoAIgA=")


def write(sim: Simulation, method: str, path: str, body: Any = None, type_: str = JSON, **query: str) -> Any:
    """The body of the answer; Failure where it is refused."""
    return answer_write(sim.api, Call(method, path, query), body, type_, "me").body


def read(sim: Simulation, path: str, **query: str) -> Any:
    return answer_read(sim, Call("GET", path, query)).body


def config_map(name: str = "c", **data: str) -> dict[str, Any]:
    return {"metadata": {"name": name}, "data": data}


def rack(name: str, slots: Any) -> dict[str, Any]:
    return {"apiVersion": "lab.example.com/v1", "kind": "Rack", "metadata": {"name": name}, "spec": {"slots": slots}}


@pytest.fixture
def racks() -> Simulation:
    rules = [{"rule": "self.slots % 2 == 0", "message": "slots must be even"}]
    spec = {"type": "object", "required": ["slots"], "x-kubernetes-validations": rules}
    spec["properties"] = {"slots": {"type": "integer", "maximum": 48}, "note": {"type": "string", "default": "a"}}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema}
    names = {"plural": "racks", "kind": "Rack"}
    sim = Simulation()
    group = {"group": "lab.example.com", "scope": "Namespaced", "names": names, "versions": [version]}
    write(sim, "POST", DEFINITIONS, {"metadata": {"name": "racks.lab.example.com"}, "spec": group})
    return sim


RACKS = "/apis/lab.example.com/v1/namespaces/default/racks"


def test_objects_of_a_definition_are_checked_and_filled_in(racks: Simulation) -> None:
    assert write(racks, "POST", RACKS, rack("r", 4))["spec"] == {"slots": 4, "note": "a"}
    for slots, said in (
        (3, "slots must be even"),
        (50, "should be less than or equal to 48"),
        ("x", "must be of type integer"),
    ):
        with pytest.raises(Failure, match=said):
            write(racks, "POST", RACKS, rack("s", slots))
    with pytest.raises(Failure, match="unknown field"):
        write(racks, "POST", RACKS, {**rack("s", 2), "nope": 1}, fieldValidation="Strict")


def test_a_field_of_another_manager_is_a_conflict() -> None:
    sim, path = Simulation(), f"{MAPS}/c"
    write(sim, "PATCH", path, config_map(a="1"), APPLY, fieldManager="one")
    with pytest.raises(Failure, match=r'conflict with "one": \.data\.a'):
        write(sim, "PATCH", path, config_map(a="2"), APPLY, fieldManager="two")
    forced = write(sim, "PATCH", path, config_map(a="2"), APPLY, fieldManager="two", force="true")
    assert [each["manager"] for each in forced["metadata"]["managedFields"]] == ["two"]


def test_what_is_no_longer_applied_goes() -> None:
    sim, path = Simulation(), f"{MAPS}/c"
    write(sim, "PATCH", path, config_map(a="1", b="1"), APPLY, fieldManager="one")
    write(sim, "PATCH", path, {"data": {"c": "1"}}, MERGE)
    assert write(sim, "PATCH", path, config_map(a="1"), APPLY, fieldManager="one")["data"] == {"a": "1", "c": "1"}


def test_a_pod_that_came_another_way_can_be_labeled() -> None:
    spec = {"containers": [{"name": "main", "image": "x:1"}]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "default"}, "spec": spec}
    for commands in ((ApplyObjects((pod,)),), (ApplyObjects((pod,)), BeginLife("2026-01-31T12:00:00Z"))):
        sim = Simulation()
        for command in commands:
            sim.apply(command)
        patch = {"metadata": {"labels": {"a": "b"}}}
        sim.apply(CallAPI("PATCH", "/api/v1/namespaces/default/pods/p", {}, patch, MERGE, "kubectl label"))
        assert sim.answered is not None and sim.answered.body["metadata"]["labels"] == {"a": "b"}


def test_a_template_is_named_as_kube_names_it() -> None:
    resources = {"requests": {"cpu": "100m", "memory": "64Mi", "x": "1500m"}}
    probe = {"httpGet": {"path": "/", "port": 80, "scheme": "HTTP"}, "timeoutSeconds": 1}
    main: dict[str, Any] = {
        "name": "main",
        "image": "nginx:1.27",
        "imagePullPolicy": "IfNotPresent",
        "resources": resources,
    }
    main |= {
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "livenessProbe": probe,
    }
    main |= {"ports": [{"containerPort": 80, "protocol": "TCP"}]}
    spec = {"containers": [main], "restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "securityContext": {}}
    spec |= {"schedulerName": "default-scheduler", "terminationGracePeriodSeconds": 30}
    template = {"metadata": {"labels": {"app": "web", "b": "c"}}, "spec": spec}
    assert hash_template(template, None) == "758b4f9b97"  # computed by kube's own function
    assert hash_template(template, 0) != "758b4f9b97"


def test_wrong_types_are_named_in_gos_words() -> None:
    body = {"spec": {"containers": [{"ports": [{"containerPort": "eighty"}]}]}}
    words = "string into Go struct field ContainerPort.spec.containers.ports.containerPort of type int32"
    with pytest.raises(Undecodable, match=words):
        Decoder().object(body, "core.v1.Pod")


def test_protobuf_bodies_are_read() -> None:
    made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "1"}}
    assert read_protobuf(CONFIG_MAP) == made
    for end in range(len(CONFIG_MAP)):
        with pytest.raises(ValueError, match=r".+"):
            read_protobuf(CONFIG_MAP[:end] + b"\xff")


def test_an_unreadable_body_is_told_with_what_was_sent() -> None:
    with pytest.raises(Failure, match=r'unexpected end of JSON input \(\{"a"\)'):
        read_body(Simulation(), Call("POST", MAPS), b'{"a"', JSON)


def test_go_writes_zero_values_and_leaves_others_out() -> None:
    sim = Simulation()
    write(sim, "POST", "/api/v1/nodes", {"metadata": {"name": "a"}, "spec": {"unschedulable": False}})
    node = read(sim, "/api/v1/nodes/a")
    assert "unschedulable" not in node["spec"]
    assert node["status"]["daemonEndpoints"] == {"kubeletEndpoint": {"Port": 0}}


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (119, "119s"), (120, "2m"), (605, "10m"), (3600 * 3 + 60, "3h1m"), (-9, "<invalid>")],
)
def test_ages_are_written_as_kube_does(seconds: int, text: str) -> None:
    assert human_duration(seconds) == text
