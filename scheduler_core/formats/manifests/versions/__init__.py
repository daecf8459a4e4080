"""Objects in versions that v1.34 no longer serves, in their stored form: with the defaults of their own version, and converted."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from scheduler_core.apimachinery.objects.loading import LoadedObject
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.kinds import find_kind, has_uid, is_own_group
from scheduler_core.apiserver.schema.strict import UNKNOWN, strict_errors
from scheduler_core.formats.manifests.notes import Note, gettext_noop, replace_manifest
from scheduler_core.formats.manifests.versions.others import autoscaler, binding, budget, resource_slice, runtime_class

# Workloads of extensions/v1beta1 and apps/v1beta1.
# kube: pkg/apis/{extensions,apps}/v1beta1/{defaults,conversion}.go @ v1.17.17

_LARGEST = 2**31 - 1
_ROLLBACK = "deprecated.deployment.rollback.revision"
_GENERATION = "deprecated.daemonset.template.generation"


def add_template_labels(manifest: Manifest) -> Manifest:
    """Add the labels of the template, and a selector for them, if the manifest has none."""
    spec = manifest.get("spec") or {}
    meta = manifest.get("metadata") or {}
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels")
    if not labels:
        return manifest
    if spec.get("selector") is None:
        spec = {**spec, "selector": {"matchLabels": dict(labels)}}
    if not meta.get("labels"):
        meta = {**meta, "labels": dict(labels)}
    return {**manifest, "metadata": meta, "spec": spec}


def _deployment(manifest: Manifest, step: int | str, deadline: int, history: int) -> Manifest:
    """Set defaults: `step` (maxSurge and maxUnavailable), the progress deadline, and the number of revisions to keep."""
    manifest = add_template_labels(manifest)
    spec = {name: value for name, value in (manifest.get("spec") or {}).items() if name != "rollbackTo"}
    strategy = dict(spec.get("strategy") or {})
    strategy["type"] = strategy.get("type") or "RollingUpdate"
    if strategy["type"] == "RollingUpdate":
        rolling = strategy.get("rollingUpdate") or {}
        missing = _missing(rolling, {"maxUnavailable": step, "maxSurge": step})
        strategy["rollingUpdate"] = {**rolling, **missing}
    spec["strategy"] = strategy
    spec |= _missing(spec, {"progressDeadlineSeconds": deadline, "revisionHistoryLimit": history})
    back = (manifest.get("spec") or {}).get("rollbackTo")
    noted = manifest if back is None else _add_annotation(manifest, _ROLLBACK, back.get("revision") or 0)
    return {**noted, "spec": spec}


def daemon_set_of_extensions(manifest: Manifest) -> Manifest:
    manifest = add_template_labels(manifest)
    spec = {name: value for name, value in (manifest.get("spec") or {}).items() if name != "templateGeneration"}
    strategy = dict(spec.get("updateStrategy") or {})
    strategy["type"] = strategy.get("type") or "OnDelete"
    if strategy["type"] == "RollingUpdate":
        strategy["rollingUpdate"] = {"maxUnavailable": 1, **(strategy.get("rollingUpdate") or {})}
    generation = (manifest.get("spec") or {}).get("templateGeneration") or 0
    return {
        **_add_annotation(manifest, _GENERATION, generation),
        "spec": {**spec, "updateStrategy": strategy, **_missing(spec, {"revisionHistoryLimit": 10})},
    }


def stateful_set_of_apps(manifest: Manifest) -> Manifest:
    manifest = add_template_labels(manifest)
    spec = manifest.get("spec") or {}
    strategy = dict(spec.get("updateStrategy") or {})
    strategy["type"] = strategy.get("type") or "OnDelete"
    if strategy["type"] == "RollingUpdate" and strategy.get("rollingUpdate") is not None:
        strategy["rollingUpdate"] = {"partition": 0, **strategy["rollingUpdate"]}
    return {**manifest, "spec": {**spec, "updateStrategy": strategy}}


def _missing(given: Manifest, defaults: Manifest) -> dict[str, Any]:
    return {name: value for name, value in defaults.items() if given.get(name) is None}


def _add_annotation(manifest: Manifest, name: str, number: int) -> Manifest:
    meta = manifest.get("metadata") or {}
    annotations = {**(meta.get("annotations") or {}), name: str(number)}
    return {**manifest, "metadata": {**meta, "annotations": annotations}}


# Ingresses, network policies and endpoint slices of older versions.
# kube: pkg/apis/networking/v1beta1/conversion.go @ v1.20.15, pkg/apis/extensions/v1beta1/defaults.go @ v1.17.17,
# pkg/apis/discovery/v1beta1/conversion.go @ v1.22.17

_ZONE = "topology.kubernetes.io/zone"


def ingress(manifest: Manifest) -> Manifest:
    """Convert an Ingress: backends have a service object, and paths have a type."""
    spec = dict(manifest.get("spec") or {})
    if "backend" in spec:
        spec["defaultBackend"] = _backend(spec.pop("backend"))
    if spec.get("rules"):
        spec["rules"] = [_rule(rule) for rule in spec["rules"]]
    return {**manifest, "spec": spec}


def _rule(rule: Manifest) -> Manifest:
    http = rule.get("http")
    if not http or not http.get("paths"):
        return rule
    paths = [
        {"pathType": "ImplementationSpecific", **path, "backend": _backend(path.get("backend"))}
        for path in http["paths"]
    ]
    return {**rule, "http": {**http, "paths": paths}}


def _backend(backend: Any) -> Any:
    if not isinstance(backend, Mapping):
        return backend
    rest = {name: value for name, value in backend.items() if name not in ("serviceName", "servicePort")}
    name, port = backend.get("serviceName") or "", backend.get("servicePort")
    if not name and not port:
        return rest
    return {**rest, "service": {"name": name, "port": {"name" if isinstance(port, str) else "number": port or 0}}}


def network_policy(manifest: Manifest) -> Manifest:
    """Set default policy types: Ingress, and Egress if there are egress rules."""
    spec = manifest.get("spec") or {}
    if spec.get("policyTypes"):
        return manifest
    types = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]
    return {**manifest, "spec": {**spec, "policyTypes": types}}


def endpoint_slice(manifest: Manifest) -> Manifest:
    endpoints = [_endpoint(each) for each in manifest.get("endpoints") or ()]
    return {**manifest, "endpoints": endpoints}


def _endpoint(endpoint: Manifest) -> Manifest:
    topology = endpoint.get("topology") or {}
    rest = {name: value for name, value in endpoint.items() if name != "topology"}
    others = {name: value for name, value in topology.items() if name not in (_ZONE, "kubernetes.io/hostname")}
    zone = {"zone": topology[_ZONE]} if _ZONE in topology else {}
    return {**rest, **zone, **({"deprecatedTopology": others} if others else {})}


Convert = Callable[[Manifest], Manifest]

OLDER = gettext_noop(
    "v1.34 no longer serves %(kind)s in %(old)s. It is read as %(new)s, with the defaults of its own "
    "version (%(count)s)."
)


def _same(manifest: Manifest) -> Manifest:
    return manifest


_APPS, _BATCH, _NETWORKING, _STORAGE = "apps/v1", "batch/v1", "networking.k8s.io/v1", "storage.k8s.io/v1"
_RBAC, _SCHEDULING, _NODE = "rbac.authorization.k8s.io/v1", "scheduling.k8s.io/v1", "node.k8s.io/v1"
_DEVICES = "resource.k8s.io/v1beta1"
_ROLES, _BINDINGS = ("Role", "ClusterRole"), ("RoleBinding", "ClusterRoleBinding")
_OF_APPS = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ControllerRevision")
_OF_DEVICES = ("ResourceClaim", "ResourceClaimTemplate", "DeviceClass")
_OF_STORAGE = ("StorageClass", "CSIDriver", "CSINode", "CSIStorageCapacity", "VolumeAttachment")
_OLDER: dict[tuple[str, str], tuple[str, Convert]] = {
    ("extensions/v1beta1", "Deployment"): (_APPS, partial(_deployment, step=1, deadline=_LARGEST, history=_LARGEST)),
    ("extensions/v1beta1", "DaemonSet"): (_APPS, daemon_set_of_extensions),
    ("extensions/v1beta1", "ReplicaSet"): (_APPS, add_template_labels),
    ("extensions/v1beta1", "Job"): (_BATCH, _same),
    ("extensions/v1beta1", "Ingress"): (_NETWORKING, ingress),
    ("extensions/v1beta1", "NetworkPolicy"): (_NETWORKING, network_policy),
    ("apps/v1beta1", "Deployment"): (_APPS, partial(_deployment, step="25%", deadline=600, history=2)),
    ("apps/v1beta1", "StatefulSet"): (_APPS, stateful_set_of_apps),
    ("apps/v1beta1", "ControllerRevision"): (_APPS, _same),
    **{("apps/v1beta2", kind): (_APPS, _same) for kind in _OF_APPS},
    ("batch/v1beta1", "CronJob"): (_BATCH, _same),
    ("batch/v2alpha1", "CronJob"): (_BATCH, _same),
    ("policy/v1beta1", "PodDisruptionBudget"): ("policy/v1", budget),
    **{(f"{_STORAGE}beta1", kind): (_STORAGE, _same) for kind in _OF_STORAGE},
    **{(f"{_STORAGE}alpha1", kind): (_STORAGE, _same) for kind in _OF_STORAGE},
    (f"{_SCHEDULING}beta1", "PriorityClass"): (_SCHEDULING, _same),
    (f"{_SCHEDULING}alpha1", "PriorityClass"): (_SCHEDULING, _same),
    **{(f"{_RBAC}{stage}1", kind): (_RBAC, _same) for stage in ("alpha", "beta") for kind in _ROLES},
    **{(f"{_RBAC}{stage}1", kind): (_RBAC, binding) for stage in ("alpha", "beta") for kind in _BINDINGS},
    (f"{_NODE}beta1", "RuntimeClass"): (_NODE, _same),
    (f"{_NODE}alpha1", "RuntimeClass"): (_NODE, runtime_class),
    (f"{_NETWORKING}beta1", "Ingress"): (_NETWORKING, ingress),
    (f"{_NETWORKING}beta1", "IngressClass"): (_NETWORKING, _same),
    ("resource.k8s.io/v1alpha3", "ResourceSlice"): (_DEVICES, resource_slice),
    **{("resource.k8s.io/v1alpha3", kind): (_DEVICES, _same) for kind in _OF_DEVICES},
    ("coordination.k8s.io/v1beta1", "Lease"): ("coordination.k8s.io/v1", _same),
    ("discovery.k8s.io/v1beta1", "EndpointSlice"): ("discovery.k8s.io/v1", endpoint_slice),
    ("autoscaling/v2beta1", "HorizontalPodAutoscaler"): ("autoscaling/v2", autoscaler),
    ("autoscaling/v2beta2", "HorizontalPodAutoscaler"): ("autoscaling/v2", _same),
}


NEWER_FIELDS = gettext_noop(
    "Fields that v1.34 does not have are kept: %(fields)s. They have an effect only if the release of the session supports them."
)
NEWER_KINDS = gettext_noop("Left out, because this kind is not modeled: %(kind)s in %(version)s (%(count)s).")
_INDEX = re.compile(r"\[\d+\]")
_PASSED_OVER = "Event"  # by every import, which says so itself
_MOST_FIELDS = 12  # that are named


def sort_out_newer(objects: Sequence[LoadedObject]) -> tuple[list[LoadedObject], list[Note]]:
    """Remove objects of kinds that only a newer cluster has. Return the rest, with notes on these and on fields unknown to v1.34.

    Only objects with a uid come from a cluster; in other objects, an unknown field or kind is a mistake.
    """
    kept = []
    kinds: Counter[tuple[str, str]] = Counter()
    fields: dict[str, None] = {}
    for each in objects:
        if not has_uid(each.manifest):
            kept.append(each)
            continue
        version, name = str(each.manifest.get("apiVersion")), str(each.manifest.get("kind"))
        kind = find_kind(version, name)
        if kind is None and is_own_group(version) and name != _PASSED_OVER:
            kinds[name, version] += 1
            continue
        kept.append(each)
        if kind is not None:
            unknown = (e.path for e in strict_errors(each.manifest, kind) if e.received.startswith(UNKNOWN))
            paths = (*unknown, *_list_newer_values(each.manifest, "spec"))
            fields.update((f"{name} {_INDEX.sub('[]', path)}", None) for path in paths)
    notes = [
        Note(NEWER_KINDS, {"kind": kind, "version": version, "count": f"{count:,}"})
        for (kind, version), count in kinds.items()
    ]
    more = ["…"] if len(fields) > _MOST_FIELDS else []
    named = ", ".join([*list(fields)[:_MOST_FIELDS], *more])
    return kept, [*notes, Note(NEWER_FIELDS, {"fields": named})] if fields else notes


def upgrade_objects(objects: Sequence[LoadedObject]) -> tuple[list[LoadedObject], list[Note]]:
    """Convert objects of older versions to the form that v1.34 would have stored. Return notes on these."""
    counts: dict[tuple[str, str], int] = {}
    kept = []
    for each in objects:
        older = _older(each.manifest)
        if older is not None:
            counts[older] = counts.get(older, 0) + 1
            each = replace_manifest(each, _convert_manifest(each.manifest, *_OLDER[older]))
        kept.append(each)
    return kept, [
        Note(OLDER, {"kind": kind, "old": old, "new": _OLDER[old, kind][0], "count": f"{count:,}"})
        for (old, kind), count in counts.items()
    ]


def _list_newer_values(manifest: Any, path: str) -> Iterator[str]:
    """Yield the tolerations that compare numbers, of a pod or of a template of pods."""
    spec = manifest.get("spec") if isinstance(manifest, Mapping) else None
    if not isinstance(spec, Mapping):
        return
    tolerations = spec.get("tolerations")
    for each in tolerations if isinstance(tolerations, list) else ():
        if isinstance(each, Mapping) and each.get("operator") in ("Gt", "Lt"):
            yield f"{path}.tolerations[].operator {each['operator']}"
    yield from _list_newer_values(spec.get("template"), f"{path}.template.spec")


def _older(manifest: Any) -> tuple[str, str] | None:
    if not isinstance(manifest, Mapping):
        return None
    version, kind = manifest.get("apiVersion"), manifest.get("kind")
    older = (version, kind) if isinstance(version, str) and isinstance(kind, str) else None
    return older if older in _OLDER else None


def _convert_manifest(manifest: Manifest, version: str, convert: Convert) -> Manifest:
    """Convert a manifest; one of an unexpected shape gets only the version, and the API server refuses it."""
    try:
        return {**convert(manifest), "apiVersion": version}
    except (AttributeError, TypeError, ValueError):
        return {**manifest, "apiVersion": version}
