"""NodeRestriction: a kubelet writes its own node and lease, mirror pods, and the status of the pods that are bound to it. Off by default.

kube: plugin/pkg/admission/noderestriction/admission.go, kubelet/pkg/apis/well_known_labels.go @ v1.34.1
"""

from collections.abc import Callable, Mapping
from typing import Any

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.admission.plugin import AdmissionPlugin, Request
from scheduler_core.apiserver.rewriting import with_section
from scheduler_core.apiserver.status import Refused, not_found
from scheduler_core.apiserver.validation.devices.pods import MIRROR, is_mirror

# Whether a pod refers to objects of the API: a mirror pod must not.
# kube: pkg/api/pod/util.go (HasAPIObjectReference, VisitPodSecretNames, VisitPodConfigmapNames) @ v1.34.1

Spec = Mapping[str, Any]
_OF_VOLUMES = {
    "configMap": "configmaps (via configmap volumes)",
    "secret": "secrets (via secret volumes)",
    "csi": "csidrivers (via CSI volumes)",
    "glusterfs": "endpoints (via glusterFS volumes)",
    "persistentVolumeClaim": "persistentvolumeclaims",
    "ephemeral": "persistentvolumeclaims (via ephemeral volumes)",
    "azureFile": "secrets (via azureFile volumes)",
}
_OF_PROJECTIONS = {
    "configMap": "configmaps (via projected volumes)",
    "secret": "secrets (via projected volumes)",
    "serviceAccountToken": "serviceaccounts (via projected volumes)",
    "clusterTrustBundle": "clustertrustbundles",
    "podCertificate": "podcertificates",
}


def reference_of(spec: Spec) -> str:
    """Return the kind of object that the pod refers to, as kube names it; "" if none."""
    if spec.get("serviceAccountName"):
        return "serviceaccounts"
    if spec.get("imagePullSecrets") or _of_environment(spec, "secret"):
        return "secrets"
    if _of_environment(spec, "configMap"):
        return "configmaps"
    if spec.get("resourceClaims"):
        return "resourceclaims"
    found = (_of_volume(volume) for volume in spec.get("volumes") or ())
    return next((kind for kind in found if kind), "")


def _of_environment(spec: Spec, source: str) -> bool:
    containers = [each for field in ("initContainers", "containers") for each in spec.get(field) or ()]
    return any(
        (entry.get("valueFrom") or {}).get(f"{source}KeyRef") for each in containers for entry in each.get("env") or ()
    ) or any(entry.get(f"{source}Ref") for each in containers for entry in each.get("envFrom") or ())


def _of_volume(volume: Spec) -> str:
    for field, kind in _OF_VOLUMES.items():
        if volume.get(field) is not None:
            return kind
    for source in (volume.get("projected") or {}).get("sources") or ():
        for field, kind in _OF_PROJECTIONS.items():
            if source.get(field) is not None:
                return kind
    return ""


_USER = "system:node:"
_OWN_PODS = "pods with spec.nodeName set to itself"
_NODE_RESTRICTION = "node-restriction.kubernetes.io"
_LEASES = "kube-node-lease"
_KUBELET_LABELS = (
    *("kubernetes.io/hostname", "topology.kubernetes.io/zone", "topology.kubernetes.io/region"),
    *("failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"),
    *("beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type", "beta.kubernetes.io/os"),
    *("beta.kubernetes.io/arch", "kubernetes.io/os", "kubernetes.io/arch"),
)
_KUBELET_NAMESPACES = ("kubelet.kubernetes.io", "node.kubernetes.io")
_FREE_CLAIM_STATUS = ("capacity", "conditions", "allocatedResourceStatuses", "allocatedResources")


class NodeRestriction(AdmissionPlugin):
    name = "NodeRestriction"
    on_by_default = False

    def admit(self, request: Request, manifest: Manifest) -> Manifest:
        self._check(request, manifest)
        return manifest

    def validate(self, request: Request, manifest: Manifest) -> None:
        if request.operation == "DELETE":
            self._check(request, manifest)

    def _check(self, request: Request, manifest: Manifest) -> None:
        if not request.user.startswith(_USER):
            return
        node = request.user.removeprefix(_USER)
        if not node:
            raise request.refuse(f'could not determine node from user "{request.user}"')
        check = _CHECKS.get(request.kind.key)
        if check is not None:
            check(request, node, manifest)


def _pod(request: Request, node: str, pod: Manifest) -> None:
    bound = ((request.old or pod).get("spec") or {}).get("nodeName")
    if request.subresource == "status":
        _pod_status(request, node, pod)
    elif request.subresource == "eviction":
        if bound != node:
            raise request.refuse(f"node {node} can only evict pods with spec.nodeName set to itself")
    elif request.subresource:
        raise request.refuse(
            f"unexpected pod subresource \"{request.subresource}\", only 'status' and 'eviction' are allowed"
        )
    elif request.operation == "CREATE":
        _new_pod(request, node, pod)
    elif request.operation == "UPDATE":
        raise request.refuse(f'unexpected operation "UPDATE", node "{node}" can only create and delete mirror pods')
    elif bound != node:
        raise request.refuse(f'node "{node}" can only delete pods with spec.nodeName set to itself')


