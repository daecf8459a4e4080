"""Shapes: which type each field has, as far as anything here reads it. Fields that no shape names may hold
anything.

A shape is a function (value, path, errors) that appends what is wrong. null counts as absent, as in kube. With an empty path it says no
places, which is much quicker: that is how objects are looked at of which nothing is wrong (`shaped`).

kube: api/core/v1/types.go and others @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scheduler_core.apimachinery.objects.errors import FieldError, child, format_key_path, format_value, wrong_type
from scheduler_core.apimachinery.objects.quantity import EXPECTED, BadQuantity, nanos
from scheduler_core.apimachinery.objects.times import parse_time

Shape = Callable[[Any, str, list[FieldError]], None]
_MAPPING = (dict, Mapping)  # a dict is told at once


def string(value: Any, path: str, errors: list[FieldError]) -> None:
    if value is not None and not isinstance(value, str):
        errors.append(wrong_type(path, value, "a string"))


def boolean(value: Any, path: str, errors: list[FieldError]) -> None:
    if value is not None and not isinstance(value, bool):
        errors.append(wrong_type(path, value, "true or false"))


def _integer(bits: int) -> Shape:
    bound = 1 << (bits - 1)

    def check(value: Any, path: str, errors: list[FieldError]) -> None:
        if value is None:
            return
        if isinstance(value, bool) or not isinstance(value, int):
            errors.append(wrong_type(path, value, "a whole number"))
        elif not -bound <= value < bound:
            errors.append(FieldError(path, format_value(value), f"does not fit into {bits} bits"))

    return check


int32, int64 = _integer(32), _integer(64)


def int_or_string(value: Any, path: str, errors: list[FieldError]) -> None:
    if not isinstance(value, str):
        int32(value, path, errors)


def time(value: Any, path: str, errors: list[FieldError]) -> None:
    if value is None:
        return
    try:
        parse_time(value)
    except (TypeError, ValueError, OverflowError):
        errors.append(FieldError(path, format_value(value), "is not a time. Write it as 2026-01-31T12:00:00Z"))


def quantity(value: Any, path: str, errors: list[FieldError]) -> None:
    try:
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            nanos(value)
            return
    except BadQuantity:
        pass
    errors.append(FieldError(path, format_value(value), EXPECTED))


def optional_quantity(value: Any, path: str, errors: list[FieldError]) -> None:
    if value is not None:
        quantity(value, path, errors)


def mapping(item: Shape) -> Shape:
    """An object with any keys, every value of one shape. A null value is an error."""

    def check(value: Any, path: str, errors: list[FieldError]) -> None:
        if value is None:
            return
        if not isinstance(value, _MAPPING):
            errors.append(wrong_type(path, value, "an object"))
            return
        for name, entry in value.items():
            where = format_key_path(path, str(name)) if path else ""
            if not isinstance(name, str):
                errors.append(FieldError(path, format_value(name), "is a key that is not a string"))
            elif entry is None:
                errors.append(wrong_type(where, entry, "a value"))
            else:
                item(entry, where, errors)

    return check


def list_of(item: Shape, most: int = 2000) -> Shape:
    """A list of at most so many entries, every one of one shape. A null entry is an error."""

    def check(value: Any, path: str, errors: list[FieldError]) -> None:
        if value is None:
            return
        if not isinstance(value, list | tuple):
            errors.append(wrong_type(path, value, "a list"))
            return
        if len(value) > most:
            errors.append(FieldError(path, str(len(value)), f"must have at most {most} items", kind="Too many"))
            return
        for i, entry in enumerate(value):
            where = f"{path}[{i}]" if path else ""
            if entry is None:
                errors.append(wrong_type(where, entry, "a value"))
            else:
                item(entry, where, errors)

    return check


def record(strings: str = "", /, **others: Shape) -> Shape:
    """An object with named fields: `strings` are names with blanks between them, `others` have other shapes. All else may be anything."""
    fields = {**dict.fromkeys(strings.split(), string), **others}

    def check(value: Any, path: str, errors: list[FieldError]) -> None:
        if value is None:
            return
        if not isinstance(value, _MAPPING):
            errors.append(wrong_type(path, value, "an object"))
            return
        for name, entry in value.items():
            shape = fields.get(name)
            if shape is not None:
                shape(entry, child(path, name) if path else "", errors)
            elif not isinstance(name, str):
                errors.append(FieldError(path, format_value(name), "is a key that is not a string"))

    return check


def validate_shape(shape: Shape, value: Any, path: str, errors: list[FieldError]) -> None:
    """Appends what is wrong with the value at a path."""
    found: list[FieldError] = []
    shape(value, "", found)
    if found:
        shape(value, path, errors)


STRINGS = list_of(string, 20_000)  # a node affinity may name every node
STRING_MAP = mapping(string)
QUANTITIES = mapping(quantity)
REQUIREMENTS = list_of(record("key operator", values=STRINGS))
LABEL_SELECTOR = record(matchLabels=STRING_MAP, matchExpressions=REQUIREMENTS)
NODE_TERM = record(matchExpressions=REQUIREMENTS, matchFields=REQUIREMENTS)
NODE_SELECTOR = record(nodeSelectorTerms=list_of(NODE_TERM))
RESOURCES = record(requests=QUANTITIES, limits=QUANTITIES, claims=list_of(record("name")))

METADATA = record(
    "name generateName namespace uid resourceVersion",
    labels=STRING_MAP,
    annotations=STRING_MAP,
    creationTimestamp=time,
    deletionTimestamp=time,
    deletionGracePeriodSeconds=int64,
    generation=int64,
    finalizers=STRINGS,
    ownerReferences=list_of(record("apiVersion kind name uid", controller=boolean)),
)
CONTAINER = record(
    "name image restartPolicy",
    resources=RESOURCES,
    ports=list_of(record("name hostIP protocol", containerPort=int32, hostPort=int32)),
)
POD_TERM = record(
    "topologyKey",
    labelSelector=LABEL_SELECTOR,
    namespaceSelector=LABEL_SELECTOR,
    namespaces=STRINGS,
    matchLabelKeys=STRINGS,
    mismatchLabelKeys=STRINGS,
)
POD_TERMS = record(
    requiredDuringSchedulingIgnoredDuringExecution=list_of(POD_TERM),
    preferredDuringSchedulingIgnoredDuringExecution=list_of(record(weight=int32, podAffinityTerm=POD_TERM)),
)
AFFINITY = record(
    nodeAffinity=record(
        requiredDuringSchedulingIgnoredDuringExecution=NODE_SELECTOR,
        preferredDuringSchedulingIgnoredDuringExecution=list_of(record(weight=int32, preference=NODE_TERM)),
    ),
    podAffinity=POD_TERMS,
    podAntiAffinity=POD_TERMS,
)
SOURCES: dict[str, Shape] = {
    "gcePersistentDisk": record("pdName", readOnly=boolean),
    "awsElasticBlockStore": record("volumeID", readOnly=boolean),
    "azureDisk": record("diskURI kind"),
    "azureFile": record(),
    "cinder": record("volumeID"),
    "portworxVolume": record("volumeID"),
    "vsphereVolume": record(),
    "iscsi": record("iqn", readOnly=boolean),
    "rbd": record("pool image", monitors=STRINGS, readOnly=boolean),
}
CLAIM_SPEC = record(
    "storageClassName volumeName volumeMode volumeAttributesClassName",
    accessModes=STRINGS,
    resources=RESOURCES,
    selector=LABEL_SELECTOR,
)
POD_VOLUME = record(
    "name",
    persistentVolumeClaim=record("claimName"),
    ephemeral=record(volumeClaimTemplate=record(metadata=METADATA, spec=CLAIM_SPEC)),
    csi=record("driver"),
    **SOURCES,
)
POD_SPEC = record(
    "nodeName preemptionPolicy priorityClassName restartPolicy schedulerName",
    containers=list_of(CONTAINER),
    initContainers=list_of(CONTAINER),
    affinity=AFFINITY,
    hostNetwork=boolean,
    nodeSelector=STRING_MAP,
    overhead=QUANTITIES,
    priority=int32,
    resourceClaims=list_of(record("name")),
    resources=RESOURCES,
    schedulingGates=list_of(record("name")),
    terminationGracePeriodSeconds=int64,
    activeDeadlineSeconds=int64,
    tolerations=list_of(record("key operator value effect", tolerationSeconds=int64)),
    topologySpreadConstraints=list_of(
        record(
            "topologyKey whenUnsatisfiable nodeAffinityPolicy nodeTaintsPolicy",
            maxSkew=int32,
            minDomains=int32,
            labelSelector=LABEL_SELECTOR,
            matchLabelKeys=STRINGS,
        )
    ),
    volumes=list_of(POD_VOLUME),
)
CONDITIONS = list_of(record("type status reason message", lastTransitionTime=time))
_CONTAINER_STATUSES = list_of(record("name", resources=RESOURCES, allocatedResources=QUANTITIES))
POD_STATUS = record(
    "phase nominatedNodeName",
    conditions=CONDITIONS,
    startTime=time,
    containerStatuses=_CONTAINER_STATUSES,
    initContainerStatuses=_CONTAINER_STATUSES,
)
NODE_SPEC = record(unschedulable=boolean, taints=list_of(record("key value effect", timeAdded=time)))
NODE_STATUS = record(
    capacity=QUANTITIES,
    allocatable=QUANTITIES,
    conditions=CONDITIONS,
    images=list_of(record(names=STRINGS, sizeBytes=int64)),
)
TEMPLATE = record(metadata=METADATA, spec=POD_SPEC)
_WORKLOAD = record(
    "podManagementPolicy",
    replicas=int32,
    selector=LABEL_SELECTOR,
    template=TEMPLATE,
    parallelism=int32,
    completions=int32,
    suspend=boolean,
)

# by kind: shapes of the top-level fields beside metadata
KIND_SHAPES: dict[str, dict[str, Shape]] = {
    "Pod": {"spec": POD_SPEC, "status": POD_STATUS},
    "Node": {"spec": NODE_SPEC, "status": NODE_STATUS},
    "PriorityClass": {"value": int32, "globalDefault": boolean, "preemptionPolicy": string, "description": string},
    "Deployment": {"spec": _WORKLOAD},
    "ReplicaSet": {"spec": _WORKLOAD},
    "StatefulSet": {"spec": _WORKLOAD},
    "DaemonSet": {"spec": _WORKLOAD},
    "Job": {"spec": _WORKLOAD},
    "ReplicationController": {"spec": record(replicas=int32, selector=STRING_MAP, template=TEMPLATE)},
    "CronJob": {"spec": record(jobTemplate=record(metadata=METADATA, spec=_WORKLOAD))},
    "Service": {"spec": record(selector=STRING_MAP)},
    "PodDisruptionBudget": {
        "spec": record(selector=LABEL_SELECTOR, minAvailable=int_or_string, maxUnavailable=int_or_string),
        "status": record(disruptionsAllowed=int32, disruptedPods=mapping(time)),
    },
    "PersistentVolumeClaim": {"spec": CLAIM_SPEC, "status": record("phase")},
    "PersistentVolume": {
        "spec": record(
            "storageClassName volumeMode volumeAttributesClassName persistentVolumeReclaimPolicy",
            capacity=QUANTITIES,
            accessModes=STRINGS,
            nodeAffinity=record(required=NODE_SELECTOR),
            claimRef=record("namespace name uid"),
            csi=record("driver volumeHandle"),
            **SOURCES,
        ),
        "status": record("phase"),
    },
    "StorageClass": {
        "provisioner": string,
        "reclaimPolicy": string,
        "volumeBindingMode": string,
        "allowedTopologies": list_of(record(matchLabelExpressions=list_of(record("key", values=STRINGS)))),
    },
    "CSINode": {"spec": record(drivers=list_of(record("name", topologyKeys=STRINGS, allocatable=record(count=int32))))},
    "CSIDriver": {"spec": record(storageCapacity=boolean, attachRequired=boolean)},
    "CSIStorageCapacity": {
        "storageClassName": string,
        "nodeTopology": LABEL_SELECTOR,
        "capacity": optional_quantity,
        "maximumVolumeSize": optional_quantity,
    },
    "VolumeAttachment": {"spec": record("attacher nodeName", source=record("persistentVolumeName"))},
}
