"""TaintNodesByCondition: a new node begins with the taint not-ready, so that no pod comes before the node's controller has looked at it.

A node that is said to be there already has been looked at.

kube: plugin/pkg/admission/nodetaint/admission.go @ v1.34.1
"""

from __future__ import annotations

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.admission.plugin import AdmissionPlugin, Request
from scheduler_core.apiserver.rewriting import with_section

TAINT = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}


class TaintNodesByCondition(AdmissionPlugin):
    name = "TaintNodesByCondition"

    def admit(self, request: Request, manifest: Manifest) -> Manifest:
        if request.kind.key != "Node" or request.operation != "CREATE" or request.imported:
            return manifest
        taints = (manifest.get("spec") or {}).get("taints") or []
        if any(all(taint.get(name) == value for name, value in TAINT.items()) for taint in taints):
            return manifest
        return with_section(manifest, "spec", {"taints": [*taints, dict(TAINT)]})
