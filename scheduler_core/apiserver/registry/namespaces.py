"""Namespaces' own rules: a finalizer in their spec keeps them until they are empty, and only the subresource finalize changes it.

kube: pkg/registry/core/namespace/strategy.go @ v1.34.1
"""

from __future__ import annotations

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.rewriting import with_section

FINALIZER = "kubernetes"
FINALIZE = "finalize"


def prepare_new_namespace(manifest: Manifest) -> Manifest:
    """A new namespace: active, and kept until it is empty."""
    finalizers = list((manifest.get("spec") or {}).get("finalizers") or ())
    if FINALIZER not in finalizers:
        finalizers.append(FINALIZER)
    return {**with_section(manifest, "spec", {"finalizers": finalizers}), "status": {"phase": "Active"}}


def prepare_updated_namespace(old: Manifest, new: Manifest, subresource: str) -> Manifest:
    """The namespace to be: an update leaves its end alone, finalize changes nothing else."""
    if subresource == FINALIZE:
        finalizers = list((new.get("spec") or {}).get("finalizers") or ())
        return with_section(old, "spec", {"finalizers": finalizers})
    kept = {"spec": old.get("spec") or {}, "status": old.get("status") or {}}
    return {**new, **{name: value for name, value in kept.items() if value}}
