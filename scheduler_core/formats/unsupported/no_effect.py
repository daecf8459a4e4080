"""The list of kinds and fields that are kept and change nothing here, each with the reason: made of the API's types by declared.py.

In a path, `[]` stands for every element of a list, and `[name]` for an entry of a map.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_core.apiserver.kinds import KINDS, Kind
from scheduler_core.apiserver.schema.table import fields, type_of
from scheduler_core.formats.unsupported.declared import (
    FIELDS,
    MEANT,
    NO_CONTROLLER,
    NO_PROCESS,
    ONE_SERVER,
    WHOLE_GROUPS,
    WHOLE_KINDS,
    Fields,
)

CONFIGURATION, ANY_CUSTOM = "KubeSchedulerConfiguration", "*"
_NOT_DECLARED = Fields()
_VERSIONS = {"DeviceTaintRule": "v1alpha3", "PodGroup": "v1beta1"}  # all others: v1
_ZEROS: Mapping[str, tuple[Any, ...]] = {"bool": (False,), "int32": (0,), "int64": (0,)}


@dataclass(frozen=True, slots=True)
class NoEffect:
    """A field of a kind; with the path "" the whole kind. The kind ANY_CUSTOM is any custom resource, `*.group` any kind of a group.

    `usual`: values that kube fills in itself, or a test of a value, so that they say nothing about what somebody wants; `written`: a
    cluster writes the field itself; `beside`: a field beside it that says the same. `of`: the type that has the field, and the field.
    """

    kind: str
    path: str
    why: str
    usual: tuple[Any, ...] = ()
    written: bool = False
    beside: str = ""
    of: tuple[str, str] = ("", "")


def _is_token(projected: Any) -> bool:
    """Return True if a projected volume is the one that the ServiceAccount plugin adds to a pod."""
    sources = projected.get("sources") if isinstance(projected, Mapping) else None
    found = {name for each in sources or () if isinstance(each, Mapping) for name in each}
    return found == {"serviceAccountToken", "configMap", "downwardAPI"}


def _are_tokens(mounts: Any) -> bool:
    """Return True if containers mount nothing but the volume that the ServiceAccount plugin adds."""
    path = "/var/run/secrets/kubernetes.io/serviceaccount"
    return isinstance(mounts, list | tuple) and all(
        isinstance(each, Mapping) and each.get("mountPath") == path for each in mounts
    )


# Values that kube's defaults and admission give. kube: pkg/apis/{core,storage}/v1/defaults.go, plugin/pkg/admission @ v1.34.1
_USUAL: Mapping[tuple[str, str], tuple[Any, ...]] = {
    ("PodSpec", "dnsPolicy"): ("ClusterFirst",),
    ("PodSpec", "serviceAccountName"): ("default",),
    ("PodSpec", "serviceAccount"): ("default",),
    ("PodSpec", "automountServiceAccountToken"): (),
    ("PodSpec", "enableServiceLinks"): (True,),
    ("PodSpec", "hostUsers"): (True,),
    ("Container", "terminationMessagePath"): ("/dev/termination-log",),
    ("Container", "terminationMessagePolicy"): ("File",),
    ("Container", "imagePullPolicy"): ("Always", "IfNotPresent"),
    ("Container", "volumeMounts"): (_are_tokens,),
    ("Volume", "projected"): (_is_token,),
    ("ISCSIVolumeSource", "iscsiInterface"): ("default",),
    ("RBDVolumeSource", "user"): ("admin",),
    ("RBDVolumeSource", "keyring"): ("/etc/ceph/keyring",),
    ("AzureDiskVolumeSource", "cachingMode"): ("ReadWrite",),
    ("AzureDiskVolumeSource", "fsType"): ("ext4",),
    ("CSIDriverSpec", "fsGroupPolicy"): ("ReadWriteOnceWithFSType",),
    ("CSIDriverSpec", "volumeLifecycleModes"): (["Persistent"],),
}
_WRITTEN = {
    ("NodeSpec", "podCIDR"),
    ("NodeSpec", "podCIDRs"),
    ("NodeSpec", "providerID"),
    *(("CSIPersistentVolumeSource", name) for name in fields("CSIPersistentVolumeSource")),
}
_BESIDE = {
    ("PodSpec", "serviceAccount"): "serviceAccountName",
    ("NodeSpec", "podCIDRs"): "podCIDR",
    ("PersistentVolumeClaimSpec", "dataSourceRef"): "dataSource",
}

_OF_CONFIGURATIONS: tuple[tuple[str, str, tuple[Any, ...]], ...] = (
    ("clientConnection.kubeconfig", ONE_SERVER, ()),
    ("clientConnection.acceptContentTypes", ONE_SERVER, ()),
    ("clientConnection.contentType", ONE_SERVER, ("application/vnd.kubernetes.protobuf",)),
    ("enableProfiling", NO_PROCESS, (True,)),
    ("enableContentionProfiling", NO_PROCESS, (True,)),
)


def root_type(kind: Kind) -> str:
    """The type of a kind's objects in the version that the engine keeps; "" where the table does not have it."""
    version = _VERSIONS.get(kind.key, "v1")
    return type_of(kind, f"{kind.group}/{version}" if kind.group else version)


def _entries(kind: Kind) -> Iterator[NoEffect]:
    if kind.key in WHOLE_KINDS:
        yield NoEffect(kind.key, "", WHOLE_KINDS[kind.key])
        return
    for (of, field, name), (why, usual) in MEANT.items():
        if of == kind.key:
            yield NoEffect(kind.key, f"metadata.{field}[{name}]", why, usual, of=(of, name))
    yield from _of_type(kind.key, root_type(kind), "")


def _of_type(kind: str, type_: str, path: str) -> Iterator[NoEffect]:
    """The entries of a type's fields and of what they hold. A status is what a cluster writes."""
    declared = FIELDS.get(type_, _NOT_DECLARED)
    silent = {name: why for why, names in declared.silent.items() for name in names.split()}
    idle = {"status", *declared.idle.split()}
    for name, field in fields(type_).items():
        where, of = f"{path}.{name}" if path else name, (type_, name)
        if name in silent:
            usual = _USUAL.get(of, _ZEROS.get(field.inner, ()))
            yield NoEffect(kind, where, silent[name], usual, of in _WRITTEN, _BESIDE.get(of, ""), of)
        elif name not in idle and (inner := field.object_type):
            yield from _of_type(kind, inner, where + ("[]" if field.shape == "list" else ""))


ENTRIES: tuple[NoEffect, ...] = (
    *(entry for kind in KINDS.values() for entry in _entries(kind)),
    *(NoEffect(kind, "", WHOLE_KINDS[kind]) for kind in WHOLE_KINDS if kind not in KINDS),
    *(NoEffect(f"{ANY_CUSTOM}.{group}", "", why) for group, why in WHOLE_GROUPS.items()),
    NoEffect(ANY_CUSTOM, "", NO_CONTROLLER),
    *(NoEffect(CONFIGURATION, path, why, usual) for path, why, usual in _OF_CONFIGURATIONS),
)
