"""The HTTP surface of the API server, without a socket."""

from __future__ import annotations

import base64
import re
from typing import Any

import msgspec
import pytest
import yaml

from scheduler_core.apiserver.door import (
    JSON,
    Call,
    Failure,
    answer_read,
    answer_write,
    hash_template,
    impersonate,
    read_body,
)
from scheduler_core.apiserver.door.bodies.decoding import Decoder, DecodingError, read_protobuf
from scheduler_core.apiserver.door.tables.row import human_duration
from scheduler_core.base.releases import RELEASES, Release
from scheduler_core.world.commands import ApplyObjects, BeginLife, CallAPI, DeleteObjects, Ref
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import node, pod, world

MAPS = "/api/v1/namespaces/default/configmaps"
MERGE, APPLY = "application/merge-patch+json", "application/apply-patch+yaml"
STRATEGIC = "application/strategic-merge-patch+json"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
# kubectl create configmap c --from-literal=a=1, as it sends it.
CONFIG_MAP = base64.b64decode("azhzAAoPCgJ2MRIJQ29uZmlnTWFwEhcKDQoBYxIAGgAiACoAMgASBgoBYRIBMRoAIgA=")


def write(sim: Simulation, method: str, path: str, body: Any = None, type_: str = JSON, **query: str) -> Any:
    """The body of the answer; Failure where it is refused."""
    return answer_write(sim.api, Call(method, path, query), body, type_, "me").body


def read(sim: Simulation, path: str, **query: str) -> Any:
    return msgspec.json.decode(answer_read(sim, Call("GET", path, query)).data)


