"""What an object becomes when it is given again where the cluster is modelled: what its components wrote of it stays.

kubectl apply knows by the last text which fields somebody takes away; here these stay that components alone write.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.api.requests.updates import desired

Manifest = Mapping[str, Any]
_BY_CONTROLLERS = (
    "pv.kubernetes.io/",
    "volume.kubernetes.io/",
    "volume.beta.kubernetes.io/storage-provisioner",
    "deployment.kubernetes.io/",
    "deprecated.daemonset.template.generation",
)


def reapplied(old: Manifest, submitted: Manifest) -> Manifest:
    """The object as it should be after `submitted` was applied to it; a status that is given replaces the fields that it names."""
    new = dict(desired(old, submitted))
    new["metadata"] = _metadata(old["metadata"], new["metadata"])
    if old.get("status") and new.get("status"):
        new["status"] = {**old["status"], **new["status"]}
    volume = (old.get("spec") or {}).get("volumeName")
    if old.get("kind") == "PersistentVolumeClaim" and volume:
        new["spec"] = {"volumeName": volume, **(new.get("spec") or {})}
    return new


def _metadata(old: Manifest, new: Manifest) -> Manifest:
    kept = {name: old[name] for name in ("finalizers", "ownerReferences") if name in old and name not in new}
    marks = {k: v for k, v in (old.get("annotations") or {}).items() if k.startswith(_BY_CONTROLLERS)}
    if marks:
        kept["annotations"] = {**marks, **(new.get("annotations") or {})}
    return {**new, **kept}
