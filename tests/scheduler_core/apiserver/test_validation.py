import copy

import pytest

from scheduler_core.apiserver.kinds import kind_of
from scheduler_core.apiserver.schema.reading import structure
from scheduler_core.apiserver.schema.strict import strict_errors
from scheduler_core.apiserver.validation.cluster import validate

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "default"},
    "spec": {"containers": [{"name": "c", "image": "nginx"}]},
}
NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}
DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "d"},
    "spec": {
        "selector": {"matchLabels": {"app": "d"}},
        "template": {"metadata": {"labels": {"app": "d"}}, "spec": POD["spec"]},
    },
}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def with_field(manifest, path, value):
    """A copy with the field at a dotted path set; numbers are indexes."""
    twin = copy.deepcopy(manifest)
    *steps, last = [int(step) if step.isdecimal() else step for step in path.split("/")]
    target = twin
    for step in steps:
        target = target.setdefault(step, {}) if isinstance(target, dict) else target[step]
    target[last] = value
    return twin


def errors(manifest):
    found = structure(manifest)
    kind = None if found else kind_of(manifest)
    found = found or strict_errors(manifest, kind) or validate(manifest, kind)
    return [str(error) for error in found]


def test_sound_objects_have_no_errors():
    assert errors(POD) == errors(NODE) == errors(DEPLOYMENT) == []


@pytest.mark.parametrize(
    ("manifest", "text"),
    [
        (3, "3 is a number, expected an object with apiVersion and kind"),
        ({}, "apiVersion: Required value"),
        ({"apiVersion": "v1", "kind": ["Pod"]}, 'kind: ["Pod"] is a list, expected a string'),
        ({"apiVersion": "v1", "kind": "Foo"}, 'no matches for kind "Foo" in version "v1"'),
        ({"apiVersion": "apps/v1", "kind": "Pod"}, 'no matches for kind "Pod" in version "apps/v1"'),
        ({"apiVersion": "v1", "kind": "Pod", "metadata": []}, None),
    ],
)
def test_what_is_no_known_object_is_refused(manifest, text):
    found = errors(manifest)
    assert found
    assert text is None or text in found


def test_a_custom_resource_of_a_group_of_its_own_is_accepted():
    assert errors({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "x"}, "spec": 3}) == []


TYPES = [
    ("metadata/labels", {"a": 5}, "metadata.labels[a]: 5 is a number, expected a string"),
    ("metadata/labels", ["a"], 'metadata.labels: ["a"] is a list, expected an object'),
    ("metadata/name", 7, "metadata.name: 7 is a number, expected a string"),
    ("metadata/creationTimestamp", "soon", 'metadata.creationTimestamp: "soon" is not a time'),
    ("spec", "x", 'spec: "x" is a string, expected an object'),
    ("spec/containers", {}, "spec.containers: {} is an object, expected a list"),
    ("spec/containers", [None], "spec.containers[0]: null is null, expected a value"),
    ("spec/priority", True, "spec.priority: true is a boolean, expected a whole number"),
    ("spec/priority", 2**40, "spec.priority: 1099511627776 does not fit into 32 bits"),
    ("spec/priority", 1.5, "spec.priority: 1.5 is a number, expected a whole number"),
    ("spec/hostNetwork", "yes", 'spec.hostNetwork: "yes" is a string, expected true or false'),
    ("spec/nodeSelector", {"a": None}, "spec.nodeSelector[a]: null is null, expected a value"),
    ("spec/tolerations", [[]], "spec.tolerations[0]: [] is a list, expected an object"),
    ("spec/affinity/nodeAffinity", 1, "spec.affinity.nodeAffinity: 1 is a number, expected an object"),
    (
        "spec/containers/0/resources",
        {"requests": {"cpu": "10x"}},
        'spec.containers[0].resources.requests[cpu]: "10x" is not a quantity. Write it as 500m or 2',
    ),
    ("status", {"conditions": {}}, "status.conditions: {} is an object, expected a list"),
]


@pytest.mark.parametrize(("path", "value", "text"), TYPES)
def test_a_wrong_type_is_named_at_its_field(path, value, text):
    assert errors(with_field(POD, path, value))[0].startswith(text)


RESOURCES = "spec/containers/0/resources"
PORTS = "spec/containers/0/ports"
SPREAD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
TERM = {"topologyKey": "zone", "labelSelector": {}}


