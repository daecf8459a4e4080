"""PodNodeSelector: a namespace's node selector is added to its pods', and may bound it. Off by default.

Settings: podNodeSelectorPluginConfig (clusterDefaultNodeSelector, and by namespace what its pods may ask for).

kube: plugin/pkg/admission/podnodeselector/admission.go @ v1.34.1
"""

from __future__ import annotations

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.names import label_value_errors, list_qualified_name_errors
from scheduler_core.apiserver.admission.plugin import AdmissionPlugin, Request
from scheduler_core.apiserver.rewriting import with_section
from scheduler_core.apiserver.status import unknown_error

ANNOTATION = "scheduler.alpha.kubernetes.io/node-selector"
_CLUSTER_DEFAULT = "clusterDefaultNodeSelector"
_CONFLICT = "pod node label selector conflicts with its namespace node label selector"


class PodNodeSelector(AdmissionPlugin):
    name = "PodNodeSelector"
    on_by_default = False
    pods_by_spec = True

    def admit(self, request: Request, manifest: Manifest) -> Manifest:
        if not _concerns(request):
            return manifest
        wanted = _namespace_selector(request)
        own = manifest["spec"].get("nodeSelector") or {}
        if any(own.get(key, value) != value for key, value in wanted.items()):
            raise request.refuse(_CONFLICT)
        if all(key in own for key in wanted):
            return manifest
        return with_section(manifest, "spec", {"nodeSelector": {**wanted, **own}})

    def validate(self, request: Request, manifest: Manifest) -> None:
        if not _concerns(request):
            return
        allowed = _labels(request, request.options.pod_node_selector.get(request.namespace, ""))
        own = manifest["spec"].get("nodeSelector") or {}
        if allowed and any(allowed.get(key) != value for key, value in own.items()):
            raise request.refuse("pod node label selector labels conflict with its namespace whitelist")


def _concerns(request: Request) -> bool:
    return request.kind.key == "Pod" and request.operation == "CREATE" and not request.subresource


def _namespace_selector(request: Request) -> dict[str, str]:
    """Return the namespace's node selector, else the cluster's default."""
    namespace = request.store.get("Namespace", "", request.namespace) or {"metadata": {}}
    text = (namespace["metadata"].get("annotations") or {}).get(ANNOTATION)
    if text is None:
        text = request.options.pod_node_selector.get(_CLUSTER_DEFAULT, "")
    return _labels(request, text)


def _labels(request: Request, text: str) -> dict[str, str]:
    """Labels of "a=b,c=d"."""
    labels: dict[str, str] = {}
    for part in text.split(",") if text else ():
        pieces = part.split("=")
        if len(pieces) != 2:
            raise unknown_error(f"invalid selector: [{' '.join(pieces)}]", request.what)
        key, value = (piece.strip() for piece in pieces)
        for problem in (*list_qualified_name_errors(key), *label_value_errors(value)):
            raise unknown_error(f'Invalid value: "{part}": {problem}', request.what)
        labels[key] = value
    return labels
