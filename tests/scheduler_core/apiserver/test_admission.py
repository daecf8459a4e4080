import pytest

from scheduler_core.apiserver.options import APIServerOptions
from scheduler_core.apiserver.server import APIServer, make_standing_objects
from scheduler_core.apiserver.status import Refused
from scheduler_core.apiserver.store import Store

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
SPREAD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}


def priority_class(name, value, **more):
    return {"metadata": {"name": name}, "value": value, **more}


def admit(manifest, *classes):
    api = APIServer(Store(), APIServerOptions(), 0)
    make_standing_objects(api)
    for each in classes:
        api.store.create({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", **each}, "PriorityClass", 0)
    try:
        return api.create(manifest, imported=True), []
    except Refused as refused:
        return None, [str(error) for error in refused.errors]


def pod(spec=None, container=None, **metadata):
    containers = [{"name": "c", "image": "nginx", **(container or {})}]
    meta = {"name": "p", **metadata}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"containers": containers, **(spec or {})}}


def admitted_spec(spec=None, container=None, **metadata):
    return admit(pod(spec, container, **metadata))[0]["spec"]


def test_a_pod_gets_the_defaults_that_the_scheduler_reads():
    manifest, errors = admit(pod())
    spec = manifest["spec"]
    assert errors == []
    assert manifest["metadata"]["namespace"] == "default"
    assert manifest["status"]["phase"] == "Pending"
    assert (spec["schedulerName"], spec["restartPolicy"]) == ("default-scheduler", "Always")
    assert (spec["priority"], spec["preemptionPolicy"]) == (0, "PreemptLowerPriority")
    assert spec["terminationGracePeriodSeconds"] == 30


def test_an_admitted_pod_passes_unchanged():
    once, _ = admit(pod({"hostNetwork": True}, {"ports": [{"containerPort": 80}]}))
    twice, _ = admit(once)
    assert twice == once


def test_unknown_fields_survive():
    manifest, _ = admit({**pod({"futureField": {"a": 1}}, {"future": [2]}, uid="u"), "other": "x"})
    assert manifest["spec"]["futureField"] == {"a": 1}
    assert manifest["spec"]["containers"][0]["future"] == [2]
    assert manifest["other"] == "x"


def test_the_given_manifest_is_not_changed():
    given = pod({"hostNetwork": True}, {"ports": [{"containerPort": 80}], "resources": {"limits": {"cpu": "1"}}})
    before = repr(given)
    admit(given)
    assert repr(given) == before


def test_requests_default_to_limits_where_they_are_absent():
    resources = {"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "1"}}
    assert admitted_spec(container={"resources": resources})["containers"][0]["resources"]["requests"] == {
        "cpu": "1",
        "memory": "1Gi",
    }


def test_ports_are_tcp_and_with_host_network_taken_on_the_host():
    spec = admitted_spec({"hostNetwork": True}, {"ports": [{"containerPort": 80}]})
    assert spec["containers"][0]["ports"] == [{"containerPort": 80, "protocol": "TCP", "hostPort": 80}]


def test_pod_level_requests_default_to_the_containers_sum_then_to_the_limits():
    container = {"resources": {"requests": {"cpu": "500m"}}}
    spec = admitted_spec({"resources": {"limits": {"cpu": "2", "memory": "1Gi"}}}, container)
    assert spec["resources"]["requests"] == {"cpu": "500m", "memory": "1Gi"}


def test_pods_outlast_short_outages_of_their_node():
    spec = admitted_spec({"tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists"}]})
    assert spec["tolerations"][1:] == [
        {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    ]


def test_a_pod_that_tolerates_everything_needs_no_more_tolerations():
    assert len(admitted_spec({"tolerations": [{"operator": "Exists"}]})["tolerations"]) == 1


def test_a_gated_pod_says_so_in_its_condition():
    manifest, _ = admit(pod({"schedulingGates": [{"name": "x"}]}))
    assert manifest["status"]["conditions"][0]["reason"] == "SchedulingGated"


def test_a_class_gives_its_priority_and_policy():
    manifest, _ = admit(pod({"priorityClassName": "high"}), priority_class("high", 7, preemptionPolicy="Never"))
    assert (manifest["spec"]["priority"], manifest["spec"]["preemptionPolicy"]) == (7, "Never")


def test_the_lowest_global_default_is_for_pods_without_a_class():
    classes = [priority_class(name, value, globalDefault=True) for name, value in (("b", 9), ("a", 4))]
    manifest, _ = admit(pod(), *classes)
    assert (manifest["spec"]["priorityClassName"], manifest["spec"]["priority"]) == ("a", 4)


@pytest.mark.parametrize(
    ("name", "value"), [("system-node-critical", 2_000_001_000), ("system-cluster-critical", 2_000_000_000)]
)
def test_the_system_classes_are_always_there(name, value):
    assert admitted_spec({"priorityClassName": name})["priority"] == value


def test_an_unknown_class_is_refused_in_kubes_words():
    _, errors = admit(pod({"priorityClassName": "none"}))
    assert errors == ['pods "p" is forbidden: no PriorityClass with name none was found']


def test_a_priority_without_a_known_class_is_kept():
    assert admitted_spec({"priorityClassName": "elsewhere", "priority": 5})["priority"] == 5


def test_a_priority_that_contradicts_its_class_is_refused():
    _, errors = admit(pod({"priorityClassName": "high", "priority": 8}), priority_class("high", 7))
    assert "priority admission controller computed 7 from the given PriorityClass name" in errors[0]


def test_match_label_keys_are_merged_into_the_selector_of_spread_constraints():
    selector = {"matchLabels": {"app": "x"}}
    constraint = {**SPREAD, "labelSelector": selector, "matchLabelKeys": ["v", "absent"]}
    spec = admitted_spec({"topologySpreadConstraints": [constraint]}, labels={"v": "1"})
    assert spec["topologySpreadConstraints"][0]["labelSelector"] == {
        "matchLabels": {"app": "x"},
        "matchExpressions": [{"key": "v", "operator": "In", "values": ["1"]}],
    }


def test_label_keys_of_affinity_become_in_and_not_in():
    term = {"labelSelector": {}, "matchLabelKeys": ["v"], "mismatchLabelKeys": ["t"], "topologyKey": "zone"}
    preferred = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": term}]}
    affinity = {"podAffinity": {REQUIRED: [term]}, "podAntiAffinity": preferred}
    spec = admitted_spec({"affinity": affinity}, labels={"v": "1", "t": "2"})
    expected = [{"key": "v", "operator": "In", "values": ["1"]}, {"key": "t", "operator": "NotIn", "values": ["2"]}]
    required = spec["affinity"]["podAffinity"][REQUIRED][0]
    weighted = spec["affinity"]["podAntiAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"][0]
    assert required["labelSelector"]["matchExpressions"] == expected
    assert weighted["podAffinityTerm"]["labelSelector"]["matchExpressions"] == expected


def test_merged_label_keys_are_not_merged_again():
    constraint = {**SPREAD, "labelSelector": {}, "matchLabelKeys": ["v"]}
    once, _ = admit(pod({"topologySpreadConstraints": [constraint]}, labels={"v": "1"}))
    twice, _ = admit(once)
    assert twice["spec"] == once["spec"]


def test_a_nodes_allocatable_defaults_to_its_capacity():
    manifest, _ = admit(
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"capacity": {"cpu": "4"}}}
    )
    assert manifest["status"]["allocatable"] == {"cpu": "4"}


def test_a_namespace_is_labelled_with_its_name():
    manifest, _ = admit({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}})
    assert manifest["metadata"]["labels"] == {"kubernetes.io/metadata.name": "team"}
