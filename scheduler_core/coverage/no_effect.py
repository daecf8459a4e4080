"""The list of kinds and fields that are kept and change nothing here, each with the reason.

A path of a pod counts in pod templates too. `[]` stands for every element of a list. Values in `usual` are passed over: kube fills them in
itself, so that they say nothing of what somebody wants.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

POD, CONFIGURATION, ANY_CUSTOM = "Pod", "KubeSchedulerConfiguration", "*"


@dataclass(frozen=True, slots=True)
class NoEffect:
    """A field of a kind; with the path "" the whole kind. The kind ANY_CUSTOM is any custom resource."""

    kind: str
    path: str
    why: str
    usual: tuple[Any, ...] = ()


_TRAFFIC = "there is no network here: nothing is routed or filtered"
_RIGHTS = "everybody may do everything here"
_PROGRAM = "containers run no program: the cluster's programs say how long they run, how they end and when they are ready"
_NO_FILES = "containers have no files: nothing is mounted, and what is missing keeps no pod from starting"
_NODE = "what a container may do on its node plays no part here"
_NO_DRIVERS = "there are no drivers that would read it; allocations carry it all the same"
_IDENTITY = "pods run without service accounts and their tokens"
_TARGETS = "there is no DNS here"

_KINDS = (
    ("Service", "nothing is routed; the scheduler alone reads its selector, to spread the Service's pods"),
    ("Endpoints", _TRAFFIC),
    ("EndpointSlice", _TRAFFIC),
    ("Ingress", _TRAFFIC),
    ("IngressClass", _TRAFFIC),
    ("NetworkPolicy", _TRAFFIC),
    ("ServiceCIDR", _TRAFFIC),
    ("IPAddress", _TRAFFIC),
    ("HorizontalPodAutoscaler", "nothing scales workloads by their load; scale them yourself"),
    ("ServiceAccount", _IDENTITY),
    ("Role", _RIGHTS),
    ("RoleBinding", _RIGHTS),
    ("ClusterRole", _RIGHTS),
    ("ClusterRoleBinding", _RIGHTS),
    ("ConfigMap", _NO_FILES),
    ("Secret", _NO_FILES),
    ("PodTemplate", "nothing makes pods of it, in kube neither"),
    ("VolumeAttributesClass", "volumes keep the attributes that they were made with"),
    ("CustomResourceDefinition", "custom resources are kept, and no controller acts on them"),
    (ANY_CUSTOM, "it is kept, and no controller acts on it"),
)

_CONTAINER_LISTS = ("containers[]", "initContainers[]")
_OF_CONTAINERS: tuple[tuple[str, str, tuple[Any, ...]], ...] = (
    ("command", _PROGRAM, ()),
    ("args", _PROGRAM, ()),
    ("workingDir", _PROGRAM, ()),
    ("env", _PROGRAM, ()),
    ("envFrom", _PROGRAM, ()),
    ("livenessProbe", _PROGRAM, ()),
    ("readinessProbe", _PROGRAM, ()),
    ("startupProbe", _PROGRAM, ()),
    ("lifecycle.postStart", _PROGRAM, ()),
    ("lifecycle.preStop.exec", _PROGRAM, ()),
    ("lifecycle.preStop.httpGet", _PROGRAM, ()),
    ("stdin", _PROGRAM, (False,)),
    ("tty", _PROGRAM, (False,)),
    ("terminationMessagePath", _PROGRAM, ("/dev/termination-log",)),
    ("terminationMessagePolicy", _PROGRAM, ("File",)),
    (
        "imagePullPolicy",
        "images are pulled when they are not on the node, and are never missing",
        ("Always", "IfNotPresent"),
    ),
    ("securityContext", _NODE, ({},)),
    ("volumeDevices", _NO_FILES, ()),
)
_OF_PODS: tuple[tuple[str, str, tuple[Any, ...]], ...] = (
    ("serviceAccountName", _IDENTITY, ("default",)),
    ("serviceAccount", _IDENTITY, ("default",)),
    ("automountServiceAccountToken", _IDENTITY, ()),
    ("imagePullSecrets", "every image can be pulled by everybody", ()),
    ("securityContext", _NODE, ({},)),
    ("hostPID", _NODE, (False,)),
    ("hostIPC", _NODE, (False,)),
    ("hostUsers", _NODE, (True,)),
    ("shareProcessNamespace", _NODE, (False,)),
    ("dnsPolicy", _TARGETS, ("ClusterFirst",)),
    ("dnsConfig", _TARGETS, ()),
    ("hostAliases", _TARGETS, ()),
    ("hostname", _TARGETS, ()),
    ("subdomain", _TARGETS, ()),
    ("setHostnameAsFQDN", _TARGETS, (False,)),
    ("enableServiceLinks", _TARGETS, (True,)),
    ("ephemeralContainers", _PROGRAM, ()),
    ("volumes[].configMap", _NO_FILES, ()),
    ("volumes[].secret", _NO_FILES, ()),
    ("volumes[].downwardAPI", _NO_FILES, ()),
)
_OTHERS = (
    ("StorageClass", "parameters", "provisioners make any volume that a claim asks for"),
    ("StorageClass", "mountOptions", "volumes are not mounted"),
    ("PersistentVolume", "spec.mountOptions", "volumes are not mounted"),
    ("ResourceClaim", "spec.devices.config[].opaque.parameters", _NO_DRIVERS),
    ("ResourceClaimTemplate", "spec.spec.devices.config[].opaque.parameters", _NO_DRIVERS),
    ("DeviceClass", "spec.config[].opaque.parameters", _NO_DRIVERS),
    ("PersistentVolumeClaim", "spec.dataSource", "volumes hold no data"),
    ("PersistentVolumeClaim", "spec.dataSourceRef", "volumes hold no data"),
    ("Node", "spec.podCIDR", _TRAFFIC),
    ("Node", "spec.podCIDRs", _TRAFFIC),
    ("Node", "spec.configSource", "kubelets are configured in the cluster's settings"),
)

_OF_CONFIGURATIONS: tuple[tuple[str, str, tuple[Any, ...]], ...] = (
    ("clientConnection.kubeconfig", "there is one API server, which everybody reaches", ()),
    ("clientConnection.acceptContentTypes", "there is one API server, which everybody reaches", ()),
    (
        "clientConnection.contentType",
        "there is one API server, which everybody reaches",
        ("application/vnd.kubernetes.protobuf",),
    ),
    ("enableProfiling", "there is no process to be profiled", (True,)),
    ("enableContentionProfiling", "there is no process to be profiled", (True,)),
)

ENTRIES: tuple[NoEffect, ...] = (
    *(NoEffect(kind, "", why) for kind, why in _KINDS),
    *(NoEffect(POD, f"spec.{field}", why, usual) for field, why, usual in _OF_PODS),
    *(
        NoEffect(POD, f"spec.{where}.{field}", why, usual)
        for where in _CONTAINER_LISTS
        for field, why, usual in _OF_CONTAINERS
    ),
    *(NoEffect(kind, path, why) for kind, path, why in _OTHERS),
    *(NoEffect(CONFIGURATION, path, why, usual) for path, why, usual in _OF_CONFIGURATIONS),
)
