"""Pod: a pod's manifest with the parts that the scheduler reads.

kube: framework/types.go (PodInfo) @ v1.34.1
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_core.apimachinery.objects import resources
from scheduler_core.apimachinery.objects.spec import COMPARISONS, HostPort, PodSpec, Toleration, normalize_image_name
from scheduler_core.apimachinery.objects.times import optional_time

CONTAINER_LISTS = ("initContainers", "containers", "ephemeralContainers")  # in the order that kube visits them
TERMINAL_PHASES = ("Succeeded", "Failed")


class Reading(enum.IntFlag):
    """The parts of a pod's requests that the scheduler reads besides its containers', by kube's gates.

    kube: framework/types.go (CalculateResource) @ v1.34.1
    """

    POD_LEVEL = 1  # PodLevelResources: spec.resources
    IN_PLACE = 2  # InPlacePodVerticalScaling: what status says of a resize
    ALL = 3
    COMPARE = 4  # TaintTolerationComparisonOperators: tolerations with Gt and Lt
    POD_IN_PLACE = 8  # InPlacePodLevelResourcesVerticalScaling: what status says of the pod as a whole
    WHOLE_SUMS = 16  # a resize counts the largest sum over the pod, as since 1.37


@dataclass(frozen=True, slots=True, eq=False)
class Pod:
    """A pod. Immutable; two Pods are equal only if they are the same object.

    Times are nanoseconds since 1970. `requests` and `nonzero` come from the spec, or for a running pod whose status reports resources
    (in-place resize) from both, as `reading` says. `node_name` and `nominated_node_name` are "" if unset.
    """

    manifest: Mapping[str, Any]
    namespace: str
    name: str
    key: str
    uid: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    spec: PodSpec
    node_name: str
    phase: str
    nominated_node_name: str
    deleting: bool
    start_time: int | None
    creation_time: int | None
    priority: int
    requests: resources.Resources
    nonzero: tuple[int, int]
    reading: Reading = Reading.ALL

    @classmethod
    def from_manifest(cls, manifest: Mapping[str, Any], like: Pod | None = None, reading: Reading = Reading.ALL) -> Pod:
        """Create a pod from a valid manifest (see scheduler_core.apiserver.validation).

        `like` is the pod before a change that left its spec alone (nodeName excepted); the new pod is read as
        `like` was.
        """
        metadata = manifest.get("metadata") or {}
        raw = manifest.get("spec") or {}
        status = manifest.get("status") or {}
        if like is not None:
            spec, reading = like.spec, like.reading
        else:
            spec = PodSpec.of(_read(raw, reading))
        namespace, name = metadata.get("namespace") or "default", metadata.get("name") or ""
        requests, nonzero = _amounts(spec, status, reading)
        return cls(
            manifest,
            namespace,
            name,
            f"{namespace}/{name}",
            metadata.get("uid") or "",
            metadata.get("labels") or {},
            metadata.get("annotations") or {},
            spec,
            raw.get("nodeName") or "",
            status.get("phase") or "Pending",
            status.get("nominatedNodeName") or "",
            bool(metadata.get("deletionTimestamp")),
            optional_time(status.get("startTime")),
            optional_time(metadata.get("creationTimestamp")),
            spec.priority,
            requests,
            nonzero,
            reading,
        )

    def bound_to(self, node_name: str) -> Pod:
        """Return the pod with spec.nodeName set, as the cache assumes it. Everything else is shared."""
        manifest = dict(self.manifest)
        manifest["spec"] = {**manifest["spec"], "nodeName": node_name}
        return Pod(
            manifest,
            self.namespace,
            self.name,
            self.key,
            self.uid,
            self.labels,
            self.annotations,
            self.spec,
            node_name,
            self.phase,
            self.nominated_node_name,
            self.deleting,
            self.start_time,
            self.creation_time,
            self.priority,
            self.requests,
            self.nonzero,
            self.reading,
        )

    @property
    def identity(self) -> str:
        """The uid, or the key if there is no uid (outside of a store). Distinguishes the pod from a former pod of the same name."""
        return self.uid or self.key

    @property
    def terminal(self) -> bool:
        """True if the pod has ended. The scheduler ignores such a pod."""
        return self.phase in TERMINAL_PHASES

    @property
    def container_statuses(self) -> tuple[Mapping[str, Any], ...]:
        """The statuses of init containers and containers, in this order."""
        return list_container_statuses(self.manifest)

    @property
    def conditions(self) -> tuple[Mapping[str, Any], ...]:
        return tuple((self.manifest.get("status") or {}).get("conditions") or ())

    def condition(self, kind: str) -> Mapping[str, Any] | None:
        """Return the condition of a type, such as PodScheduled, or None."""
        for condition in self.conditions:
            if condition.get("type") == kind:
                return condition
        return None

    @property
    def ready(self) -> bool:
        """True if the pod's Ready condition is true."""
        condition = self.condition("Ready")
        return condition is not None and condition.get("status") == "True"


def whole_requests(pod: Pod) -> resources.Resources:
    """Return the requests including pod-level requests, even if `reading` leaves these out. kube compares such requests to detect that a
    pod was scaled down.

    kube: framework/events.go extractPodScaleDown, plugins/noderesources/fit.go isSchedulableAfterPodScaleDown
    """
    if "resources" not in pod.manifest["spec"] or Reading.POD_LEVEL in pod.reading:
        return pod.requests
    return Pod.from_manifest(pod.manifest, None, pod.reading | Reading.POD_LEVEL).requests


def _read(spec: Mapping[str, Any], reading: Reading) -> Mapping[str, Any]:
    """Return the part of a pod's spec that is read."""
    if "resources" in spec and Reading.POD_LEVEL not in reading:
        spec = {name: value for name, value in spec.items() if name != "resources"}
    tolerations = spec.get("tolerations") or ()
    if Reading.COMPARE not in reading and any(each.get("operator") in COMPARISONS for each in tolerations):
        spec = {**spec, "tolerations": [each for each in tolerations if each.get("operator") not in COMPARISONS]}
    return spec


_RESIZED = ("containerStatuses", "initContainerStatuses", "resources", "allocatedResources")


def _amounts(spec: PodSpec, status: Mapping[str, Any], reading: Reading) -> tuple[resources.Resources, tuple[int, int]]:
    if Reading.IN_PLACE not in reading or not (
        any(map(status.get, _RESIZED)) or (Reading.WHOLE_SUMS in reading and resources.is_resize_infeasible(status))
    ):
        return spec.requests, spec.nonzero
    if reading & (Reading.POD_IN_PLACE | Reading.WHOLE_SUMS):
        resizes = resources.Resizes(status, Reading.POD_IN_PLACE in reading, Reading.WHOLE_SUMS in reading)
        return resources.resized_requests(spec.manifest, resizes), resources.resized_nonzero(spec.manifest, resizes)
    actual = resources.collect_resized_requests(spec.manifest, status)
    if actual is None:
        return spec.requests, spec.nonzero
    requests = resources.Resources.of_nanos(resources.pod_request_nanos(spec.manifest, non_missing={}, actual=actual))
    return requests, resources.nonzero_requests(spec.manifest, actual)


__all__ = ["TERMINAL_PHASES", "HostPort", "Pod", "PodSpec", "Reading", "Toleration", "normalize_image_name"]
__all__ += ["whole_requests"]


def list_container_statuses(pod: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """Return the statuses of a pod's init containers and containers, in this order."""
    status = pod.get("status") or {}
    return (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ()))