def config_map(name: str = "c", **data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def rack(name: str, slots: Any) -> dict[str, Any]:
    return {"apiVersion": "lab.example.com/v1", "kind": "Rack", "metadata": {"name": name}, "spec": {"slots": slots}}


def scan(data: bytes) -> dict[int, list[bytes]]:
    """The fields of a protobuf message that has texts and messages alone, by number."""
    found: dict[int, list[bytes]] = {}
    numbers = iter(data)

    def varint() -> int:
        value = shift = 0
        for byte in numbers:
            value, shift = value | (byte & 127) << shift, shift + 7
            if byte < 128:
                break
        return value

    while key := varint():
        assert key & 7 in (0, 2)
        size = varint()
        found.setdefault(key >> 3, []).append(bytes(next(numbers) for _ in range(size)) if key & 7 else b"%d" % size)
    return found


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


def test_an_update_of_a_custom_resource_judges_what_it_changes_alone(racks: Simulation) -> None:
    write(racks, "POST", RACKS, rack("r", 4))
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/racks.lab.example.com"
    lower = {
        "op": "replace",
        "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/slots/maximum",
    }
    write(racks, "PATCH", path, [{**lower, "value": 2}], "application/json-patch+json")
    assert write(racks, "PATCH", f"{RACKS}/r", {"spec": {"note": "b"}}, MERGE)["spec"] == {"slots": 4, "note": "b"}
    with pytest.raises(Failure, match="slots in body should be less than or equal to 2"):
        write(racks, "PATCH", f"{RACKS}/r", {"spec": {"slots": 6}}, MERGE)


def test_an_eviction_names_its_pod_and_nothing_is_proxied() -> None:
    sim, path = Simulation(), "/api/v1/namespaces/default/pods"
    write(sim, "POST", path, {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}})
    for body in ({"metadata": {"name": "other"}}, {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p"}}):
        with pytest.raises(Failure, match="Eviction"):
            write(sim, "POST", f"{path}/p/eviction", body)
    assert answer_read(sim, Call("GET", f"{path}/p/proxy")).status == 400


def test_a_field_that_a_body_has_twice_is_a_warning_or_refused() -> None:
    call = Call("POST", MAPS)
    for body, type_, said in (
        (b'{"data": {"a": "1", "a": "2"}}', JSON, 'duplicate field \\"data.a\\"'),
        (b"data:\n  a: b\n  a: c\n", "application/yaml", 'line 3: key \\"a\\" already set in map'),
    ):
        warnings: list[tuple[str, str]] = []
        assert "a" in read_body(Simulation(), call, body, type_, warnings)["data"]
        assert warnings == [("Warning", f'299 - "{said}"')]
        with pytest.raises(Failure, match="strict decoding error"):
            read_body(Simulation(), Call("POST", MAPS, {"fieldValidation": "Strict"}), body, type_)


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


HASHES = {"64Mi": "5668fc6f84", "1Gi": "58b7574d8b", "1024Mi": "58b7574d8b", "100Mi": "899f5b984", "1000m": "d59c594cd"}
HASHES |= {
    "0.5": "68dff7b75",
    "1000": "7b888f4d46",
    "2k": "58cd5b6fd",
    "1e3": "544756c5dd",
}  # by Go, of kube's API v0.34.2


# By Go, of kube's API v0.34.2, v0.35.4, v0.36.3 and v0.37.2: of the template of 64Mi, and of the one of every type that has grown.
HASHES_OF_RELEASES: dict[Release, tuple[str, str]] = {
    "1.34.1": ("5668fc6f84", "7ddcf4bc45"),
    "1.34.2": ("5668fc6f84", "7ddcf4bc45"),
    "1.35.4": ("57c444bd4f", "5f5ddd445c"),
    "1.36.3": ("78467947c8", "7989d49866"),
    "1.37.2": ("69c446fc54", "66985dd46d"),
}
EVERY_GROWN_TYPE = """
metadata: {labels: {app: web}}
spec:
  initContainers: [{name: i, image: busybox, restartPolicy: Always}]
  containers:
  - name: c
    image: nginx
    env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]
    ports: [{containerPort: 80}]
    volumeMounts: [{name: s, mountPath: /s}, {name: e, mountPath: /e}]
    readinessProbe: {httpGet: {path: /, port: 80}}
    livenessProbe: {grpc: {port: 90}}
    lifecycle: {preStop: {httpGet: {port: http}}}
    resources: {requests: {cpu: 100m, memory: 1Gi}}
  volumes:
  - {name: s, secret: {secretName: x}}
  - {name: e, emptyDir: {}}
  - {name: cm, configMap: {name: y, items: [{key: k, path: p}]}}
  - {name: d, downwardAPI: {items: [{path: l, fieldRef: {fieldPath: metadata.labels}}]}}
  - name: p
    projected:
      sources:
      - secret: {name: z}
      - serviceAccountToken: {path: t}
      - podCertificate: {signerName: a.b/c, keyType: ED25519, credentialBundlePath: x}
      - clusterTrustBundle: {name: n, path: q}
  nodeSelector: {a: b}
  tolerations: [{key: k, operator: Exists}]
  topologySpreadConstraints:
  - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}
"""


def make_template(memory: str) -> dict[str, Any]:
    main: dict[str, Any] = {"name": "main", "image": "nginx:1.27", "imagePullPolicy": "IfNotPresent"}
    main |= {"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}
    main |= {"resources": {"requests": {"memory": memory}}}
    spec = {"containers": [main], "restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "securityContext": {}}
    spec |= {"schedulerName": "default-scheduler", "terminationGracePeriodSeconds": 30}
    return {"metadata": {"labels": {"app": "web"}}, "spec": spec}


@pytest.mark.parametrize("quantity", HASHES)
def test_a_quantity_counts_in_the_name_as_go_keeps_it(quantity: str) -> None:
    assert hash_template(make_template(quantity), None) == HASHES[quantity]


@pytest.mark.parametrize("release", RELEASES)
def test_a_replica_sets_name_is_the_hash_of_the_releases_types(release: Release) -> None:
    templates = make_template("64Mi"), yaml.safe_load(EVERY_GROWN_TYPE)
    assert tuple(hash_template(template, None, release) for template in templates) == HASHES_OF_RELEASES[release]


def test_wrong_types_are_named_in_gos_words() -> None:
    body = {"spec": {"containers": [{"ports": [{"containerPort": "eighty"}]}]}}
    words = "string into Go struct field ContainerPort.spec.containers.ports.containerPort of type int32"
    with pytest.raises(DecodingError, match=words):
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
    [(0, "0s"), (119, "119s"), (120, "2m"), (125, "2m5s"), (605, "10m"), (12_000, "3h20m"), (-9, "<invalid>")],
)
def test_ages_are_written_as_kube_does(seconds: int, text: str) -> None:
    assert human_duration(seconds) == text


def ask_as(sim: Simulation, user: str, method: str, path: str, body: Any = None, **query: str) -> Any:
    """Body of the answer to an impersonated user; Failure where it is refused."""
    call = Call(method, path, {**query, **impersonate(user, [])})
    if method == "GET":
        return msgspec.json.decode(answer_read(sim, call).data)
    return answer_write(sim.api, call, read_body(sim, call, msgspec.json.encode(body), JSON), JSON, "me").body


RBAC = "/apis/rbac.authorization.k8s.io/v1/namespaces/default"
REVIEWS = "/apis/authorization.k8s.io/v1"


def test_an_impersonated_user_may_do_what_its_roles_allow() -> None:
    sim = Simulation()
    said = ask_as(sim, "alice", "GET", MAPS)["message"]
    wanted = 'User "alice" cannot list resource "configmaps" in API group "" in the namespace "default"'
    assert said == f"configmaps is forbidden: {wanted}"
    rule = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list"]}
    write(sim, "POST", f"{RBAC}/roles", {"metadata": {"name": "r"}, "rules": [rule]})
    binding = {"metadata": {"name": "b"}, "roleRef": {"kind": "Role", "name": "r"}}
    write(sim, "POST", f"{RBAC}/rolebindings", {**binding, "subjects": [{"kind": "User", "name": "alice"}]})
    assert ask_as(sim, "alice", "GET", MAPS)["kind"] == "ConfigMapList"
    with pytest.raises(Failure, match="cannot create resource"):
        ask_as(sim, "alice", "POST", MAPS, config_map())
    spec = {"resourceAttributes": {"verb": "list", "resource": "configmaps", "namespace": "default"}}
    status = ask_as(sim, "alice", "POST", f"{REVIEWS}/selfsubjectaccessreviews", {"spec": spec})["status"]
    assert status["reason"] == 'RBAC: allowed by RoleBinding "b/default" of Role "r" to User "alice"'
    patch = {"roleRef": {"name": "other"}}
    with pytest.raises(Failure, match="cannot change roleRef"):
        write(sim, "PATCH", f"{RBAC}/rolebindings/b", patch, "application/strategic-merge-patch+json")
    with pytest.raises(Failure, match="verbs must contain at least one value"):
        write(sim, "POST", f"{RBAC}/roles", {"metadata": {"name": "empty"}, "rules": [{}]})


def test_roles_of_every_cluster_bind_users() -> None:
    sim = Simulation()
    ref = {"kind": "ClusterRole", "name": "view"}
    binding = {"metadata": {"name": "b"}, "roleRef": ref, "subjects": [{"kind": "Group", "name": "devs"}]}
    write(sim, "POST", f"{RBAC}/rolebindings", binding)
    call = Call("GET", MAPS, impersonate("bob", ["devs"]))
    assert answer_read(sim, call).status == 200
    assert ask_as(sim, "bob", "GET", "/version")["gitVersion"].startswith("v1.")
    assert "cannot get path" in ask_as(sim, "bob", "GET", "/metrics")["message"]


PODS = "/api/v1/namespaces/default/pods"


def test_an_answer_warns_of_what_has_no_effect() -> None:
    spread = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
    env = [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]
    spec = {"containers": [{"name": "c", "image": "x", "env": env}], "topologySpreadConstraints": [spread]}
    spec["nodeSelector"] = {"beta.kubernetes.io/os": "linux"}
    call = Call("POST", PODS, {})
    reply = answer_write(Simulation().api, call, {"metadata": {"name": "a.b"}, "spec": spec}, JSON, "me")
    said = [value for name, value in reply.headers if name == "Warning"]
    for number, words in enumerate(
        ("a DNS label is recommended", "deprecated since v1.14", "a null labelSelector", "hides previous definition")
    ):
        assert words in said[number]


def test_ephemeral_containers_are_added_and_stay() -> None:
    sim = Simulation()
    write(sim, "POST", PODS, {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "x"}]}})
    added = {"spec": {"ephemeralContainers": [{"name": "d", "image": "x"}]}}
    path = f"{PODS}/p/ephemeralcontainers"
    write(sim, "PATCH", path, added, "application/strategic-merge-patch+json")
    assert read(sim, f"{PODS}/p")["spec"]["ephemeralContainers"][0]["name"] == "d"
    with pytest.raises(Failure, match="may not be removed"):
        write(sim, "PATCH", path, {"spec": {"ephemeralContainers": None}}, MERGE)


