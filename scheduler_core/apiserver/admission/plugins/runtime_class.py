"""RuntimeClass: a pod gets the overhead, the node selector and the tolerations of the class that it names.

kube: plugin/pkg/admission/runtimeclass/admission.go @ v1.34.1
"""

from __future__ import annotations

from typing import Any

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.quantity import nanos
from scheduler_core.apiserver.admission.plugin import AdmissionPlugin, Request
from scheduler_core.apiserver.admission.plugins.tolerations import merge_tolerations
from scheduler_core.apiserver.rewriting import with_section

_MISMATCH = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
_WITHOUT = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"


class RuntimeClass(AdmissionPlugin):
    name = "RuntimeClass"
    pods_by_spec = True

    def admit(self, request: Request, manifest: Manifest) -> Manifest:
        if not _concerns(request):
            return manifest
        found = _class_of(request, manifest["spec"])
        if found is None:
            return manifest
        changes = {**_overhead(request, manifest["spec"], found), **_scheduling(request, manifest["spec"], found)}
        return with_section(manifest, "spec", changes) if changes else manifest

    def validate(self, request: Request, manifest: Manifest) -> None:
        if not _concerns(request):
            return
        found = _class_of(request, manifest["spec"])
        given = manifest["spec"].get("overhead")
        if found is not None and found.get("overhead") is not None:
            if not _equal(found["overhead"].get("podFixed"), given):
                raise request.refuse(_MISMATCH)
        elif given is not None:
            raise request.refuse(_WITHOUT)


def _concerns(request: Request) -> bool:
    return request.kind.key == "Pod" and request.operation == "CREATE" and not request.subresource


def _class_of(request: Request, spec: Manifest) -> Manifest | None:
    name = spec.get("runtimeClassName")
    if name is None:
        return None
    found = request.store.get("RuntimeClass", "", name)
    if found is None:
        raise request.refuse(f'pod rejected: RuntimeClass "{name}" not found')
    return found


def _overhead(request: Request, spec: Manifest, found: Manifest) -> dict[str, Any]:
    if found.get("overhead") is None:
        return {}
    fixed = found["overhead"].get("podFixed")
    if spec.get("overhead") and not _equal(fixed, spec["overhead"]):
        raise request.refuse(_MISMATCH)
    return {"overhead": fixed} if fixed and not spec.get("overhead") else {}


def _scheduling(request: Request, spec: Manifest, found: Manifest) -> dict[str, Any]:
    scheduling = found.get("scheduling")
    if scheduling is None:
        return {}
    own = spec.get("nodeSelector") or {}
    wanted = scheduling.get("nodeSelector") or {}
    for key, value in wanted.items():
        if own.get(key, value) != value:
            theirs = f"runtimeClass.scheduling.nodeSelector[{key}] = {value}"
            raise request.refuse(f"conflict: {theirs}; pod.spec.nodeSelector[{key}] = {own[key]}")
    tolerations = merge_tolerations(spec.get("tolerations") or (), scheduling.get("tolerations") or ())
    changes = {"nodeSelector": {**own, **wanted}, "tolerations": tolerations}
    return {name: value for name, value in changes.items() if value}


def _equal(one: Manifest | None, other: Manifest | None) -> bool:
    """Return whether two resource lists have the same amounts."""
    return _amounts(one) == _amounts(other)


def _amounts(resources: Manifest | None) -> dict[str, int]:
    return {name: nanos(quantity) for name, quantity in (resources or {}).items()}
