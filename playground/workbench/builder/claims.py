"""Claims for devices, templates for claims, and pods that use them."""

from collections.abc import Mapping, Sequence
from typing import Any

from playground.workbench.builder.devices import API
from playground.workbench.builder.pods import pod_manifests
from scheduler_core.apimachinery.objects.manifest import MutableManifest

REQUEST = ENTRY = "devices"


def claim_manifests(
    *,
    name: str,
    namespace: str = "default",
    shared: bool = False,
    device_class: str = "gpu.example.com",
    count: int | None = 1,
    selectors: Sequence[str] = (),
    match_attribute: str = "",
    capacity: Mapping[str, str] | None = None,
    tolerations: Sequence[Mapping[str, Any]] = (),
    admin: bool = False,
    pods: int = 1,
    pod_name: str = "",
    first: int = 1,
    requests: Mapping[str, str] | None = None,
) -> list[MutableManifest]:
    """A template with `pods` pods that each get a claim of their own; `shared`: one claim that all of them use.

    `count` None: all devices that match. Raises PatternError.
    """
    exactly: MutableManifest = {"deviceClassName": device_class}
    if selectors:
        exactly["selectors"] = [{"cel": {"expression": text}} for text in selectors]
    if count is None:
        exactly["allocationMode"] = "All"
    elif count != 1:
        exactly["count"] = count
    if admin:
        exactly["adminAccess"] = True
    if tolerations:
        exactly["tolerations"] = [dict(each) for each in tolerations]
    if capacity:
        exactly["capacity"] = {"requests": dict(capacity)}
    devices: MutableManifest = {"requests": [{"name": REQUEST, "exactly": exactly}]}
    if match_attribute:
        devices["constraints"] = [{"matchAttribute": match_attribute}]
    kind, spec = (
        ("ResourceClaim", {"devices": devices}) if shared else ("ResourceClaimTemplate", {"spec": {"devices": devices}})
    )
    claim: MutableManifest = {
        "apiVersion": API,
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    }
    field = "resourceClaimName" if shared else "resourceClaimTemplateName"
    entry = {"name": ENTRY, field: name}
    pattern = pod_name or f"{name}-{{i}}"
    made = (
        []
        if not pods
        else pod_manifests(replicas=pods, name=pattern, first=first, namespace=namespace, requests=requests or {})
    )
    return [claim, *(_using(pod, entry) for pod in made)]


def _using(pod: MutableManifest, entry: MutableManifest) -> MutableManifest:
    """A pod whose container uses the claim."""
    spec = dict(pod["spec"])
    containers = [dict(each) for each in spec["containers"]]
    resources = dict(containers[0].get("resources") or {})
    containers[0]["resources"] = {**resources, "claims": [{"name": entry["name"]}]}
    return {**pod, "spec": {**spec, "containers": containers, "resourceClaims": [entry]}}