def test_events_of_the_world_are_selected_and_deleted() -> None:
    sim = Simulation()
    write(sim, "POST", PODS, {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "x"}]}})
    sim.run()
    events = "/apis/events.k8s.io/v1/namespaces/default/events"
    found = read(sim, events, fieldSelector="regarding.name=p")["items"]
    assert found and found[0]["regarding"]["name"] == "p"
    for each in found:
        write(sim, "DELETE", f"{events}/{each['metadata']['name']}")
    assert read(sim, "/api/v1/namespaces/default/events", fieldSelector="involvedObject.name=p")["items"] == []


def test_a_scheduler_counts_up_what_it_says_again_of_a_pod_that_did_not_change_and_keeps_the_first_message() -> None:
    def using(name: str, memory: str, **spec: Any) -> dict[str, Any]:
        manifest = pod(name, "500m", **spec)
        manifest["spec"]["containers"][0]["resources"]["requests"]["memory"] = memory
        return manifest

    large = using("large", "8Gi", nodeSelector={"kubernetes.io/hostname": "a"})
    large["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "2"
    sim = world(node("a", "1"), using("x", "0", nodeName="a"), using("y", "1Gi", nodeName="a"), large)
    sim.run()
    for name in "xy":
        sim.apply(DeleteObjects((Ref("Pod", "default", name),)))
        sim.run()
    events = read(sim, "/api/v1/namespaces/default/events", fieldSelector="involvedObject.name=large")["items"]
    refused = "0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory."
    assert [(each["message"].startswith(refused), each.get("series", {}).get("count")) for each in events] == [
        (True, None),
        (True, 2),
    ]
    assert "0/1 nodes are available: 1 Insufficient cpu. " in sim.store.events[-1].message


def test_a_definition_is_refused_without_types_and_not_served_under_a_name_that_is_taken(racks: Simulation) -> None:
    spec = dict(read(racks, f"{DEFINITIONS}/racks.lab.example.com")["spec"])
    other = {**spec, "names": {"plural": "shelves", "kind": "Rack"}}
    made = write(racks, "POST", DEFINITIONS, {"metadata": {"name": "shelves.lab.example.com"}, "spec": other})
    assert [each["reason"] for each in made["status"]["conditions"]] == ["ListKindConflict", "NotAccepted"]
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": {}}}}
    spec |= {"names": {"plural": "rows", "kind": "Row"}, "versions": [{**spec["versions"][0], "schema": schema}]}
    with pytest.raises(Failure, match="must not be empty for specified object fields"):
        write(racks, "POST", DEFINITIONS, {"metadata": {"name": "rows.lab.example.com"}, "spec": spec})


@pytest.mark.parametrize("types", [["integer", "string"], ["string", "integer"], ["integer"]])
def test_a_schema_gives_types_of_its_own_to_an_integer_or_a_string_alone(racks: Simulation, types: list[str]) -> None:
    spec = dict(read(racks, f"{DEFINITIONS}/racks.lab.example.com")["spec"])
    port = {"x-kubernetes-int-or-string": True, "anyOf": [{"type": each} for each in types]}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"port": port}}}
    spec |= {"names": {"plural": "rows", "kind": "Row"}, "versions": [{**spec["versions"][0], "schema": schema}]}
    asked = {"metadata": {"name": "rows.lab.example.com"}, "spec": spec}
    if types == ["integer", "string"]:
        assert write(racks, "POST", DEFINITIONS, asked)["spec"]["names"]["kind"] == "Row"
    else:
        with pytest.raises(Failure, match="must be empty to be structural"):
            write(racks, "POST", DEFINITIONS, asked)


