"""Updates of objects for the comparison of API servers: an old object, what it is changed to, and through which subresource.

    python -m tests.oracle.updates ADMIT RELEASE FIRST LAST [FILE]

compares them as `tests.oracle.admissions` compares new objects.
"""

from __future__ import annotations

import copy
import random
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from scheduler_core.apiserver.kinds import key_of
from scheduler_core.apiserver.status import Refused
from tests.oracle import admissions
from tests.oracle.requests import BASES, CHANGES, TEMPLATE, object_of

Manifest = dict[str, Any]
_Changes = list[tuple[str, list[Any]]]

_LABELS = {"matchLabels": {"a": "b"}}
_RUNNING: Manifest = {"name": "c", "image": "i", "imageID": "", "ready": True, "restartCount": 0}
_DONE = {**_RUNNING, "state": {"terminated": {"exitCode": 1}}}
_MORE_BASES: dict[str, Manifest] = {
    "Service": object_of(
        "v1",
        "Service",
        {"clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1"], "ports": [{"port": 80}], "selector": {"a": "b"}},
    ),
    "ReplicaSet": object_of("apps/v1", "ReplicaSet", {"selector": _LABELS, "template": TEMPLATE}),
    "DaemonSet": object_of("apps/v1", "DaemonSet", {"selector": _LABELS, "template": TEMPLATE}),
    "CronJob": object_of(
        "batch/v1", "CronJob", {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": TEMPLATE}}}
    ),
    "ResourceQuota": object_of("v1", "ResourceQuota", {"hard": {"pods": "1"}}),
    "CSIStorageCapacity": object_of("storage.k8s.io/v1", "CSIStorageCapacity", storageClassName="s", capacity="1Gi"),
    "VolumeAttributesClass": {
        **object_of("storage.k8s.io/v1", "VolumeAttributesClass", driverName="d", parameters={"a": "b"}),
        "metadata": {"name": "x"},
    },
}
for _each in ("ReplicaSet", "DaemonSet"):
    _MORE_BASES[_each]["spec"]["template"] = {**TEMPLATE, "spec": {"containers": [{"name": "c", "image": "i"}]}}

