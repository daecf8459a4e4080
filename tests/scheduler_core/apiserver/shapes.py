"""Sound objects, and values to put in the place of any part of them."""

import copy

from hypothesis import strategies as st

TERM = {
    "topologyKey": "zone",
    "labelSelector": {"matchLabels": {"a": "b"}, "matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]},
    "namespaceSelector": {},
    "namespaces": ["x"],
    "matchLabelKeys": ["v"],
    "mismatchLabelKeys": ["w"],
}
NODE_TERM = {
    "matchExpressions": [{"key": "cores", "operator": "Gt", "values": ["4"]}],
    "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}],
}
HARD, SOFT = (f"{kind}DuringSchedulingIgnoredDuringExecution" for kind in ("required", "preferred"))
CONTAINER = {
    "name": "c",
    "image": "nginx",
    "ports": [{"containerPort": 80, "hostPort": 80, "protocol": "TCP", "hostIP": "", "name": "http"}],
    "resources": {"requests": {"cpu": "1", "a.com/g": 1}, "limits": {"a.com/g": 1, "hugepages-2Mi": "2Mi"}},
}
SPEC = {
    "containers": [CONTAINER],
    "initContainers": [{**CONTAINER, "name": "i", "restartPolicy": "Always"}],
    "affinity": {
        "nodeAffinity": {HARD: {"nodeSelectorTerms": [NODE_TERM]}, SOFT: [{"weight": 1, "preference": NODE_TERM}]},
        "podAffinity": {HARD: [TERM], SOFT: [{"weight": 1, "podAffinityTerm": TERM}]},
        "podAntiAffinity": {HARD: [TERM]},
    },
    "hostNetwork": True,
    "nodeName": "n1",
    "nodeSelector": {"a": "b"},
    "overhead": {"cpu": "1m"},
    "preemptionPolicy": "Never",
    "priority": 3,
    "resources": {"requests": {"cpu": "4"}, "limits": {"cpu": "8"}},
    "tolerations": [{"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 3}],
    "topologySpreadConstraints": [
        {**TERM, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", "minDomains": 1, "nodeTaintsPolicy": "Honor"}
    ],
    "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "x"}}],
    "terminationGracePeriodSeconds": 1,
}
RUNNING = {"name": "c", "resources": {"requests": {"cpu": "1"}}, "allocatedResources": {"cpu": "1"}}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "p",
        "namespace": "default",
        "labels": {"v": "1", "w": "2"},
        "annotations": {"a/b": "c"},
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "ownerReferences": [{"kind": "Job", "name": "j", "uid": "u"}],
    },
    "spec": SPEC,
    "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}], "containerStatuses": [RUNNING]},
}
NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1", "labels": {"zone": "a"}},
    "spec": {"taints": [{"key": "a", "value": "b", "effect": "NoSchedule"}], "unschedulable": False},
    "status": {
        "capacity": {"cpu": "4", "pods": 10},
        "images": [{"names": ["a"], "sizeBytes": 5}],
        "conditions": [{"type": "Ready", "status": "True"}],
    },
}
DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "d"},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"v": "1"}},
        "template": {"metadata": {"labels": {"v": "1"}}, "spec": {"containers": [CONTAINER]}},
    },
}
CLASS = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "x"}, "value": 4}


def places(value, path=()):
    """Paths of all parts of a value."""
    yield path
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in members:
        yield from places(inner, (*path, name))


def replaced(manifest, path, value):
    twin = copy.deepcopy(manifest)
    if not path:
        return value
    target = twin
    for step in path[:-1]:
        target = target[step]
    target[path[-1]] = value
    return twin


SCALARS = [None, True, False, 0, -1, 10**30, 1.5, "", "x", "é", "-1", "1e999", " ", "\n"]
LISTS = [[], [None], ["x"], [[]], [{}]]
OBJECTS = [{}, {"": ""}, {"a": None}, {"key": 1}, {"name": {}}, {"cpu": "-5"}, {"cpu": None}, {"x/y/z": "1"}]
ANYTHING = st.sampled_from([*SCALARS, *LISTS, *OBJECTS])
