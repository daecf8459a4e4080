"""ResourceClaims: the devices that a pod requests, and its allocation.

kube: api/resource/v1/types.go, dynamic-resource-allocation/resourceclaim/{resourceclaim,devicetoleration}.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_core.apimachinery.dra.amounts import Amount
from scheduler_core.apimachinery.dra.classes import expressions
from scheduler_core.apimachinery.dra.features import IdentityCache
from scheduler_core.apimachinery.dra.slices import DeviceId
from scheduler_core.apimachinery.objects import Manifest, Pod, is_owned_by
from scheduler_core.apimachinery.objects.spec import Toleration

KIND = "ResourceClaim"
EXACT_COUNT, ALL = "ExactCount", "All"
MAX_RESULTS = 32  # devices of one claim: kube's AllocationResultsMaxSize
MAX_CONSUMERS = 256  # entries of reservedFor: kube's ResourceClaimReservedForMaxSize
FINALIZER = "resource.kubernetes.io/delete-protection"
POD_CLAIM_NAME = "resource.kubernetes.io/pod-claim-name"  # annotation of claims made from a template

_NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class DeviceToleration(Toleration):
    """A toleration of a request; it tolerates as a pod's does."""

    @classmethod
    def of(cls, raw: Manifest) -> DeviceToleration:
        key, operator, value, effect = (str(raw.get(name) or "") for name in ("key", "operator", "value", "effect"))
        return cls(key, operator, value, effect)


@dataclass(frozen=True, slots=True, eq=False)
class Ask:
    """The devices that a request (`exactly`) or one subrequest (of `firstAvailable`) asks for.

    `admin` and `capacity` are None if the field is absent; `asked` has the amounts in `capacity`.
    """

    name: str
    class_name: str
    selectors: tuple[str | None, ...]
    mode: str
    count: int
    admin: bool | None
    tolerations: tuple[DeviceToleration, ...]
    capacity: Manifest | None
    asked: Mapping[str, Amount]
    tolerations_manifest: tuple[Manifest, ...] = ()

    @classmethod
    def of(cls, name: str, raw: Manifest, subrequest: bool) -> Ask:
        capacity = raw.get("capacity")
        asked = (capacity or _NOTHING).get("requests") or _NOTHING
        return cls(
            name,
            raw.get("deviceClassName") or "",
            expressions(raw.get("selectors")),
            raw.get("allocationMode") or "",
            int(raw.get("count") or 0),
            None if subrequest else raw.get("adminAccess"),
            tuple(DeviceToleration.of(toleration) for toleration in raw.get("tolerations") or ()),
            capacity,
            {key: Amount.of(value) for key, value in asked.items()},
            tuple(raw.get("tolerations") or ()),
        )

    @property
    def all_devices(self) -> bool:
        return self.mode == ALL


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """A request for devices: either `exactly` or `alternatives` (firstAvailable)."""

    name: str
    exactly: Ask | None
    alternatives: tuple[Ask, ...]

    @classmethod
    def of(cls, raw: Manifest) -> Request:
        name, exactly = raw.get("name") or "", raw.get("exactly")
        return cls(
            name,
            None if exactly is None else Ask.of(name, exactly, False),
            tuple(Ask.of(each.get("name") or "", each, True) for each in raw.get("firstAvailable") or ()),
        )


@dataclass(frozen=True, slots=True)
class Constraint:
    """A constraint between devices. `requests` are the names of its requests (none: all). Absent attributes are None."""

    requests: tuple[str, ...]
    match_attribute: str | None
    distinct_attribute: str | None

    @classmethod
    def of(cls, raw: Manifest) -> Constraint:
        return cls(tuple(raw.get("requests") or ()), raw.get("matchAttribute"), raw.get("distinctAttribute"))


@dataclass(frozen=True, slots=True, eq=False)
class Ownership:
    """A consumer of a claim, as reservedFor names it."""

    resource: str
    name: str
    uid: str