_SIZES = [
    {"requests": {"cpu": "100m"}},
    {"requests": {"cpu": "200m"}},
    {"requests": {"cpu": "100m", "memory": "1Gi"}},
    {"requests": {"cpu": "100m"}, "limits": {"cpu": "200m"}},
    {"requests": {"cpu": "200m"}, "limits": {"cpu": "300m"}},
    {"requests": {"cpu": "100m", "example.com/x": "1"}, "limits": {"example.com/x": "1"}},
    {},
]
_RESIZES = [[{"resourceName": "cpu", "restartPolicy": policy}] for policy in ("RestartContainer", "NotRequired")]
_POD_CHANGES: _Changes = [
    ("spec.containers.0.resources", _SIZES),
    ("spec.containers.0.resources", _SIZES),
    ("spec.initContainers.0.resources", _SIZES),
    ("spec.initContainers.0.restartPolicy", ["Always", None]),
    ("spec.initContainers.0.resizePolicy", _RESIZES),
    ("spec.containers.0.resizePolicy", _RESIZES),
    ("spec.resources", [*_SIZES[:-1], None]),
    ("spec.containers.0.image", ["j", ""]),
    ("spec.initContainers.0.image", ["j"]),
    ("spec.containers.0.name", ["d"]),
    ("spec.containers", [[{"name": "c", "image": "i"}, {"name": "d", "image": "i"}]]),
    ("spec.initContainers", [None]),
    ("spec.activeDeadlineSeconds", [5, 10, None, 0]),
    ("spec.terminationGracePeriodSeconds", [1, 30]),
    (
        "spec.tolerations",
        [
            [{"key": "k", "operator": "Exists"}],
            [{"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}],
            [{"key": "k", "operator": "Exists"}, {"key": "l", "operator": "Gt", "value": "5"}],
            [{"key": "l", "operator": "Gt", "value": "5"}],
            [{"key": "l", "operator": "Lt", "value": "x"}],
        ],
    ),
    ("spec.schedulingGates", [[{"name": "a"}], [{"name": "b"}], [{"name": "a"}, {"name": "b"}], None]),
    ("spec.nodeSelector", [{"a": "b"}, {"a": "c"}, {"a": "b", "c": "d"}, None]),
    (
        "spec.affinity",
        [
            {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {"matchExpressions": [{"key": "a", "operator": "In", "values": [value]}]} for value in names
                        ]
                    }
                }
            }
            for names in ("x", "y", "xy")
        ]
        + [None],
    ),
    ("spec.nodeName", ["n", None]),
    ("spec.priority", [7]),
    ("spec.schedulingGroup", [{"podGroupName": "g"}, {"podGroupName": "h"}, None]),
    ("spec.resourceClaims", [[{"name": "c", "resourceClaimName": "c"}], None]),
    ("spec.volumes.0.emptyDir", [{"sizeLimit": "2Gi"}, {"medium": "Memory", "sizeLimit": "1Gi"}, {}]),
    ("spec.hostUsers", [True, False, None]),
    ("spec.hostnameOverride", ["h", None]),
    ("metadata.labels", [{"a": "b"}, {"A_/": "b"}, None]),
    ("metadata.finalizers", [["example.com/x"], ["x"]]),
    ("spec.containers.0.restartPolicyRules", [None]),
    ("spec.containers.0.resources.claims", [[{"name": "c"}], None]),
]
_POD_STATUS: _Changes = [
    ("status.qosClass", ["Guaranteed", "BestEffort"]),
    ("status.phase", ["Running", "Failed"]),
    ("status.nominatedNodeName", ["n", "N_", ""]),
    ("status.containerStatuses", [[_DONE], [{**_RUNNING, "state": {"running": {}}}], [_RUNNING]]),
    ("status.initContainerStatuses", [[{**_DONE, "name": "i"}], [{**_RUNNING, "name": "i"}]]),
    ("status.resources", [{"requests": {"cpu": "1"}}, None]),
    ("status.allocatedResources", [{"cpu": "1"}]),
    ("status.resourceClaimStatuses", [[{"name": "c", "resourceClaimName": "r"}], [{"name": "z"}], [], None]),
    ("status.extendedResourceClaimStatus", [{"resourceClaimName": "r", "requestMappings": []}, None]),
    ("status.observedGeneration", [1, -1]),
    ("status.podIPs", [[{"ip": "10.0.0.1"}], [{"ip": "x"}]]),
    ("status.hostIPs", [[{"ip": "10.0.0.1"}]]),
    ("status.conditions", [[{"type": "PodScheduled", "status": "True"}], [{"type": "x/y", "status": "True"}]]),
    ("status.resize", ["Proposed"]),
]
_RESULT: Manifest = {"request": "r", "driver": "d", "pool": "p", "device": "d"}
_ALLOCATION: Manifest = {"devices": {"results": [_RESULT]}}
_POD_REF = {"resource": "pods", "name": "p", "uid": "u"}
_CLAIM_STATUS: _Changes = [
    (
        "status.allocation",
        [
            None,
            _ALLOCATION,
            {"devices": {"results": [{**_RESULT, "request": "z"}]}},
            {"devices": {"results": [{**_RESULT, "bindingConditions": ["a"], "bindingFailureConditions": ["f"]}]}},
            {"devices": {"results": [{**_RESULT, "consumedCapacity": {"m": "1"}, "shareID": "x"}]}},
            {
                "devices": {
                    "results": [
                        {**_RESULT, "consumedCapacity": {"m": "1"}, "shareID": "01234567-89ab-cdef-0123-456789abcdef"}
                    ]
                }
            },
            {"devices": {"results": [{**_RESULT, "tolerations": [{"operator": "Exists", "effect": "None"}]}]}},
            {"devices": {"results": [{**_RESULT, "adminAccess": True}]}},
            {"devices": {"results": [{**_RESULT, "skipNodeOperations": ["NodePrepareResources"]}]}},
            {"devices": {"results": [{**_RESULT, "driver": "D_", "device": ""}]}},
            {**_ALLOCATION, "allocationTimestamp": "2026-01-01T00:00:00Z"},
            {"devices": {"results": [_RESULT], "config": [{"source": "FromClass", "opaque": {"driver": "d"}}]}},
        ],
    ),
    ("status.allocation", [None, _ALLOCATION]),
    ("status.reservedFor", [[_POD_REF], [{**_POD_REF, "uid": ""}], None]),
    (
        "status.devices",
        [
            [{"driver": "d", "pool": "p", "device": "d"}],
            [{"driver": "d", "pool": "p", "device": "e"}],
            [{"driver": "d", "pool": "p", "device": "d", "networkData": {"ips": ["10.0.0.1"]}}],
            [{"driver": "d", "pool": "p", "device": "d", "shareID": "x"}],
            [{"driver": "d", "pool": "p", "device": "d", "conditions": [{"type": "A", "status": "True"}]}],
            None,
        ],
    ),
]
_CONTAINER = {"name": "c", "image": "i"}
_JOB_TEMPLATE: _Changes = [
    ("spec.template.spec.nodeSelector", [{"a": "b"}, {"a": "c"}, None]),
    ("spec.template.spec.containers.0.resources", _SIZES),
    ("spec.template.spec.containers.0.image", ["j"]),
    ("spec.template.spec.tolerations", [[{"key": "k", "operator": "Exists"}], None]),
    ("spec.template.spec.schedulingGates", [[{"name": "a"}], None]),
    ("spec.template.spec.resources", _SIZES[:-1]),
    ("spec.template.metadata.annotations", [{"x": "y"}, None]),
    ("spec.suspend", [True, False]),
    ("spec.suspend", [True, False]),
]
_STARTED = {"startTime": "2026-01-01T00:00:00Z"}
_SUSPENDED = {"type": "Suspended", "status": "True", "lastProbeTime": None, "lastTransitionTime": None}
# What an old object may have beyond the changes of new ones, and what becomes of it: by kind, then by subresource.
_OLD: dict[str, _Changes] = {
    "Pod": [
        *_POD_CHANGES,
        *_POD_STATUS,
        ("spec.nodeName", ["n"]),
        ("spec.schedulingGates", [[{"name": "a"}]]),
        ("status.containerStatuses", [[{**_RUNNING, "state": {"running": {}}, "resources": {}}]]),
        ("metadata.annotations", [{"kubernetes.io/config.mirror": "x"}]),
        ("spec.os", [{"name": "windows"}]),
    ],
    "Job": [
        *_JOB_TEMPLATE,
        ("spec.suspend", [True]),
        ("spec.suspend", [True]),
        ("status", [_STARTED, {"conditions": [_SUSPENDED]}, {"conditions": [_SUSPENDED], "active": 1}]),
        ("spec.completionMode", ["Indexed"]),
        ("spec.completions", [2]),
    ],
    "PersistentVolumeClaim": [
        ("spec.volumeName", ["v"]),
        ("status", [{"phase": "Bound", "capacity": {"storage": "1Gi"}}]),
        ("status", [{"phase": "Bound"}]),
    ],
    "ResourceClaim": _CLAIM_STATUS,
    "PodGroup": [("status", [{"conditions": []}])],
}
_NEW: dict[str, _Changes] = {
    "Pod": _POD_CHANGES,
    "Pod/resize": [
        *(each for each in _POD_CHANGES if "resources" in each[0] or "resizePolicy" in each[0]),
        *(each for each in _POD_CHANGES if each[0] in ("spec.containers.0.name", "spec.volumes.0.emptyDir")),
        *(each for each in _POD_CHANGES if each[0] in ("spec.containers", "spec.initContainers", "spec.nodeName")),
    ],
    "Pod/status": [*_POD_STATUS, ("metadata.labels", [{"a": "c"}]), ("spec.nodeName", ["m"])],
    "Pod/ephemeralcontainers": [
        (
            "spec.ephemeralContainers",
            [
                [{"name": "x", "image": "i"}],
                [{"name": "c", "image": "i"}],
                [{"name": "y", "image": "i", "resources": {"requests": {"cpu": "1"}}}],
                None,
            ],
        )
    ],
    "Job": [
        *_JOB_TEMPLATE,
        ("spec.completions", [2, 3]),
        ("spec.parallelism", [2, 3]),
        ("spec.backoffLimit", [3]),
        ("spec.podFailurePolicy", [{"rules": []}]),
        ("spec.backoffLimitPerIndex", [1]),
        ("spec.successPolicy", [{"rules": [{"succeededCount": 1}]}]),
    ],
    "PersistentVolumeClaim": [
        ("spec.volumeName", ["v", "w", None]),
        ("spec.resources.requests.storage", ["2Gi", "500Mi"]),
        ("spec.volumeAttributesClassName", ["w", None]),
    ],
    "PersistentVolumeClaim/status": [
        ("status.phase", ["Bound", "Lost"]),
        ("status.capacity", [{"storage": "2Gi"}]),
        ("status.allocatedResources", [{"storage": "2Gi"}]),
        ("status.conditions", [[{"type": "Resizing", "status": "True"}]]),
    ],
    "PersistentVolume": [
        (
            "spec.nodeAffinity",
            [
                {"required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": key, "operator": "Exists"}]}]}}
                for key in ("kubernetes.io/hostname", "z")
            ]
            + [None],
        ),
        ("spec.claimRef", [{"name": "c", "namespace": "default"}, None]),
        ("spec.capacity", [{"storage": "2Gi"}]),
        ("spec.hostPath", [{"path": "/y"}]),
        ("spec.volumeMode", ["Block"]),
        ("spec.mountOptions", [["ro"]]),
        ("spec.storageClassName", ["t"]),
    ],
    "ResourceClaim": [("metadata.labels", [{"a": "b"}]), ("metadata.labels", [{"a": "c"}])],
    "ResourceClaim/status": _CLAIM_STATUS,
    "Node": [
        ("spec.providerID", ["p", "q", None]),
        ("spec.podCIDRs", [["10.0.0.0/24"], ["10.0.1.0/24"], None]),
        ("spec.podCIDR", ["10.0.0.0/24", None]),
        ("spec.unschedulable", [True, False]),
        ("spec.configSource", [{}]),
        ("spec.externalID", ["e"]),
        ("metadata.labels", [{"a": "b"}]),
        ("status.allocatable", [{"cpu": "2"}, {"cpu": "-1"}]),
    ],
    "StatefulSet": [
        ("spec.replicas", [3, -1]),
        ("spec.podManagementPolicy", ["Parallel", "OrderedReady", "X"]),
        ("spec.ordinals", [{"start": 2}, {"start": -1}]),
        ("spec.serviceName", ["t"]),
        ("spec.minReadySeconds", [5]),
        ("spec.revisionHistoryLimit", [3]),
        ("spec.selector", [{"matchLabels": {"a": "b", "c": "d"}}]),
        ("spec.template.metadata.labels", [{"a": "b", "c": "d"}, {"a": "x"}]),
        ("spec.template.spec.containers.0.image", ["j"]),
        ("spec.persistentVolumeClaimRetentionPolicy", [{"whenDeleted": "Delete"}, {"whenScaled": "X"}]),
        (
            "spec.volumeClaimTemplates",
            [
                [
                    {
                        "metadata": {"name": name},
                        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
                    }
                ]
                for name in ("v", "w")
            ],
        ),
    ],
    "Service": [
        ("spec.clusterIP", ["10.0.0.2", "None", None, ""]),
        ("spec.clusterIPs", [["10.0.0.2"], ["None"], None]),
        ("spec.type", ["NodePort", "LoadBalancer", "ExternalName", "X"]),
        ("spec.externalName", ["e.com"]),
        ("spec.ports", [[{"port": 81}], [], [{"port": 80, "name": "a"}, {"port": 81, "name": "b"}]]),
        ("spec.selector", [{"a": "c"}, None]),
        ("spec.ipFamilies", [["IPv4"], ["IPv6"]]),
        ("spec.ipFamilyPolicy", ["SingleStack", "PreferDualStack"]),
        ("spec.loadBalancerClass", ["a/b", "c/d", None]),
        ("spec.trafficDistribution", ["PreferClose", "PreferSameNode", "X"]),
        ("spec.sessionAffinity", ["ClientIP"]),
        ("spec.externalTrafficPolicy", ["Local", "X"]),
        ("spec.internalTrafficPolicy", ["Local"]),
        ("spec.healthCheckNodePort", [30001]),
    ],
    **{
        kind: [
            ("spec.selector", [{"matchLabels": {"a": "b", "c": "d"}}]),
            ("spec.template.metadata.labels", [{"a": "b", "c": "d"}, {"a": "x"}]),
            ("spec.template.spec.tolerations", [[{"key": "k", "operator": "Gt", "value": "5"}], None]),
            ("spec.template.spec.containers.0.resources", _SIZES),
            ("spec.minReadySeconds", [5, -1]),
            *([("spec.replicas", [3, -1])] if kind != "DaemonSet" else []),
        ]
        for kind in ("Deployment", "ReplicaSet", "DaemonSet")
    },
    "CronJob": [
        ("spec.schedule", ["@daily", "x"]),
        ("spec.suspend", [True]),
        ("spec.timeZone", ["Etc/UTC", "X_"]),
        ("spec.concurrencyPolicy", ["Forbid", "X"]),
        ("spec.jobTemplate.spec.template.spec.nodeSelector", [{"a": "b"}]),
    ],
    "ResourceQuota": [
        ("spec.hard", [{"pods": "2"}, {"pods": "-1"}, {"requests.cpu": "1"}]),
        ("spec.scopes", [["BestEffort"], ["NotBestEffort"], None]),
    ],
    "CSIStorageCapacity": [
        ("capacity", ["2Gi", "-1", None]),
        ("maximumVolumeSize", ["1Gi", "3Gi"]),
        ("storageClassName", ["t", ""]),
        ("nodeTopology", [_LABELS, {"matchLabels": {"a": "c"}}, None]),
    ],
    "VolumeAttributesClass": [("driverName", ["e"]), ("parameters", [{"a": "c"}])],
    "CSIDriver": [
        ("spec.attachRequired", [True, False]),
        ("spec.podInfoOnMount", [True, False]),
        ("spec.storageCapacity", [True, False]),
        ("spec.fsGroupPolicy", ["File", "None", "X"]),
        ("spec.requiresRepublish", [True, False]),
        ("spec.seLinuxMount", [True, False]),
    ],
    "CSINode": [
        ("spec.drivers", [[], [{"name": "d", "nodeID": "n"}, {"name": "e", "nodeID": "n"}]]),
        ("spec.drivers.0.topologyKeys", [["a"], ["b"]]),
    ],
    "StorageClass": [
        ("allowVolumeExpansion", [True, False]),
        ("mountOptions", [["ro"]]),
        ("parameters", [{"a": "c"}, None]),
        ("allowedTopologies", [[{"matchLabelExpressions": [{"key": "k", "values": ["a"]}]}], None]),
    ],
    "PriorityClass": [("globalDefault", [True]), ("description", ["x"]), ("value", [2, 1])],
    "PodDisruptionBudget": [
        ("spec.selector", [_LABELS, {}]),
        ("spec.minAvailable", [2, None]),
        ("spec.maxUnavailable", [1]),
    ],
    "PodGroup": [("spec.schedulingPolicy", [{"gang": {"minCount": 3}}]), ("metadata.labels", [{"a": "b"}])],
    "PodGroup/status": [
        (
            "status.conditions",
            [
                [],
                [{"type": "A", "status": "True", "reason": "R", "lastTransitionTime": "2026-01-01T00:00:00Z"}],
                [{"type": "A", "status": "X"}],
            ],
        ),
        ("status.resourceClaimStatuses", [[{"name": "c", "resourceClaimName": "r"}]]),
    ],
}
_TARGETS = [
    *(each for each in _NEW if each != "PodGroup/status"),
    *("Pod", "Pod", "Pod/resize", "Pod/resize", "Pod/status", "Job", "ResourceClaim/status", "PodGroup"),
    *(each for each in BASES if each not in _NEW),
]


