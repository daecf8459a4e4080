"""Whether a pod refers to objects of the API: a mirror pod must not.

kube: pkg/api/pod/util.go (HasAPIObjectReference, VisitPodSecretNames, VisitPodConfigmapNames) @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
        (entry.get("valueFrom") or {}).get(f"{source}KeyRef")
        for each in containers
        for entry in each.get("env") or ()
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