def test_openapi_describes_what_is_served_and_no_more(racks: Simulation) -> None:
    for place in read(racks, "/openapi/v3")["paths"]:
        document = read(racks, f"/openapi/v3/{place}")
        schemas = document["components"]["schemas"]
        used = set(re.findall(r"#/components/schemas/([^\"]+)", msgspec.json.encode(document).decode()))
        assert used == set(schemas), place
        served = {each["name"]: each["verbs"] for each in read(racks, f"/{place}")["resources"]}
        ways = {"deletecollection": "delete", "create": "post", "get": "get", "list": "get", "update": "put"}
        for name, verbs in served.items():
            plural, _, sub = name.partition("/")
            about = [f"/{{name}}/{sub}"] if sub else ["", "/{name}"]
            paths = [path for path in document["paths"] for end in about if path.endswith(f"/{plural}{end}")]
            found = {method for path in paths for method in document["paths"][path]} - {"parameters"}
            assert found == {ways.get(verb, verb) for verb in verbs} - {"watch"}, (place, name)
    patch = document["paths"][RACKS.replace("default", "{namespace}") + "/{name}"]["patch"]
    assert patch["x-kubernetes-group-version-kind"]["kind"] == "Rack"
    assert "application/strategic-merge-patch+json" not in patch["requestBody"]["content"]
    assert "fieldValidation" in [each["name"] for each in patch["parameters"]]


