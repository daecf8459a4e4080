"""Objects and changes of them for the comparison of API servers: (path, values that may be there), by kind."""

from __future__ import annotations

from typing import Any

from tests.oracle import devices

# Gates that the API server asks for and that a world can set.
GATES = (
    *devices.GATES,
    *("NodeDeclaredFeatures", "TaintTolerationComparisonOperators", "VolumeLimitScaling"),
    "InPlacePodLevelResourcesVerticalScaling",
)

_LONG = "a" * 64
_QUANTITY = {"requests": {"cpu": "1"}}


def object_of(version: str, kind: str, spec: Any = None, **rest: Any) -> dict[str, Any]:
    """Return an object of a kind, with its spec and other fields."""
    meta = {"name": "x"} if kind in _CLUSTER_WIDE else {"name": "x", "namespace": "default"}
    return {"apiVersion": version, "kind": kind, "metadata": meta, **({} if spec is None else {"spec": spec}), **rest}


_CLUSTER_WIDE = {
    *(
        "Node",
        "PersistentVolume",
        "DeviceClass",
        "DeviceTaintRule",
        "ResourceSlice",
        "PriorityClass",
        "CSIDriver",
        "CSINode",
    ),
    "StorageClass",
}
TEMPLATE = {
    "metadata": {"labels": {"a": "b"}},
    "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]},
}
_POD = {
    "containers": [{"name": "c", "image": "i", "volumeMounts": [{"name": "e", "mountPath": "/e"}]}],
    "initContainers": [{"name": "i", "image": "i"}],
    "volumes": [{"name": "e", "emptyDir": {}}],
}
_DEVICE = {"name": "d", "attributes": {"a": {"string": "s"}}, "capacity": {"m": {"value": "1Gi"}}}
_POOL = {"name": "p", "generation": 1, "resourceSliceCount": 1}
_REQUEST = {"name": "r", "exactly": {"deviceClassName": "gpu"}}

