"""LimitPodHardAntiAffinityTopology: required anti-affinity may only keep pods off the same node. Off by default.

kube: plugin/pkg/admission/antiaffinity/admission.go @ v1.34.1
"""

from __future__ import annotations

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.admission.plugin import AdmissionPlugin, Request

HOSTNAME = "kubernetes.io/hostname"


class LimitPodHardAntiAffinityTopology(AdmissionPlugin):
    name = "LimitPodHardAntiAffinityTopology"
    on_by_default = False
    pods_by_spec = True

    def validate(self, request: Request, manifest: Manifest) -> None:
        if request.kind.key != "Pod" or request.subresource or request.operation == "DELETE":
            return
        anti = (manifest["spec"].get("affinity") or {}).get("podAntiAffinity") or {}
        for term in anti.get("requiredDuringSchedulingIgnoredDuringExecution") or ():
            key = term.get("topologyKey") or ""
            if key != HOSTNAME:
                where = "affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey"
                raise request.refuse(f"{where} {key} but only key {HOSTNAME} is allowed")
