"""Small admission plugins. NamespaceLifecycle and PodTopologyLabels are on by default, the others are off.

kube: plugin/pkg/admission/{admit,deny,namespace/exists,alwayspullimages,network/denyserviceexternalips}/admission.go @ v1.34.1
"""

from typing import Any

from scheduler_core.apimachinery.objects import CONTAINER_LISTS, REQUIRED, Manifest
from scheduler_core.apimachinery.objects.names import label_value_errors, list_qualified_name_errors
from scheduler_core.apiserver.admission.plugin import AdmissionPlugin, Request
from scheduler_core.apiserver.rewriting import with_section
from scheduler_core.apiserver.status import Refused, forbidden, not_found, unknown_error
from scheduler_core.apiserver.store import Store

# NamespaceLifecycle: refuses objects in missing or terminating namespaces, and the deletion of kube's own namespaces.
# kube: apiserver/pkg/admission/plugin/namespace/lifecycle/admission.go @ v1.34.1

IMMORTAL = ("default", "kube-system", "kube-public")


class NamespaceLifecycle(AdmissionPlugin):
    name = "NamespaceLifecycle"
    pods_by_spec = True
    of_restored = True

    def admit(self, request: Request, manifest: Manifest) -> Manifest:
        if request.kind.key == "Namespace" or not request.namespace:
            return manifest
        namespace = request.store.get("Namespace", "", request.namespace)
        if namespace is None:
            raise Refused.because(not_found("namespaces", request.namespace), request.what)
        terminating = (namespace.get("status") or {}).get("phase") == "Terminating"
        if request.operation == "CREATE" and terminating:
            why = f"unable to create new content in namespace {request.namespace} because it is being terminated"
            raise request.refuse(why, (f"namespace {request.namespace} is being terminated",))
        return manifest

    def validate(self, request: Request, manifest: Manifest) -> None:
        if request.operation == "DELETE" and request.kind.key == "Namespace" and request.name in IMMORTAL:
            answer = forbidden("namespaces", request.name, "this namespace may not be deleted")
            raise Refused.because(answer, request.what)


# LimitPodHardAntiAffinityTopology: required anti-affinity may only keep pods off the same node. Off by default.
# kube: plugin/pkg/admission/antiaffinity/admission.go @ v1.34.1

HOSTNAME = "kubernetes.io/hostname"


class LimitPodHardAntiAffinityTopology(AdmissionPlugin):
    name = "LimitPodHardAntiAffinityTopology"
    on_by_default = False
    pods_by_spec = True

    def validate(self, request: Request, manifest: Manifest) -> None:
        if not request.writes_pod:
            return
        anti = (manifest["spec"].get("affinity") or {}).get("podAntiAffinity") or {}
        for term in anti.get(REQUIRED) or ():
            key = term.get("topologyKey") or ""
            if key != HOSTNAME:
                where = "affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey"
                raise request.refuse(f"{where} {key} but only key {HOSTNAME} is allowed")


# PodNodeSelector: adds a namespace's node selector to its pods, and limits their own selectors. Off by default.
#
# Settings: podNodeSelectorPluginConfig (clusterDefaultNodeSelector, and the allowed selectors of pods by namespace).
# kube: plugin/pkg/admission/podnodeselector/admission.go @ v1.34.1

ANNOTATION = "scheduler.alpha.kubernetes.io/node-selector"
_CLUSTER_DEFAULT = "clusterDefaultNodeSelector"
_CONFLICT = "pod node label selector conflicts with its namespace node label selector"


class PodNodeSelector(AdmissionPlugin):
    name = "PodNodeSelector"
    on_by_default = False
    pods_by_spec = True

    def admit(self, request: Request, manifest: Manifest) -> Manifest:
        if not request.makes_pod:
            return manifest
        # The namespace's node selector, else the cluster's default.
        namespace = request.store.get("Namespace", "", request.namespace) or {"metadata": {}}
        text = (namespace["metadata"].get("annotations") or {}).get(ANNOTATION)
        if text is None:
            text = request.options.pod_node_selector.get(_CLUSTER_DEFAULT, "")
        wanted = _labels(request, text)
        own = manifest["spec"].get("nodeSelector") or {}
        if any(own.get(key, value) != value for key, value in wanted.items()):
            raise request.refuse(_CONFLICT)
        if all(key in own for key in wanted):
            return manifest
        return with_section(manifest, "spec", {"nodeSelector": {**wanted, **own}})

    def validate(self, request: Request, manifest: Manifest) -> None:
        if not request.makes_pod:
            return
        allowed = _labels(request, request.options.pod_node_selector.get(request.namespace, ""))
        own = manifest["spec"].get("nodeSelector") or {}
        if allowed and any(allowed.get(key) != value for key, value in own.items()):
            raise request.refuse("pod node label selector labels conflict with its namespace whitelist")


