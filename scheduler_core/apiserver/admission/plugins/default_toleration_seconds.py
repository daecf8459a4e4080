"""DefaultTolerationSeconds: a pod stays a while on a node that is not ready or unreachable, unless it says something of it itself.

kube: plugin/pkg/admission/defaulttolerationseconds/admission.go @ v1.34.1
"""

from __future__ import annotations

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.admission.plugin import AdmissionPlugin, Request
from scheduler_core.apiserver.rewriting import with_section

NOT_READY, UNREACHABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"


class DefaultTolerationSeconds(AdmissionPlugin):
    name = "DefaultTolerationSeconds"
    pods_by_spec = True

    def admit(self, request: Request, manifest: Manifest) -> Manifest:
        if request.kind.key != "Pod" or request.subresource:
            return manifest
        tolerations = manifest["spec"].get("tolerations") or []
        seconds = {
            NOT_READY: request.options.not_ready_toleration_seconds,
            UNREACHABLE: request.options.unreachable_toleration_seconds,
        }
        added = [
            {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds[key]}
            for key in seconds
            if not any(_covers(toleration, key) for toleration in tolerations)
        ]
        return with_section(manifest, "spec", {"tolerations": [*tolerations, *added]}) if added else manifest


def _covers(toleration: Manifest, key: str) -> bool:
    return (toleration.get("key") or key) == key and (toleration.get("effect") or "NoExecute") == "NoExecute"