@dataclass(frozen=True, slots=True, eq=False)
class Allocated:
    """One device of a claim's allocation. `share_id` and `consumed` are None where they are absent."""

    request: str
    device: DeviceId
    admin: bool
    share_id: str | None
    consumed: Mapping[str, Amount] | None
    manifest: Manifest

    @classmethod
    def of(cls, raw: Manifest) -> Allocated:
        consumed = raw.get("consumedCapacity")
        return cls(
            raw.get("request") or "",
            DeviceId(raw.get("driver") or "", raw.get("pool") or "", raw.get("device") or ""),
            bool(raw.get("adminAccess")),
            raw.get("shareID"),
            None if consumed is None else {key: Amount.of(value) for key, value in consumed.items()},
            raw,
        )


@dataclass(frozen=True, slots=True, eq=False)
class ResourceClaim:
    """A ResourceClaim. `allocation` is status.allocation (None: not allocated), `results` its devices, and `devices` is status.devices."""

    manifest: Manifest
    namespace: str
    name: str
    uid: str
    requests: tuple[Request, ...]
    constraints: tuple[Constraint, ...]
    configs: tuple[Manifest, ...]
    allocation: Manifest | None
    results: tuple[Allocated, ...]
    reserved_for: tuple[Ownership, ...]
    devices: tuple[Manifest, ...]

    @classmethod
    def of(cls, manifest: Manifest) -> ResourceClaim:
        """Read once per manifest."""
        return _CLAIMS.of(manifest, cls.from_manifest)

    @classmethod
    def from_manifest(cls, manifest: Manifest) -> ResourceClaim:
        metadata = manifest.get("metadata") or _NOTHING
        asked = (manifest.get("spec") or _NOTHING).get("devices") or _NOTHING
        status = manifest.get("status") or _NOTHING
        allocation = status.get("allocation")
        given = ((allocation or _NOTHING).get("devices") or _NOTHING).get("results") or ()
        return cls(
            manifest,
            metadata.get("namespace") or "",
            metadata.get("name") or "",
            metadata.get("uid") or "",
            tuple(Request.of(raw) for raw in asked.get("requests") or ()),
            tuple(Constraint.of(raw) for raw in asked.get("constraints") or ()),
            tuple(asked.get("config") or ()),
            allocation,
            tuple(Allocated.of(raw) for raw in given),
            tuple(
                Ownership(raw.get("resource") or "", raw.get("name") or "", raw.get("uid") or "")
                for raw in status.get("reservedFor") or ()
            ),
            tuple(status.get("devices") or ()),
        )

    @property
    def key(self) -> str:
        """`namespace/name`, as kube's messages name it."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name

    @property
    def is_allocated(self) -> bool:
        return self.allocation is not None

    def is_reserved_for(self, pod: Pod) -> bool:
        """Return whether the claim is reserved for the pod. kube: IsReservedForPod."""
        return any(consumer.uid == pod.uid for consumer in self.reserved_for)


class ClaimError(Exception):
    """The reason, in kube's words, that a pod's claim can't be named or used."""


def claim_name(pod: Pod, pod_claim: Manifest) -> tuple[str | None, bool]:
    """Return the name of the claim behind an entry of spec.resourceClaims, and whether the pod must own the claim.

    The name is None if the pod intentionally has no claim. Raise ClaimError if the claim was not created yet, or if the entry names
    neither a claim nor a template. kube: resourceclaim.Name
    """
    name = pod_claim.get("name") or ""
    if pod_claim.get("resourceClaimName") is not None:
        return str(pod_claim["resourceClaimName"]), False
    if pod_claim.get("resourceClaimTemplateName") is None:
        raise ClaimError(f'pod "{pod.key}", spec.resourceClaim "{name}": none of the supported fields are set')
    for status in (pod.manifest.get("status") or _NOTHING).get("resourceClaimStatuses") or ():
        if status.get("name") == name:
            return status.get("resourceClaimName"), True
    raise ClaimError(f'pod "{pod.key}": ResourceClaim not created yet')


def check_owner(pod: Pod, claim: Manifest) -> None:
    """ClaimError unless the claim was created for the pod: same namespace, and the pod controls it.

    kube: resourceclaim.IsForPod
    """
    if not is_owned_by(claim, pod):
        metadata = claim["metadata"]
        raise ClaimError(
            f"ResourceClaim {metadata.get('namespace')}/{metadata.get('name')} was not created for pod {pod.key}"
            " (pod is not owner)"
        )


_CLAIMS: IdentityCache[ResourceClaim] = IdentityCache(8192)
