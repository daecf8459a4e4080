"""What is in every cluster from the start: kube's own namespaces and priority classes.

kube: pkg/controlplane/controller/systemnamespaces, pkg/registry/scheduling/rest/storage_scheduling.go,
pkg/apis/scheduling/v1/helpers.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace
from typing import Any

from scheduler_core.apiserver.admission.priority import SYSTEM_CLASSES
from scheduler_core.apiserver.options import APIServerOptions
from scheduler_core.apiserver.server import APIServer

NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
_DESCRIPTIONS = {
    "system-node-critical": "Used for system critical pods that must not be moved from their current node.",
    "system-cluster-critical": (
        "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary."
    ),
}


def make_standing_objects(api: APIServer) -> None:
    """Makes those that are not there, whatever the API server's plugins say."""
    api = replace(api, options=APIServerOptions())
    for manifest in _standing():
        if api.store.get(manifest["kind"], "", manifest["metadata"]["name"]) is None:
            api.create(manifest)


def is_standing(manifest: Mapping[str, Any]) -> bool:
    """Return whether an object is one of the cluster's initial objects, unchanged."""
    meta = manifest["metadata"]
    if meta.get("annotations") or len(meta.get("labels") or ()) > 1:
        return False
    names: Mapping[str, Container[str]] = {"Namespace": NAMESPACES, "PriorityClass": SYSTEM_CLASSES}
    return meta["name"] in names.get(str(manifest.get("kind")), ())


def _standing() -> list[dict[str, Any]]:
    namespaces = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in NAMESPACES]
    classes = [
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name},
            "value": value,
            "description": _DESCRIPTIONS[name],
        }
        for name, value in SYSTEM_CLASSES.items()
    ]
    return [*namespaces, *classes]