def test_openapi_v2_says_the_same_in_json_and_in_protobuf(racks: Simulation) -> None:
    document = read(racks, "/openapi/v2")
    definitions = document["definitions"]
    assert set(re.findall(r"#/definitions/([^\"]+)", msgspec.json.encode(document).decode())) <= set(definitions)
    assert definitions["com.example.lab.v1.Rack"]["properties"]["spec"]["required"] == ["slots"]
    written = scan(answer_read(racks, Call("GET", "/openapi/v2", protobuf=True)).data)
    named = {pair[1][0].decode(): pair[2][0] for part in written[9] for pair in map(scan, scan(part)[1])}
    assert set(named) == set(definitions)
    rack = {each[1][0]: scan(each[2][0]) for each in map(scan, scan(scan(named["com.example.lab.v1.Rack"])[25][0])[1])}
    assert (rack[b"spec"][19], rack[b"kind"][4][0].decode()) == (
        [b"slots"],
        definitions["com.example.lab.v1.Rack"]["properties"]["kind"]["description"],
    )
    paths = {pair[1][0].decode() for part in written[8] for pair in map(scan, scan(part)[2])}
    assert paths == set(document["paths"])


def test_webhooks_are_kept_with_defaults_and_checked() -> None:
    sim, path = Simulation(), "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
    rule = {"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}
    hook = {"name": "a.b.example.com", "clientConfig": {"service": {"name": "s", "namespace": "n"}}, "rules": [rule]}
    hook |= {"sideEffects": "None", "admissionReviewVersions": ["v1"]}
    (kept,) = write(sim, "POST", path, {"metadata": {"name": "h"}, "webhooks": [hook]})["webhooks"]
    assert (kept["rules"][0]["scope"], kept["clientConfig"]["service"]["port"]) == ("*", 443)
    assert (kept["timeoutSeconds"], kept["reinvocationPolicy"], kept["objectSelector"]) == (10, "Never", {})
    (merged,) = write(
        sim, "PATCH", f"{path}/h", {"webhooks": [{"name": hook["name"], "failurePolicy": "Ignore"}]}, STRATEGIC
    )["webhooks"]
    assert merged == {**kept, "failurePolicy": "Ignore"}
    with pytest.raises(Failure) as told:
        write(sim, "POST", path, {"metadata": {"name": "w"}, "webhooks": [{"name": "a", "sideEffects": "Some"}]})
    assert told.value.reply.body["message"].endswith(
        'is invalid: [webhooks[0].name: Invalid value: "a": should be a domain with at least three segments separated by '
        'dots, webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun", '
        "webhooks[0].clientConfig: Required value: exactly one of url or service is required, "
        "webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1]"
    )


def test_a_job_that_is_replaced_gets_no_selector_again() -> None:
    """kube-apiserver v1.37.2 generates it for new Jobs alone, and answers so."""
    sim, path = Simulation(), "/apis/batch/v1/namespaces/default/jobs"
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "m", "image": "x:1"}]}}
    job = {"metadata": {"name": "j"}, "spec": {"template": template}}
    made = write(sim, "POST", path, job)
    with pytest.raises(Failure) as failure:
        write(sim, "PUT", f"{path}/j", job)
    errors = [each["field"] for each in failure.value.reply.body["details"]["causes"]]
    assert errors == ["spec.selector", "spec.template.metadata.labels", "spec.selector", "spec.template"]
    assert write(sim, "PUT", f"{path}/j", made)["spec"] == made["spec"]