def make_case(seed: int, release: str) -> Manifest:
    """Make the update of a seed: what is there, made under gates of its own, and what it is changed to."""
    rng = random.Random(seed)
    served = release.startswith("1.37")
    target = rng.choice([each for each in _TARGETS if served or not each.startswith("PodGroup")])
    kind, _, subresource = target.partition("/")
    old = copy.deepcopy({**BASES, **_MORE_BASES}[kind])
    old["metadata"]["uid"] = "01234567-89ab-cdef-0123-456789abcdef"
    if kind == "Job":
        old["spec"] |= {"selector": _LABELS, "manualSelector": True}
        old["spec"]["template"] = {"metadata": {"labels": {"a": "b"}}, **old["spec"]["template"]}
    known = CHANGES.get(kind, [])
    wide = [*_OLD.get(kind, []), *_NEW.get(target, []), *_OLD.get(kind, []), *known]
    for path, values in rng.sample(wide, min(len(wide), rng.choice([0, 1, 2, 3, 4]))):
        admissions.put(old, path.split("."), copy.deepcopy(rng.choice(values)))
    if kind == "Pod":
        old["status"] = {"phase": "Pending", **old.get("status", {})}
    new = copy.deepcopy(old)
    wide = [*_NEW.get(target, [])] * 2 + ([] if subresource else known)
    if not subresource:  # of a Node an update may write the status here
        wide = [each for each in wide if not each[0].startswith("status")]
    for path, values in rng.sample(wide, min(len(wide), rng.choice([1, 1, 2, 3]))):
        admissions.put(new, path.split("."), copy.deepcopy(rng.choice(values)))
    for each in (old, new):
        each["metadata"]["name"] = "x"
    if "apiVersion" in new:
        new["apiVersion"] = old["apiVersion"]
    gates = [admissions.draw_gates(rng, release, kind, chance) for chance in ([0, 0, 1, 1, 2], [0, 0, 1])]
    return {"object": new, "gates": gates[1], "old": old, "oldGates": gates[0], "subresource": subresource}


def answer(case: Mapping[str, Any], release: str) -> Manifest:
    """Return the stored object or the errors of our API server."""
    before, after = (admissions.server(case[name], release) for name in ("oldGates", "gates"))
    try:
        stored = before.create(case["old"])
    except Refused as refused:
        return {"old": sorted(str(error) for error in refused.errors)}
    target = (stored["kind"], *key_of(stored))
    if status := case["old"].get("status"):
        kept = {name: value for name, value in (stored.get("status") or {}).items() if name == "qosClass"}
        before.patch_status(target, {**dict.fromkeys(stored.get("status") or ()), **kept, **status})
    try:
        return {"object": replace(after, store=before.store).update(case["object"], case["subresource"])}
    except Refused as refused:
        return admissions.describe(refused)


def main(admit: str, release: str, first: str, last: str, file: str = "") -> int:
    """Compare updates of the seeds from `first` to before `last`. Return the exit code."""
    return admissions.compare(make_case, answer, admit, release, range(int(first), int(last)), file)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