def _labels(request: Request, text: str) -> dict[str, str]:
    """Parse labels such as "a=b,c=d"."""
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


class AlwaysAdmit(AdmissionPlugin):
    """A plugin that admits all requests unchanged."""

    name = "AlwaysAdmit"
    on_by_default = False
    pods_by_spec = True


class AlwaysDeny(AdmissionPlugin):
    """A plugin that refuses all writes."""

    name = "AlwaysDeny"
    on_by_default = False

    def admit(self, request: Request, manifest: Manifest) -> Manifest:
        raise request.refuse("admission control is denying all modifications")

    def validate(self, request: Request, manifest: Manifest) -> None:
        raise request.refuse("admission control is denying all modifications")


class NamespaceExists(AdmissionPlugin):
    """A plugin that refuses writes and deletions of objects in namespaces that do not exist."""

    name = "NamespaceExists"
    on_by_default = False
    pods_by_spec = True
    of_restored = True

    def validate(self, request: Request, manifest: Manifest) -> None:
        name = request.namespace
        if name and request.kind.key != "Namespace" and request.store.get("Namespace", "", name) is None:
            raise Refused.because(not_found("namespaces", name), request.what)


class AlwaysPullImages(AdmissionPlugin):
    """A plugin that sets imagePullPolicy to Always for all images of a new pod, or of a pod with new images."""

    name = "AlwaysPullImages"
    on_by_default = False
    pods_by_spec = True

    def admit(self, request: Request, manifest: Manifest) -> Manifest:
        if not request.writes_pod or not _new_images(request, manifest):
            return manifest
        spec = manifest["spec"]
        changes: dict[str, Any] = {
            field: [{**each, "imagePullPolicy": "Always"} for each in spec[field]]
            for field in CONTAINER_LISTS
            if spec.get(field)
        }
        if any(volume.get("image") for volume in spec.get("volumes") or ()):
            changes["volumes"] = [_set_pull_policy(volume) for volume in spec["volumes"]]
        return with_section(manifest, "spec", changes)


class DenyServiceExternalIPs(AdmissionPlugin):
    """A plugin that refuses new external addresses of Services."""

    name = "DenyServiceExternalIPs"
    on_by_default = False

    def validate(self, request: Request, manifest: Manifest) -> None:
        if request.kind.key != "Service" or request.operation == "DELETE" or request.subresource:
            return
        known = ((request.old or {}).get("spec") or {}).get("externalIPs") or ()
        given = (manifest.get("spec") or {}).get("externalIPs") or ()
        if any(address not in known for address in given):
            raise request.refuse("Use of external IPs is denied by admission control")


def _new_images(request: Request, manifest: Manifest) -> bool:
    if request.old is None:
        return True
    known = _images(request.old)
    return any(image not in known for image in _images(manifest))


def _images(pod: Manifest) -> list[Any]:
    return [each.get("image") for field in CONTAINER_LISTS for each in pod["spec"].get(field) or ()]


def _set_pull_policy(volume: Manifest) -> Manifest:
    return {**volume, "image": {**volume["image"], "pullPolicy": "Always"}} if volume.get("image") else volume


# PodTopologyLabels: copies the zone and the region of a pod's node to the pod's labels. A release turned its gate on.
# kube: plugin/pkg/admission/podtopologylabels/admission.go, pkg/registry/core/pod/storage/storage.go @ v1.37.2

_COPIED = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")


def labels_at(store: Store, node: str) -> dict[str, str]:
    """Return the labels that a pod gets from its node; none if the node does not exist."""
    found = store.get("Node", "", node)
    labels = {} if found is None else found["metadata"].get("labels") or {}
    return {name: labels[name] for name in _COPIED if name in labels}


class PodTopologyLabels(AdmissionPlugin):
    name = "PodTopologyLabels"

    def admit(self, request: Request, manifest: Manifest) -> Manifest:
        # A pod of a dump keeps the labels of its own cluster.
        if request.kind.key != "Pod" or request.operation != "CREATE" or request.imported:
            return manifest
        node = manifest["spec"].get("nodeName") if request.topology_labels else None
        copied = labels_at(request.store, node) if node else {}
        labels = {**(manifest["metadata"].get("labels") or {}), **copied}
        return with_section(manifest, "metadata", {"labels": labels}) if copied else manifest