def test_a_client_hands_fields_over_to_another_manager() -> None:
    sim = Simulation()
    write(sim, "POST", MAPS, config_map(a="1"), fieldManager="kubectl-client-side-apply")
    entry = read(sim, f"{MAPS}/c")["metadata"]["managedFields"][0]
    mine = {**entry, "manager": "kubectl", "operation": "Apply"}
    write(sim, "PATCH", f"{MAPS}/c", {"metadata": {"managedFields": [mine]}}, MERGE)
    assert [each["manager"] for each in read(sim, f"{MAPS}/c")["metadata"]["managedFields"]] == ["kubectl"]


def test_conflicts_with_several_managers_are_listed_manager_by_manager() -> None:
    sim = Simulation()
    for manager in ("one", "other"):
        write(sim, "PATCH", f"{MAPS}/c", {"kind": "ConfigMap", **config_map(a="1")}, APPLY, fieldManager=manager)
    with pytest.raises(Failure) as refused:
        write(sim, "PATCH", f"{MAPS}/c", {"kind": "ConfigMap", **config_map(a="2")}, APPLY, fieldManager="third")
    said = 'Apply failed with 2 conflicts: conflicts with "one":\n- .data.a\nconflicts with "other":\n- .data.a'
    assert refused.value.answer.message == said


def test_counts_in_a_status_have_to_fit_together() -> None:
    """The errors are those of a kube-apiserver v1.34.2."""
    sim, path = Simulation(), "/apis/apps/v1/namespaces/default/deployments"
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "m", "image": "x:1"}]}}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    write(sim, "POST", path, {"metadata": {"name": "d"}, "spec": spec})
    write(sim, "PATCH", f"{path}/d/status", {"status": {"replicas": 2, "readyReplicas": 2, "collisionCount": 1}}, MERGE)
    wrong = {"replicas": 1, "unavailableReplicas": -1, "availableReplicas": 3, "collisionCount": None}
    with pytest.raises(Failure) as refused:
        write(sim, "PATCH", f"{path}/d/status", {"status": wrong}, MERGE)
    assert refused.value.answer.message == (
        'Deployment.apps "d" is invalid: [status.unavailableReplicas: Invalid value: -1: must be greater than or equal to 0, '
        "status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas, "
        "status.availableReplicas: Invalid value: 3: cannot be greater than status.replicas, "
        "status.availableReplicas: Invalid value: 3: cannot be greater than readyReplicas, "
        "status.collisionCount: Invalid value: 0: cannot be decremented]"
    )


def test_the_options_of_a_log_go_to_the_kubelet_that_is_away() -> None:
    sim = world(node("a"))
    sim.apply(ApplyObjects([{**pod("p"), "spec": {**pod("p")["spec"], "nodeName": "a"}}]))
    said = read(sim, "/api/v1/namespaces/default/pods/p/log", tailLines="1", x="y")["message"]
    assert said == 'Get "https://a:10250/containerLogs/default/p/?tailLines=1": dial tcp: lookup a: no such host'
