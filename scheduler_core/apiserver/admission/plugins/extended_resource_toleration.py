"""ExtendedResourceToleration: who asks for an extended resource tolerates the taint of the nodes that are kept for it. Off by default.

kube: plugin/pkg/admission/extendedresourcetoleration/admission.go @ v1.34.1
"""

from __future__ import annotations

from typing import Any

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.resources import is_extended_name
from scheduler_core.apiserver.admission.plugin import AdmissionPlugin, Request
from scheduler_core.apiserver.rewriting import with_section


class ExtendedResourceToleration(AdmissionPlugin):
    name = "ExtendedResourceToleration"
    on_by_default = False
    pods_by_spec = True

    def admit(self, request: Request, manifest: Manifest) -> Manifest:
        if request.kind.key != "Pod" or request.subresource:
            return manifest
        spec = manifest["spec"]
        own = spec.get("tolerations") or []
        tolerations = list(own)
        for name in _list_extended_resources(spec):
            tolerations = _with({"key": name, "operator": "Exists", "effect": "NoSchedule"}, tolerations)
        return manifest if tolerations == own else with_section(manifest, "spec", {"tolerations": tolerations})


def _list_extended_resources(spec: Manifest) -> list[str]:
    containers = (*(spec.get("containers") or ()), *(spec.get("initContainers") or ()))
    names = {
        name
        for each in containers
        for name in (each.get("resources") or {}).get("requests") or ()
        if is_extended_name(name)
    }
    return sorted(names)


def _with(added: dict[str, Any], tolerations: list[Any]) -> list[Any]:
    """The list with a toleration, in the place of those that are for the same taints."""
    alike = [_alike(added, each) for each in tolerations]
    if not any(alike):
        return [*tolerations, added]
    return [added if same else each for each, same in zip(tolerations, alike, strict=True)]


def _alike(one: Manifest, other: Manifest) -> bool:
    return all((one.get(name) or "") == (other.get(name) or "") for name in ("key", "effect", "operator", "value"))
