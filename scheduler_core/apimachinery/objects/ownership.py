"""Owner references: which controller an object belongs to.

kube: apimachinery/pkg/apis/meta/v1/controller_ref.go @ v1.34.1
"""

from typing import Any

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.pod import Pod


def controller_of(manifest: Manifest | None) -> Manifest | None:
    """Return the owner reference of the object's controller, or None. Of several controllers, the first counts."""
    for reference in ((manifest or {}).get("metadata") or {}).get("ownerReferences") or ():
        if reference.get("controller"):
            return reference  # type: ignore[no-any-return]
    return None


def controller_reference(api_version: str, kind: str, name: str, uid: str) -> dict[str, Any]:
    """Build the owner reference that makes an object the controller of another."""
    return {
        "apiVersion": api_version,
        "kind": kind,
        "name": name,
        "uid": uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


def is_owned_by(claim: Manifest, pod: Pod) -> bool:
    """Return whether the pod controls a claim of its own namespace."""
    if (claim["metadata"].get("namespace") or "") != pod.namespace:
        return False
    owner = controller_of(claim)
    return owner is not None and owner.get("uid") == pod.uid