def node_terms(*expressions):
    return {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": list(expressions)}]}}


RULES = [
    ("metadata/name", "", "metadata.name: Required value: name or generateName is required"),
    ("metadata/name", "My_Pod", 'metadata.name: Invalid value: "My_Pod": a lowercase RFC 1123 subdomain must'),
    ("metadata/namespace", "a.b", 'metadata.namespace: Invalid value: "a.b": must not contain dots'),
    ("metadata/labels", {"a b": "x"}, 'metadata.labels: Invalid value: "a b": name part must consist of'),
    ("metadata/labels", {"a": "x!"}, 'metadata.labels: Invalid value: "x!": a valid label must be'),
    (
        "metadata/labels",
        {"a": "x" * 64},
        f'metadata.labels: Invalid value: "{"x" * 64}": must be no more than 63 characters',
    ),
    ("spec/containers", [], "spec.containers: Required value"),
    ("spec/containers/0/name", "C", 'spec.containers[0].name: Invalid value: "C": a lowercase RFC 1123 label must'),
    ("spec/containers/0/image", "", "spec.containers[0].image: Required value"),
    ("spec/initContainers", [{"name": "c", "image": "i"}], 'spec.initContainers[0].name: Duplicate value: "c"'),
    (
        RESOURCES,
        {"requests": {"cpu": "-1"}},
        'spec.containers[0].resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0',
    ),
    (
        RESOURCES,
        {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}},
        'spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
    ),
    (
        RESOURCES,
        {"requests": {"a.com/g": "1"}, "limits": {"a.com/g": "2"}},
        'spec.containers[0].resources.requests: Invalid value: "1": must be equal to a.com/g limit of 2',
    ),
    (
        RESOURCES,
        {"requests": {"a.com/g": "1"}},
        "spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources",
    ),
    (
        RESOURCES,
        {"limits": {"a.com/g": "500m"}},
        'spec.containers[0].resources.limits[a.com/g]: Invalid value: "500m": must be an integer',
    ),
    (
        RESOURCES,
        {"requests": {"gpu": "1"}},
        'spec.containers[0].resources.requests[gpu]: Invalid value: "gpu": must be a standard resource type or',
    ),
    (PORTS, [{"containerPort": 70000}], "spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be"),
    (PORTS, [{"hostPort": 80}], "spec.containers[0].ports[0].containerPort: Required value"),
    (
        PORTS,
        [{"containerPort": 80, "protocol": "tcp"}],
        'spec.containers[0].ports[0].protocol: Unsupported value: "tcp": supported values: "SCTP", "TCP", "UDP"',
    ),
    (
        PORTS,
        [{"containerPort": 80, "hostPort": 80}, {"containerPort": 81, "hostPort": 80}],
        'spec.containers[0].ports[1].hostPort: Duplicate value: "TCP//80"',
    ),
    (
        "spec/restartPolicy",
        "Sometimes",
        'spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"',
    ),
    ("spec/nodeSelector", {"a": "?"}, 'spec.nodeSelector: Invalid value: "?": a valid label must be'),
    (
        "spec/affinity/nodeAffinity",
        {REQUIRED: {}},
        f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms: Required value: must have at least one node",
    ),
    (
        "spec/affinity/nodeAffinity",
        node_terms({"key": "a", "operator": "Near"}),
        f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].operator: "
        'Invalid value: "Near": not a valid selector operator',
    ),
    (
        "spec/affinity/nodeAffinity",
        node_terms({"key": "a", "operator": "In"}),
        f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].values: Required value: "
        "must be specified when `operator` is 'In' or 'NotIn'",
    ),
    (
        "spec/affinity/nodeAffinity",
        {PREFERRED: [{"weight": 101, "preference": {}}]},
        f"spec.affinity.nodeAffinity.{PREFERRED}[0].weight: Invalid value: 101: must be in the range 1-100",
    ),
    (
        "spec/affinity/podAffinity",
        {REQUIRED: [{"labelSelector": {}}]},
        f"spec.affinity.podAffinity.{REQUIRED}[0].topologyKey: Required value: can not be empty",
    ),
    (
        "spec/affinity/podAntiAffinity",
        {REQUIRED: [{"topologyKey": "zone", "matchLabelKeys": ["a"]}]},
        f"spec.affinity.podAntiAffinity.{REQUIRED}[0].matchLabelKeys: Forbidden: must not be specified when",
    ),
    (
        "spec/tolerations",
        [{"operator": "Like", "key": "a"}],
        'spec.tolerations[0].operator: Unsupported value: "Like": supported values: "Equal", "Exists"',
    ),
    (
        "spec/tolerations",
        [{"operator": "Equal"}],
        'spec.tolerations[0].operator: Invalid value: "Equal": operator must be Exists when `key` is empty',
    ),
    (
        "spec/tolerations",
        [{"key": "a", "operator": "Exists", "value": "v"}],
        "spec.tolerations[0].operator: Invalid value: \"v\": value must be empty when `operator` is 'Exists'",
    ),
    (
        "spec/tolerations",
        [{"key": "a", "tolerationSeconds": 3}],
        "spec.tolerations[0].effect: Invalid value: \"\": effect must be 'NoExecute' when `tolerationSeconds` is set",
    ),
    (
        "spec/topologySpreadConstraints",
        [{**SPREAD, "maxSkew": 0}],
        "spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero",
    ),
    (
        "spec/topologySpreadConstraints",
        [{**SPREAD, "whenUnsatisfiable": "Never"}],
        'spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "Never": supported values: '
        '"DoNotSchedule", "ScheduleAnyway"',
    ),
    (
        "spec/topologySpreadConstraints",
        [SPREAD, SPREAD],
        'spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate value: "{zone, DoNotSchedule}"',
    ),
    (
        "spec/topologySpreadConstraints",
        [{**SPREAD, "whenUnsatisfiable": "ScheduleAnyway", "minDomains": 2}],
        "spec.topologySpreadConstraints[0].minDomains: Invalid value: 2: can only use minDomains if "
        "whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway",
    ),
    ("spec/schedulingGates", [{"name": "a b"}], 'spec.schedulingGates[0]: Invalid value: "a b": name part must'),
    ("spec/schedulingGates", [{"name": "a"}, {"name": "a"}], 'spec.schedulingGates[1]: Duplicate value: "a"'),
    (
        "spec/resources",
        {"requests": {"memory": "1Mi", "a.com/g": "1"}, "limits": {"a.com/g": "1"}},
        'spec.resources.limits[a.com/g]: Unsupported value: "a.com/g"',
    ),
    (
        "spec/preemptionPolicy",
        "Always",
        'spec.preemptionPolicy: Unsupported value: "Always": supported values: "PreemptLowerPriority", "Never"',
    ),
    ("status", {"phase": "Lost"}, 'status.phase: Unsupported value: "Lost"'),
]