def _pod_status(request: Request, node: str, pod: Manifest) -> None:
    old = request.old or {}
    if (old.get("spec") or {}).get("nodeName") != node:
        raise request.refuse(f'node "{node}" can only update pod status for {_OWN_PODS}')
    if (old["metadata"].get("labels") or {}) != (pod["metadata"].get("labels") or {}):
        raise request.refuse(f'node "{node}" cannot update labels through pod status')
    before, after = (each.get("status") or {} for each in (old, pod))
    if (before.get("resourceClaimStatuses") or []) != (after.get("resourceClaimStatuses") or []):
        raise request.refuse(f'node "{node}" cannot update resource claim statues')
    if before.get("extendedResourceClaimStatus") != after.get("extendedResourceClaimStatus"):
        raise request.refuse(f'node "{node}" cannot update extended resource claim status')


def _new_pod(request: Request, node: str, pod: Manifest) -> None:
    if not is_mirror(pod["metadata"]):
        raise request.refuse(f'pod does not have "{MIRROR}" annotation, node "{node}" can only create mirror pods')
    if (pod.get("spec") or {}).get("nodeName") != node:
        raise request.refuse(f'node "{node}" can only create pods with spec.nodeName set to itself')
    _owner(request, node, pod["metadata"].get("ownerReferences") or ())
    kind = reference_of(pod["spec"])
    if kind:
        raise request.refuse(f'node "{node}" can not create pods that reference {kind}')


def _owner(request: Request, node: str, owners: list[Manifest] | tuple[Manifest, ...]) -> None:
    can = f'node "{node}" can only create pods with'
    if len(owners) > 1:
        raise request.refuse(f"{can} a single owner reference set to itself")
    named = [(each.get("apiVersion"), each.get("kind"), each.get("name")) for each in owners]
    if named != [("v1", "Node", node)]:
        raise request.refuse(f"{can} an owner reference set to itself")
    if not owners[0].get("controller"):
        raise request.refuse(f"{can} a controller owner reference set to itself")
    if owners[0].get("blockOwnerDeletion"):
        raise request.refuse(f'node "{node}" must not set blockOwnerDeletion on an owner reference')
    found = request.store.get("Node", "", node)
    if found is None:
        raise Refused.because(not_found("nodes", node), request.what)
    uid, wanted = owners[0].get("uid"), found["metadata"]["uid"]
    if uid != wanted:
        raise request.refuse(f"node {node} UID mismatch: expected {uid} got {wanted}")


def _node(request: Request, node: str, manifest: Manifest) -> None:
    if request.name != node:
        raise request.refuse(f'node "{node}" is not allowed to modify node "{request.name}"')
    if request.operation == "DELETE":
        return
    old = request.old
    labels = manifest["metadata"].get("labels") or {}
    if old is None:
        forbidden = _forbidden(_list_modified_keys(labels, {}))
        if forbidden:
            what = f'node "{node}" is not allowed to set the following labels'
            raise request.refuse(f"{what}: {', '.join(forbidden)}")
        return
    if ((manifest.get("spec") or {}).get("taints") or []) != ((old.get("spec") or {}).get("taints") or []):
        raise request.refuse(f'node "{node}" is not allowed to modify taints')
    if manifest["metadata"].get("ownerReferences") != old["metadata"].get("ownerReferences"):
        raise request.refuse(f'node "{node}" is not allowed to modify ownerReferences')
    forbidden = _forbidden(_list_modified_keys(labels, old["metadata"].get("labels") or {}))
    if forbidden:
        raise request.refuse(f"is not allowed to modify labels: {', '.join(forbidden)}")


def _list_modified_keys(new: Mapping[str, str], old: Mapping[str, str]) -> list[str]:
    return sorted(key for key in {**old, **new} if new.get(key) != old.get(key))


def _forbidden(labels: list[str]) -> list[str]:
    return [label for label in labels if _is_restricted(label)]


def _is_restricted(label: str) -> bool:
    domain, slash, _ = label.partition("/")
    domain = domain if slash else ""
    if _below(domain, _NODE_RESTRICTION):
        return True
    if not (_below(domain, "kubernetes.io") or _below(domain, "k8s.io")):
        return False
    return label not in _KUBELET_LABELS and not any(_below(domain, name) for name in _KUBELET_NAMESPACES)


def _below(domain: str, parent: str) -> bool:
    return domain == parent or domain.endswith(f".{parent}")


def _lease(request: Request, node: str, manifest: Manifest) -> None:
    if request.namespace != _LEASES:
        raise request.refuse(f'can only access leases in the "{_LEASES}" system namespace')
    if request.name != node:
        raise request.refuse("can only access node lease with the same name as the requesting node")


def _csi_node(request: Request, node: str, manifest: Manifest) -> None:
    if request.name != node:
        raise request.refuse("can only access CSINode with the same name as the requesting node")


def _claim(request: Request, node: str, manifest: Manifest) -> None:
    if request.subresource != "status" or request.old is None:
        raise request.refuse("may only update PVC status")
    freed = dict.fromkeys(_FREE_CLAIM_STATUS)
    before, after = (with_section(each, "status", freed) for each in (request.old, manifest))
    if before != after:
        what = f'node "{node}" is not allowed to update fields other than status.quantity and status.conditions'
        raise request.refuse(what)


def _slice(request: Request, node: str, manifest: Manifest) -> None:
    if request.operation != "UPDATE" and (manifest.get("spec") or {}).get("nodeName") != node:
        what = f"can only {request.operation.lower()} ResourceSlice"
        raise request.refuse(f"{what} with the same NodeName as the requesting node")


_CHECKS: dict[str, Callable[[Request, str, Manifest], None]] = {
    "Pod": _pod,
    "Node": _node,
    "Lease": _lease,
    "CSINode": _csi_node,
    "PersistentVolumeClaim": _claim,
    "ResourceSlice": _slice,
}
