"""Extended resources that devices provide: a DeviceClass maps the name, and a special claim requests the devices.

The claim exists only in memory, under a name that no object can have, until PreBind creates the claim. Its requests differ by node: a
node that has the resource in its allocatable serves the resource without devices.

kube: plugins/dynamicresources/{dynamicresources.go,extended/util.go} @ v1.34.1
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_core.apimachinery.objects import Manifest, Node, Pod, controller_reference, is_extended_name, nanos

IN_MEMORY = "<extended-resources>"
ANNOTATION = "resource.kubernetes.io/extended-resource-claim"


@dataclass(frozen=True, slots=True)
class ExtendedRequests:
    """The part of a pod's requests that devices may serve: amounts by resource, and classes by resource."""

    amounts: tuple[tuple[str, int], ...]
    classes: tuple[tuple[str, str], ...]

    @property
    def served(self) -> tuple[tuple[str, int], ...]:
        """The amounts of resources that a class provides."""
        names = dict(self.classes)
        return tuple((name, amount) for name, amount in self.amounts if amount and name in names)


@dataclass(frozen=True, slots=True)
class NodeShare:
    """The devices' share on a node. `refused`: a resource has no source. `requests`: those of the special claim; None: no claim."""

    refused: bool = False
    requests: tuple[Manifest, ...] | None = None


def find_wanted_resources(pod: Pod, classes: Mapping[str, str]) -> ExtendedRequests | None:
    """Return the extended resources that the pod requests, or None if no class provides any of them."""
    scalar = pod.spec.requests.scalar
    if not any(amount and is_extended_name(name) and name in classes for name, amount in scalar):
        return None
    return ExtendedRequests(scalar, tuple(sorted(classes.items())))


def existing_claim(pod: Pod, claims: Iterable[Manifest]) -> Manifest | None:
    """Return the pod's special claim from an earlier cycle, or None. kube: findExtendedResourceClaim"""
    for claim in claims:
        metadata = claim["metadata"]
        if (metadata.get("annotations") or {}).get(ANNOTATION) == "true":
            owners = metadata.get("ownerReferences") or ()
            if any(
                owner.get("name") == pod.name and owner.get("controller") and owner.get("uid") == pod.uid
                for owner in owners
            ):
                return claim
    return None


def new_claim(pod: Pod) -> Manifest:
    """Build the special claim in memory; no object has its UID."""
    owner = controller_reference("v1", "Pod", pod.name, pod.uid)
    metadata = {
        "namespace": pod.namespace,
        "name": IN_MEMORY,
        "uid": f"{IN_MEMORY}/{pod.uid}",
        "generateName": f"{pod.name}-extended-resources-",
        "ownerReferences": [owner],
        "annotations": {ANNOTATION: "true"},
    }
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": metadata, "spec": {}}


def is_in_memory(claim: Manifest) -> bool:
    return bool(claim["metadata"]["name"] == IN_MEMORY)


def share_of(node: Node, pod: Pod, want: ExtendedRequests, alone: bool) -> NodeShare:
    """Return the requests that devices of the node must serve. `alone`: the pod has no other claims. kube: filterExtendedResources"""
    scalar, classes = dict(node.allocatable.scalar), dict(want.classes)
    amounts: dict[str, int] = {}
    for name, amount in want.amounts:
        if not amount or not is_extended_name(name):
            continue
        if name in classes:
            amounts[name] = 0 if name in scalar else amount
        elif name not in scalar:
            return NodeShare(refused=True)
    if alone and not any(amounts.values()):
        return NodeShare()
    return NodeShare(requests=tuple(device_requests(pod, amounts, classes)))


def containers_of(pod: Pod) -> list[Manifest]:
    spec = pod.manifest.get("spec") or {}
    return [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]


def request_name(container: int, resource: str, requests: Mapping[str, Any]) -> str:
    """Return the request's name: the container, and the resource's index among the container's requests sorted by name."""
    return f"container-{container}-request-{sorted(requests).index(resource)}"


def device_requests(pod: Pod, amounts: Mapping[str, int], classes: Mapping[str, str]) -> Iterator[Manifest]:
    """Yield a request for each container's part of each resource. kube: createDeviceRequests"""
    for resource in amounts:
        for i, container in enumerate(containers_of(pod)):
            requests = (container.get("resources") or {}).get("requests") or {}
            if resource not in requests or not classes.get(resource):
                continue
            count, rest = divmod(nanos(requests[resource]), 10**9)
            if rest or not count:
                continue
            exactly = {"deviceClassName": classes[resource], "allocationMode": "ExactCount", "count": count}
            yield {"name": request_name(i, resource, requests), "exactly": exactly}


def request_mappings(claim: Manifest, pod: Pod) -> list[Manifest]:
    """Return the mapping from containers' resources to requests. kube: createRequestMappings"""
    asked = [request["name"] for request in claim["spec"]["devices"].get("requests") or ()]
    mappings: list[Manifest] = []
    for i, container in enumerate(containers_of(pod)):
        requests = (container.get("resources") or {}).get("requests") or {}
        for resource in sorted(requests):
            name = request_name(i, resource, requests)
            mappings += [
                {"containerName": container.get("name") or "", "resourceName": resource, "requestName": each}
                for each in asked
                if each == name
            ]
    return mappings
