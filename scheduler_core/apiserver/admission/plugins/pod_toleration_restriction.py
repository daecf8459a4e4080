"""PodTolerationRestriction: tolerations that a namespace adds to its pods, and those it lets them have. Off by default.

A pod that is not best-effort tolerates memory pressure; without this plugin nobody adds that.

kube: plugin/pkg/admission/podtolerationrestriction/admission.go @ v1.34.1
"""

from __future__ import annotations

import json
from typing import Any

from scheduler_core.apimachinery.objects.demand import BEST_EFFORT, qos_class
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.admission.plugin import AdmissionPlugin, Request
from scheduler_core.apiserver.admission.plugins.tolerations import Toleration, merge_tolerations, within
from scheduler_core.apiserver.rewriting import with_section
from scheduler_core.apiserver.status import unknown_error

DEFAULTS = "scheduler.alpha.kubernetes.io/defaultTolerations"
ALLOWED = "scheduler.alpha.kubernetes.io/tolerationsWhitelist"
MEMORY_PRESSURE = {"key": "node.kubernetes.io/memory-pressure", "operator": "Exists", "effect": "NoSchedule"}
_CONFLICT = "pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist"


class PodTolerationRestriction(AdmissionPlugin):
    name = "PodTolerationRestriction"
    on_by_default = False
    pods_by_spec = True

    def admit(self, request: Request, manifest: Manifest) -> Manifest:
        if not _concerns(request):
            return manifest
        extra: list[Toleration] = []
        if request.operation == "CREATE":
            extra += _of_namespace(request, DEFAULTS)
        known = (manifest.get("status") or {}).get("qosClass") if request.old else None
        if (known or qos_class(manifest["spec"])) != BEST_EFFORT:
            extra.append(MEMORY_PRESSURE)
        if not extra:
            return manifest
        own = manifest["spec"].get("tolerations") or []
        tolerations = merge_tolerations(own, extra)
        return manifest if tolerations == own else with_section(manifest, "spec", {"tolerations": tolerations})

    def validate(self, request: Request, manifest: Manifest) -> None:
        if not _concerns(request):
            return
        own = manifest["spec"].get("tolerations") or []
        if own and not within(own, _of_namespace(request, ALLOWED)):
            raise unknown_error(_CONFLICT, request.what)


def _concerns(request: Request) -> bool:
    return request.kind.key == "Pod" and request.operation != "DELETE" and not request.subresource


def _of_namespace(request: Request, annotation: str) -> list[Toleration]:
    namespace = request.store.get("Namespace", "", request.namespace) or {"metadata": {}}
    text = (namespace["metadata"].get("annotations") or {}).get(annotation)
    try:
        listed: Any = json.loads(text) if text else []
    except ValueError as error:
        raise unknown_error(f"{annotation}: {error}", request.what) from error
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise unknown_error(f"{annotation}: expected a list of tolerations", request.what)
    return listed