@pytest.mark.parametrize(("path", "value", "text"), RULES)
def test_a_broken_rule_is_named_in_kubes_words(path, value, text):
    assert errors(with_field(POD, path, value))[0].startswith(text)


def test_all_errors_of_an_object_are_told_at_once():
    broken = with_field(with_field(POD, "metadata/name", "A"), "spec/tolerations", [{}, {}])
    assert len(errors(broken)) == 3


def test_a_bound_pod_has_no_gates():
    broken = with_field(with_field(POD, "spec/nodeName", "n1"), "spec/schedulingGates", [{"name": "x"}])
    assert errors(broken) == ["spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared"]


def test_pod_level_requests_are_at_least_the_containers_sum():
    pod = with_field(POD, RESOURCES, {"requests": {"cpu": "2"}})
    assert errors(with_field(pod, "spec/resources", {"requests": {"cpu": "1"}})) == [
        'spec.resources.requests[cpu]: Invalid value: "1": '
        "must be greater than or equal to aggregate container requests of 2"
    ]


@pytest.mark.parametrize(
    ("taint", "text"),
    [
        ({"key": "a"}, "metadata.taints[0].effect: Required value"),
        (
            {"key": "a", "effect": "No"},
            'metadata.taints[0].effect: Unsupported value: "No": supported values: "NoSchedule", "PreferNoSchedule"',
        ),
        ({"effect": "NoSchedule"}, 'metadata.taints[0].key: Invalid value: "": name part must be non-empty'),
        ({"key": "a", "value": "?", "effect": "NoSchedule"}, 'metadata.taints[0].value: Invalid value: "?"'),
    ],
)
def test_a_bad_taint_is_named_at_its_field(taint, text):
    assert errors(with_field(NODE, "spec", {"taints": [taint]}))[0].startswith(text)


def test_two_taints_of_one_key_and_effect_are_refused():
    taint = {"key": "a", "effect": "NoSchedule"}
    (text,) = errors(with_field(NODE, "spec", {"taints": [taint, {**taint, "value": "v"}]}))
    assert text.endswith("taints must be unique by key and effect pair")


def test_a_node_has_no_negative_capacity_and_no_half_pods():
    status = {"allocatable": {"cpu": "-1", "pods": "1500m"}}
    assert errors(with_field(NODE, "status", status)) == [
        'status.allocatable[cpu]: Invalid value: "-1": must be greater than or equal to 0',
        'status.allocatable[pods]: Invalid value: "1500m": must be an integer',
    ]


def test_a_node_lives_in_no_namespace():
    assert errors(with_field(NODE, "metadata/namespace", "x")) == [
        "metadata.namespace: Forbidden: not allowed on this type"
    ]


def test_a_workloads_template_is_checked_at_its_own_path():
    broken = with_field(DEPLOYMENT, "spec/template/spec", {"containers": []})
    assert errors(broken) == ["spec.template.spec.containers: Required value"]


def test_a_workloads_selector_matches_its_template():
    (text,) = errors(with_field(DEPLOYMENT, "spec/selector", {"matchLabels": {"app": "x"}}))
    assert text.endswith("`selector` does not match template `labels`")


def test_a_priority_of_a_users_class_has_a_limit():
    manifest = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "x"}}
    assert errors({**manifest, "value": 1_000_000_001})[0].startswith("value: Forbidden: maximum allowed value")


def test_a_list_without_end_is_refused_before_it_is_looked_at():
    assert errors(with_field(POD, "spec/tolerations", [{}] * 2001)) == [
        "spec.tolerations: Too many: 2001: must have at most 2000 items"
    ]
