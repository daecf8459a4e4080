"""A memo of admitted pods: an import admits pods of equal specs once, because admission depends mostly on the spec.

Only admitted pods are stored. A pod that is invalid, or whose result does not follow from its spec, passes the full admission.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_core.apimachinery.objects import Errors, Manifest, Pod
from scheduler_core.apimachinery.objects.names import subdomain_errors
from scheduler_core.apimachinery.objects.spec import canonical
from scheduler_core.apiserver.admission.plugin import uses_label_keys
from scheduler_core.apiserver.kinds import KINDS
from scheduler_core.apiserver.schema.strict import list_errors
from scheduler_core.apiserver.validation.objects import metadata, owners_and_finalizers

_TOP = dict.fromkeys(("apiVersion", "kind", "metadata", "spec", "status"))
_POD = KINDS["Pod"]
_NODE = "nodeName"
_NEW: tuple[Any, ...] = (None, {}, {"phase": "Pending"})  # empty statuses


@dataclass(frozen=True, slots=True)
class _AdmittedForm:
    """The admitted form of the first pod with a spec: its spec without nodeName, annotations added, first status, and Pod."""

    spec: Manifest
    noted: Manifest
    status: Manifest
    pod: Pod


class PodMemo:
    """The admitted pods of an import by namespace and spec; valid while only pods are written."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], _AdmittedForm] = {}

    def recall(self, manifest: Any) -> tuple[Manifest, Pod] | None:
        """Return the admitted form of a pod (its namespace is set) and a parsed pod of the same spec, or None if unknown."""
        key = _key(manifest)
        known = None if key is None else self._known.get(key)
        if known is None or not _is_sound(manifest):
            return None
        meta, node = manifest["metadata"], manifest["spec"].get(_NODE)
        # nodeName is not in the key, so it must be validated here.
        if node and (subdomain_errors(node) or known.spec.get("schedulingGates")):
            return None
        if known.noted:
            meta = {**meta, "annotations": {**(meta.get("annotations") or {}), **known.noted}}
        spec = {**known.spec, _NODE: node} if node else known.spec
        return {**manifest, "metadata": meta, "spec": spec, "status": known.status}, known.pod

    def learn(self, manifest: Manifest, pod: Pod) -> None:
        """Store the admitted form of a pod."""
        admitted = pod.manifest
        # With matchLabelKeys admission writes the pod's own labels into its spec, so another pod's result may differ.
        key = None if uses_label_keys(manifest["spec"]) else _key(manifest)
        if key is None or key in self._known:
            return
        before, after = (each["metadata"].get("annotations") or {} for each in (manifest, admitted))
        noted = {name: text for name, text in after.items() if before.get(name) != text}
        spec = {name: value for name, value in admitted["spec"].items() if name != _NODE}
        self._known[key] = _AdmittedForm(spec, noted, admitted["status"], pod)


def _key(manifest: Any) -> tuple[str, str] | None:
    """Return namespace and spec, or None if these do not determine the admitted form."""
    if not isinstance(manifest, Mapping):
        return None
    if (manifest.get("apiVersion"), manifest.get("kind")) != ("v1", "Pod"):
        return None
    if manifest.get("status") not in _NEW:
        return None
    meta, spec = manifest.get("metadata"), manifest.get("spec")
    if not isinstance(meta, Mapping) or not isinstance(spec, dict) or not meta.get("namespace"):
        return None
    if meta.get("uid"):
        return None
    if _NODE in spec:
        if not isinstance(spec[_NODE], str) or not spec[_NODE]:
            return None
        # Bound pods of one workload differ only in nodeName; with it in the key, few pods would be found again.
        spec = {name: value for name, value in spec.items() if name != _NODE}
    try:
        return str(meta["namespace"]), canonical(spec)
    except (TypeError, ValueError):
        return None  # it does not have the form of a pod, which validation will report


def _is_sound(manifest: Manifest) -> bool:
    """Return whether everything outside the spec is valid."""
    meta = manifest["metadata"]
    if manifest.get("apiVersion") != "v1" or not _TOP.keys() >= manifest.keys():
        return False
    if list_errors(meta, "ObjectMeta"):
        return False
    errors = Errors()
    metadata(manifest, _POD, errors)
    return not errors and not owners_and_finalizers(meta)