BASES: dict[str, dict[str, Any]] = {
    "Pod": object_of("v1", "Pod", _POD),
    "Node": object_of("v1", "Node", {}, status={"allocatable": {"cpu": "1"}, "capacity": {"cpu": "1"}}),
    "Deployment": object_of(
        "apps/v1",
        "Deployment",
        {
            "selector": {"matchLabels": {"a": "b"}},
            "template": {**TEMPLATE, "spec": {"containers": [{"name": "c", "image": "i"}]}},
        },
    ),
    "StatefulSet": object_of(
        "apps/v1",
        "StatefulSet",
        {
            "serviceName": "s",
            "selector": {"matchLabels": {"a": "b"}},
            "template": {**TEMPLATE, "spec": {"containers": [{"name": "c", "image": "i"}]}},
        },
    ),
    "Job": object_of("batch/v1", "Job", {"template": {"spec": TEMPLATE["spec"]}}),
    "CSIDriver": object_of("storage.k8s.io/v1", "CSIDriver", {}),
    "CSINode": object_of("storage.k8s.io/v1", "CSINode", {"drivers": [{"name": "d", "nodeID": "n"}]}),
    "StorageClass": object_of("storage.k8s.io/v1", "StorageClass", provisioner="d"),
    "PodDisruptionBudget": object_of("policy/v1", "PodDisruptionBudget", {"minAvailable": 1, "selector": {}}),
    "PriorityClass": object_of("scheduling.k8s.io/v1", "PriorityClass", value=1),
    "PersistentVolumeClaim": object_of(
        "v1", "PersistentVolumeClaim", {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    ),
    "PersistentVolume": object_of(
        "v1",
        "PersistentVolume",
        {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/x"}},
    ),
    "ResourceClaim": object_of("resource.k8s.io/v1", "ResourceClaim", {"devices": {"requests": [_REQUEST]}}),
    "ResourceClaimTemplate": object_of(
        "resource.k8s.io/v1", "ResourceClaimTemplate", {"spec": {"devices": {"requests": [_REQUEST]}}}
    ),
    "DeviceClass": object_of("resource.k8s.io/v1", "DeviceClass", {"selectors": [{"cel": {"expression": "true"}}]}),
    "ResourceSlice": object_of(
        "resource.k8s.io/v1", "ResourceSlice", {"driver": "d", "nodeName": "n", "pool": _POOL, "devices": [_DEVICE]}
    ),
    "DeviceTaintRule": object_of(
        "resource.k8s.io/v1alpha3",
        "DeviceTaintRule",
        {"deviceSelector": {"driver": "d"}, "taint": {"key": "k", "value": "v", "effect": "NoSchedule"}},
    ),
    "PodGroup": object_of("scheduling.k8s.io/v1beta1", "PodGroup", {"schedulingPolicy": {"gang": {"minCount": 2}}}),
}

_RULE = {"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}}
_ALL = {"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [1]}}
_TOLERATIONS = [
    [{"key": "k", "operator": operator, "value": value}]
    for operator in ("Gt", "Lt", "Ge", "Equal")
    for value in ("1", "01", "x", "", "99999999999999999999")
]
_HTTP = {"path": "/", "port": 80}
_POD_SPEC: list[tuple[str, list[Any]]] = [
    ("tolerations", _TOLERATIONS),
    ("hostNetwork", [True]),
    ("hostUsers", [True, False]),
    ("hostPID", [True]),
    ("shareProcessNamespace", [True]),
    ("hostnameOverride", ["h", "H_", _LONG]),
    ("workloadRef", [{"name": "w", "podGroup": "g"}, {"name": "W_", "podGroup": "g"}]),
    ("schedulingGroup", [{"podGroupName": "g"}, {"podGroupName": "G_"}, {}]),
    ("evictionResponders", [[{"name": "example.com/a", "priority": 1}], [{"name": ""}]]),
    (
        "resources",
        [{"requests": {"cpu": "1"}}, {"limits": {"cpu": "1", "memory": "1Gi"}}, {"limits": {"hugepages-2Mi": "2Mi"}}],
    ),
    ("terminationGracePeriodSeconds", [-1, 0, 5]),
    ("restartPolicy", ["Always", "Never", "OnFailure"]),
    ("serviceAccount", ["s"]),
    ("os", [{"name": "windows"}, {"name": "linux"}]),
    ("priority", [5]),
    ("dnsConfig", [{"searches": ["a_b.c", ".", "x.", "-"]}]),
    ("resourceClaims", [[{"name": "c", "resourceClaimName": "c"}], [{"name": "c"}]]),
    (
        "topologySpreadConstraints",
        [[{"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule", "matchLabelKeys": ["a"]}]],
    ),
    (
        "securityContext",
        [{"supplementalGroupsPolicy": "Strict"}, {"seLinuxChangePolicy": "Recursive"}, {"runAsUser": -1}],
    ),
    ("containers.0.restartPolicy", ["Always", "Never", "Sometimes"]),
    ("containers.0.restartPolicyRules", [[_RULE], [_ALL], [{"action": "Go"}], [_RULE] * 21]),
    ("containers.0.resources", [{"requests": {"cpu": "100m"}, "limits": {"cpu": "200m"}}, {"claims": [{"name": "c"}]}]),
    ("containers.0.resizePolicy", [[{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]]),
    (
        "containers.0.lifecycle",
        [{"stopSignal": "SIGUSR1"}, {"preStop": {"sleep": {"seconds": 0}}}, {"preStop": {"sleep": {"seconds": 99}}}],
    ),
    (
        "containers.0.env",
        [[{"name": "A", "valueFrom": {"fileKeyRef": {"volumeName": "e", "path": "p", "key": "k"}}}], [{"name": "A=B"}]],
    ),
    (
        "containers.0.readinessProbe",
        [{"httpGet": {**_HTTP, "protocol": "HTTP2"}}, {"grpc": {"port": 80, "mode": "TLS"}}, {"httpGet": _HTTP}],
    ),
    ("containers.0.volumeMounts.0.bindMountOptions", [["noexec"], ["x"]]),
    ("containers.0.volumeMounts.0.recursiveReadOnly", ["Enabled", "Maybe"]),
    (
        "containers.0.securityContext",
        [{"allowPrivilegeEscalation": False, "capabilities": {"add": ["CAP_SYS_ADMIN"]}}, {"procMount": "Unmasked"}],
    ),
    ("containers.0.ports", [[{"containerPort": 80, "hostPort": 81}], [{"containerPort": 80}]]),
    ("initContainers.0.restartPolicy", ["Always", "OnFailure"]),
    ("initContainers.0.restartPolicyRules", [[_RULE], [_ALL]]),
    ("initContainers.0.resizePolicy", [[{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]]),
    ("volumes.0.emptyDir", [{"mode": 511}, {"mode": 4096}, {"sizeLimit": "1Gi"}]),
    (
        "volumes.0",
        [
            {"name": "e", "image": {"reference": "r"}},
            {"name": "e", "image": {}},
            {"name": "e", "configMap": {"name": "c", "defaultUser": 5}},
        ],
    ),
    (
        "volumes",
        [
            [{"name": "e", "projected": {"sources": [{"serviceAccountToken": {"path": "p", "user": 5}}]}}],
            [
                {
                    "name": "e",
                    "projected": {
                        "sources": [{"podCertificate": {"signerName": "a/b", "keyType": "RSA3072", "keyPath": "k"}}]
                    },
                }
            ],
            [{"name": "e", "projected": {"sources": [{"clusterTrustBundle": {"name": "n", "path": "p"}}]}}],
        ],
    ),
]
_STATUS = "status.nodeInfo.runningInUserNamespace"
_REQUESTS: list[tuple[str, list[Any]]] = [
    ("requests.0.exactly.capacity", [{"requests": {"m": "1Gi"}}, {"requests": {"M_": "1Gi"}}]),
    ("requests.0.exactly.adminAccess", [False]),
    ("requests.0.exactly.count", [0, 2, -1, 33]),
    ("requests.0.exactly.allocationMode", ["All", "ExactCount", "Some"]),
    ("requests.0.exactly.deviceClassName", ["", "GPU_"]),
    (
        "requests.0.exactly.tolerations",
        [
            [{"key": "k", "operator": "Exists", "effect": effect}]
            for effect in ("NoSchedule", "NoExecute", "None", "Never")
        ]
        + [[{"operator": "Maybe"}], [{"key": "K_/", "operator": "Exists"}]],
    ),
    (
        "requests.0.exactly.selectors",
        [
            [{"cel": {"expression": text}}]
            for text in ("true", "1", "device.driver == 'd'", "device.allowMultipleAllocations")
        ]
        + [[{}]],
    ),
    ("requests.0.exactly.derivedAttributes", [[{"name": "d.io/a", "expression": "'x'"}]]),
    (
        "requests",
        [
            [],
            [_REQUEST, _REQUEST],
            [{"name": "r"}],
            [{**_REQUEST, "name": ""}],
            [{"name": "r", "firstAvailable": [{"name": "s", "deviceClassName": "c"}] * 2}],
        ],
    ),
    ("requests.0.firstAvailable", [[{"name": "s", "deviceClassName": "c"}]]),
    ("requests", [[{"name": f"r{i}", "exactly": {"deviceClassName": "c"}} for i in range(33)]]),
    (
        "constraints",
        [
            [{"matchAttribute": "d.io/a"}],
            [{"matchAttribute": "a"}],
            [{"distinctAttribute": "d.io/a", "requests": ["r"]}],
            [{"requests": ["z"], "matchAttribute": ""}],
            [{}],
        ],
    ),
    (
        "config",
        [[{"opaque": {"driver": "d", "parameters": {"a": 1}}}], [{"opaque": {"driver": "D_", "parameters": {}}}], [{}]],
    ),
]
CHANGES: dict[str, list[tuple[str, list[Any]]]] = {
    "Pod": [(f"spec.{path}", values) for path, values in _POD_SPEC],
    "Deployment": [(f"spec.template.spec.{path}", values) for path, values in _POD_SPEC if path.count(".") < 1],
    "StatefulSet": [
        (
            "spec.updateStrategy",
            [
                {"type": "Recreate"},
                {"type": "Now"},
                {"rollingUpdate": {"maxUnavailable": 2}},
                {"rollingUpdate": {"maxUnavailable": "0%"}},
            ],
        ),
        ("spec.serviceName", ["", "S_"]),
        ("spec.selector", [None]),
        ("spec.template.spec.tolerations", _TOLERATIONS),
    ],
    "Job": [
        ("spec.scheduling", [{"schedulingPolicy": {"gang": {"minCount": 2}}}, {"schedulingPolicy": {}}]),
        ("spec.podReplacementPolicy", ["Failed", "Never"]),
        ("spec.managedBy", ["example.com/x", "x"]),
        ("spec.completionMode", ["Indexed", "Other"]),
        ("spec.completions", [1, -1]),
        ("spec.template.spec.tolerations", _TOLERATIONS),
        ("spec.template.spec.restartPolicy", ["Always"]),
    ],
    "Node": [
        ("status.declaredFeatures", [["A", "B"], ["B", "A"], ["A", "A"], ["a"], ["A/b"], ["A" * 254]]),
        ("spec.podPreemptionPolicy", [{"disableResizePreemption": ["x"]}, {}]),
        (_STATUS, [True]),
        (
            "spec.taints",
            [[{"key": "k", "effect": "NoSchedule"}], [{"key": "k", "effect": "No"}], [{"effect": "NoSchedule"}]],
        ),
        ("spec.providerID", ["p"]),
        ("status.nodeInfo.swap", [{"capacity": 1}, {"capacity": -1}]),
        ("status.features", [{"supplementalGroupsPolicy": True}]),
    ],
    "CSIDriver": [
        ("spec.preventPodSchedulingIfMissing", [True, False]),
        ("spec.serviceAccountTokenInSecrets", [True, False]),
        ("spec.tokenRequests", [[{"audience": "a"}], [{"audience": "a"}, {"audience": "a"}]]),
        ("spec.nodeAllocatableUpdatePeriodSeconds", [5, 10]),
        ("spec.volumeLifecycleModes", [["Ephemeral"], ["Never"]]),
        ("metadata.name", ["d_", "D.io", "a" * 64, "a" * 63]),
    ],
    "CSINode": [
        ("spec.drivers.0.nodeID", ["", "n" * 200, "n" * 257]),
        ("spec.drivers.0.name", ["", "D_", "a" * 64]),
        ("spec.drivers.0.allocatable", [{"count": -1}, {"count": 1}]),
        ("spec.drivers", [[{"name": "d", "nodeID": "n"}] * 2]),
        ("status", [{"storageHealth": [{"name": "d"}]}]),
    ],
    "StorageClass": [
        ("provisioner", ["", "P_/x", "a/b"]),
        ("reclaimPolicy", ["Retain", "Recycle", "Keep"]),
        ("volumeBindingMode", ["WaitForFirstConsumer", "Later"]),
        ("parameters", [{"a": "b"}, {"": "b"}]),
        ("allowedTopologies", [[{"matchLabelExpressions": [{"key": "k", "values": ["a", "a"]}]}], [{}]]),
    ],
    "PodDisruptionBudget": [
        ("spec.unhealthyPodEvictionPolicy", ["AlwaysAllow", "Sometimes"]),
        ("spec.maxUnavailable", [1, "-1%"]),
        ("spec.minAvailable", ["50%", -1]),
        ("spec.selector", [None, {"matchLabels": {"a": "b_/"}}]),
    ],
    "PriorityClass": [
        ("value", [2000000001, -5, 0]),
        ("preemptionPolicy", ["Never", "Always"]),
        ("metadata.name", ["system-x", "A_"]),
    ],
    "PersistentVolumeClaim": [
        ("spec.volumeAttributesClassName", ["v", "V_"]),
        (
            "spec.dataSourceRef",
            [{"kind": "K", "name": "n", "apiGroup": "g"}, {"kind": "K", "name": "n", "namespace": "o"}],
        ),
        ("spec.volumeMode", ["Block", "Raw"]),
        ("spec.accessModes", [[], ["ReadWriteOncePod"], ["ReadWriteOncePod", "ReadWriteOnce"], ["X"]]),
        ("spec.storageClassName", ["s", "S_"]),
        ("spec.resources", [{}, {"requests": {"storage": "0"}}]),
    ],
    "PersistentVolume": [
        ("spec.volumeAttributesClassName", ["v", "V_", ""]),
        ("spec.persistentVolumeReclaimPolicy", ["Retain", "Keep"]),
        ("spec.nodeAffinity", [{}, {"required": {"nodeSelectorTerms": []}}]),
        ("spec.csi", [{"driver": "d", "volumeHandle": "v"}]),
        ("spec.accessModes", [[], ["ReadWriteOncePod"]]),
    ],
    "ResourceClaim": [(f"spec.devices.{path}", values) for path, values in _REQUESTS],
    "ResourceClaimTemplate": [(f"spec.spec.devices.{path}", values) for path, values in _REQUESTS],
    "DeviceClass": [
        ("spec.extendedResourceName", ["example.com/gpu", "cpu", "x"]),
        ("spec.managementMode", ["x"]),
        ("spec.selectors", [[{"cel": {"expression": ""}}], [{}], [{"cel": {"expression": "true"}}] * 33]),
        ("spec.config", [[{"opaque": {"driver": "", "parameters": {}}}], [{}]]),
        ("metadata.name", ["A_"]),
    ],
    "ResourceSlice": [
        (
            "spec.devices.0.taints",
            [[{"key": "k", "effect": effect}] for effect in ("NoSchedule", "None", "", "Never")]
            + [[{"key": "k", "effect": "NoSchedule"}] * 17],
        ),
        (
            "spec.sharedCounters",
            [
                [{"name": "s", "counters": {"m": {"value": "1Gi"}}}],
                [{"name": "s"}],
                [{"name": "", "counters": {"M_": {"value": "1"}}}],
            ],
        ),
        ("spec.devices", [None]),
        (
            "spec.devices.0.consumesCounters",
            [
                [{"counterSet": "s", "counters": {"m": {"value": "1Gi"}}}],
                [{"counterSet": "z"}],
                [{"counterSet": "", "counters": {}}],
                [{"counterSet": "s", "counters": {"m": {"value": "1"}}}] * 2,
            ],
        ),
        ("spec.devices.0.allowMultipleAllocations", [True, False]),
        (
            "spec.devices.0.capacity",
            [
                {"m": {"value": "4Gi", "requestPolicy": policy}}
                for policy in (
                    {"default": "1Gi", "validValues": ["1Gi"]},
                    {"default": "1Gi", "validRange": {"min": "2Gi"}},
                    {"default": "1Gi", "validRange": {"min": "1Gi", "step": "0"}},
                    {"default": "1500m", "validRange": {"min": "500m", "step": "500m"}},
                    {"validValues": ["1Gi", "1Gi"], "default": "1Gi"},
                )
            ],
        ),
        ("spec.devices.0.bindingConditions", [["a"], ["a/b/c"]]),
        ("spec.devices.0.bindingFailureConditions", [["f"]]),
        ("spec.devices.0.bindsToNode", [True]),
        (
            "spec.devices.0.attributes",
            [
                {"a": {}},
                {"a": {"int": 1, "bool": True}},
                {"a": {"ints": [1, 2]}},
                {"a": {"strings": ["x"]}},
                {"A_": {"bool": True}},
                {"/a": {"bool": True}},
                {"a": {"version": "x"}},
            ],
        ),
        ("spec.devices.0.nodeAllocatableResources", [{"cpu": {"mapping": {"deviceMultiplier": "1"}}}]),
        ("spec.devices.0.nodeAllocatableResourceMappings", [{"cpu": {}}]),
        ("spec.perDeviceNodeSelection", [True]),
        ("spec.devices.0.nodeName", ["n"]),
        ("spec.nodeName", [None, "N_"]),
        ("spec.partitionTypeAttribute", ["d/t"]),
        ("spec.skipNodeOperations", [["NodePrepareResources"]]),
        ("spec.driver", ["D.io", "d_", ""]),
        ("spec.pool", [{**_POOL, "name": ""}, {**_POOL, "name": "a//b"}, {**_POOL, "resourceSliceCount": 0}]),
        ("spec.devices", [[{"name": f"d{i}"} for i in range(129)], [{"name": "d"}, {"name": "d"}], [{"name": "D_"}]]),
    ],
    "DeviceTaintRule": [
        ("apiVersion", ["resource.k8s.io/v1beta2", "resource.k8s.io/v1"]),
        ("spec.taint.effect", ["None", "", "Never", "NoExecute"]),
        (
            "spec.deviceSelector",
            [
                {"deviceClassName": "c"},
                {"selectors": [{"cel": {"expression": "true"}}]},
                {"pool": "p", "device": "d"},
                {"driver": "D_"},
                {},
            ],
        ),
        ("spec.taint.key", ["", "K_/"]),
        ("spec.taint.timeAdded", ["2026-01-01T00:00:00Z"]),
    ],
    "PodGroup": [
        (
            "spec.schedulingPolicy",
            [{}, {"basic": {}}, {"basic": {}, "gang": {"minCount": 1}}, {"gang": {}}, {"gang": {"minCount": 0}}],
        ),
        ("spec.disruptionMode", [{"all": {}}, {"single": {}}, {}, {"all": {}, "single": {}}]),
        ("spec.schedulingConstraints", [{"topology": [{"key": "z"}]}, {"topology": [{"key": "Z_/"}]}]),
        ("spec.priority", [5, 2000000000]),
        ("spec.priorityClassName", ["c", "C_"]),
        ("spec.preemptionPolicy", ["Never", "X"]),
        ("spec.workloadRef", [{"workloadName": "w", "templateName": "t"}]),
        ("spec.resourceClaims", [[{"name": "c", "resourceClaimName": "r"}]]),
        ("metadata.name", ["A_", "a.b"]),
    ],
}
