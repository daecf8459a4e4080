"""RuntimeClass: adds the overhead, node selector, and tolerations of a pod's RuntimeClass to the pod.

kube: plugin/pkg/admission/runtimeclass/admission.go @ v1.34.1
"""

from typing import Any

from scheduler_core.apimachinery.objects import Manifest
from scheduler_core.apimachinery.objects.resources import nanos_of
from scheduler_core.apiserver.admission.plugin import AdmissionPlugin, Request
from scheduler_core.apiserver.admission.plugins.tolerations import merge_tolerations
from scheduler_core.apiserver.rewriting import with_section

# Priority: a pod's priorityClassName sets its priority and preemption policy; at most one class is the global default.
# kube: plugin/pkg/admission/priority/admission.go @ v1.34.1

PREEMPT = "PreemptLowerPriority"
_PRIORITY = (
    "the integer value of priority (%d) must not be provided in pod spec; "
    "priority admission controller computed %d from the given PriorityClass name"
)
_POLICY = (
    "the string value of PreemptionPolicy (%s) must not be provided in pod spec; "
    "priority admission controller computed %s from the given PriorityClass name"
)


class Priority(AdmissionPlugin):
    name = "Priority"
    pods_by_spec = True

    def admit(self, request: Request, manifest: Manifest) -> Manifest:
        if request.kind.key not in ("Pod", "PodGroup") or request.subresource:
            return manifest
        spec = manifest.get("spec") or {}
        if request.old is not None:
            # An update without both fields keeps both.
            old = request.old.get("spec") or {}
            spec = manifest["spec"]
            kept = {
                name: old[name]
                for name in ("priority", "preemptionPolicy")
                if spec.get(name) is None and old.get(name) is not None
            }
            return with_section(manifest, "spec", kept) if kept else manifest
        resolved = _resolve_priority(request, spec)
        if request.kind.key == "PodGroup":  # its policy depends on a gate
            del resolved["preemptionPolicy"]
        return (
            manifest
            if all(spec.get(name) == value for name, value in resolved.items())
            else (with_section(manifest, "spec", resolved))
        )

    def validate(self, request: Request, manifest: Manifest) -> None:
        if request.kind.key != "PriorityClass" or request.operation == "DELETE":
            return
        default = _default_class(request) if manifest.get("globalDefault") else None
        if default is None:
            return
        name = default["metadata"]["name"]
        if request.operation == "CREATE" or name != request.name:
            raise request.refuse(f"PriorityClass {name} is already marked as default. Only one default can exist")


def _resolve_priority(request: Request, spec: Manifest) -> dict[str, Any]:
    """Return a pod's class name, priority, and policy. Raise Refused if the pod sets other values.

    DEVIATION: an imported pod with a priority and without a known class keeps its priority, because a dump of pods alone names classes
    that it does not contain.
    """
    name = spec.get("priorityClassName") or ""
    if _of_another_cluster(request, spec):
        return {"priority": spec["priority"], "preemptionPolicy": spec.get("preemptionPolicy") or PREEMPT}
    found = request.store.get("PriorityClass", "", name) if name else _default_class(request)
    if name and found is None:
        raise request.refuse(f"no PriorityClass with name {name} was found")
    value, policy = 0, PREEMPT
    if found is not None:
        value, policy = int(found.get("value") or 0), str(found.get("preemptionPolicy") or PREEMPT)
        name = found["metadata"]["name"]
    if spec.get("priority") not in (None, value):
        raise request.refuse(_PRIORITY % (spec["priority"], value))
    if spec.get("preemptionPolicy") not in (None, "", policy):
        raise request.refuse(_POLICY % (spec["preemptionPolicy"], policy))
    resolved: dict[str, Any] = {"priority": value, "preemptionPolicy": policy}
    return {"priorityClassName": name, **resolved} if name else resolved


def _of_another_cluster(request: Request, spec: Manifest) -> bool:
    if not request.imported or spec.get("priority") is None:
        return False
    name = spec.get("priorityClassName")
    return not name or request.store.get("PriorityClass", "", name) is None


def _default_class(request: Request) -> Manifest | None:
    """Return the global default class, or None; if a race left several, the one with the lowest value."""
    defaults = [each for each in request.store.list("PriorityClass") if each.get("globalDefault")]
    return min(defaults, key=lambda each: int(each.get("value") or 0), default=None)


_MISMATCH = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
_WITHOUT = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"


class RuntimeClass(AdmissionPlugin):
    name = "RuntimeClass"
    pods_by_spec = True

    def admit(self, request: Request, manifest: Manifest) -> Manifest:
        if not request.makes_pod:
            return manifest
        found = _class_of(request, manifest["spec"])
        if found is None:
            return manifest
        changes = {**_overhead(request, manifest["spec"], found), **_scheduling(request, manifest["spec"], found)}
        return with_section(manifest, "spec", changes) if changes else manifest

    def validate(self, request: Request, manifest: Manifest) -> None:
        if not request.makes_pod:
            return
        found = _class_of(request, manifest["spec"])
        given = manifest["spec"].get("overhead")
        if found is not None and found.get("overhead") is not None:
            if nanos_of(found["overhead"].get("podFixed")) != nanos_of(given):
                raise request.refuse(_MISMATCH)
        elif given is not None:
            raise request.refuse(_WITHOUT)


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
    if spec.get("overhead") and nanos_of(fixed) != nanos_of(spec["overhead"]):
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
