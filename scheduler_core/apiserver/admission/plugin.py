"""The base class of admission plugins, and the request that plugins get.

kube: apiserver/pkg/admission/interfaces.go @ v1.34.1
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from scheduler_core.apimachinery.objects import PREFERRED, REQUIRED, Manifest
from scheduler_core.apiserver.kinds import Kind, reference
from scheduler_core.apiserver.options import APIServerOptions
from scheduler_core.apiserver.status import Refused, forbidden
from scheduler_core.apiserver.store import Store
from scheduler_core.base.releases import OLDEST

# matchLabelKeys and mismatchLabelKeys: the pod's own label values, merged into selectors as In and NotIn
# when it is created.
# kube: pkg/registry/core/pod/strategy.go (mutatePodAffinity, mutateTopologySpreadConstraints) @ v1.34.1

Spec = Mapping[str, Any]


def uses_label_keys(spec: Spec) -> bool:
    """Return whether the admitted form of a spec depends on the pod's labels."""
    if any(constraint.get("matchLabelKeys") for constraint in spec.get("topologySpreadConstraints") or ()):
        return True
    affinity = spec.get("affinity") or {}
    return any(
        term.get("matchLabelKeys") or term.get("mismatchLabelKeys")
        for kind in ("podAffinity", "podAntiAffinity")
        for term in _terms(affinity.get(kind) or {})
    )


def merge_label_keys(spec: Spec, labels: Mapping[str, str], known: bool = True) -> dict[str, Any]:
    """Return the spec with the expressions of matchLabelKeys and mismatchLabelKeys. `known`: do not repeat existing expressions. In a new
    pod they are repeated, and validation then refuses the pod.
    """
    merged = dict(spec)
    if spec.get("topologySpreadConstraints"):
        merged["topologySpreadConstraints"] = [
            _merge_selector_keys(constraint, {"In": constraint.get("matchLabelKeys")}, labels, known)
            for constraint in spec["topologySpreadConstraints"]
        ]
    affinity = spec.get("affinity") or {}
    for kind in ("podAffinity", "podAntiAffinity"):
        if affinity.get(kind):
            affinity = {**affinity, kind: _merge_affinity_keys(affinity[kind], labels, known)}
    if affinity:
        merged["affinity"] = affinity
    return merged


def _terms(affinity: Spec) -> list[Spec]:
    preferred = (entry.get("podAffinityTerm") or {} for entry in affinity.get(PREFERRED) or ())
    return [*(affinity.get(REQUIRED) or ()), *preferred]


def _merge_affinity_keys(affinity: Spec, labels: Mapping[str, str], known: bool) -> dict[str, Any]:
    merged = dict(affinity)
    if affinity.get(REQUIRED):
        merged[REQUIRED] = [_merge_term_keys(term, labels, known) for term in affinity[REQUIRED]]
    if affinity.get(PREFERRED):
        merged[PREFERRED] = [
            {**entry, "podAffinityTerm": _merge_term_keys(entry.get("podAffinityTerm") or {}, labels, known)}
            for entry in affinity[PREFERRED]
        ]
    return merged


def _merge_term_keys(term: Spec, labels: Mapping[str, str], known: bool) -> Spec:
    keys = {"In": term.get("matchLabelKeys"), "NotIn": term.get("mismatchLabelKeys")}
    return _merge_selector_keys(term, keys, labels, known)


def _merge_selector_keys(
    term: Spec, keys_of: Mapping[str, list[str] | None], labels: Mapping[str, str], known: bool
) -> Spec:
    selector = term.get("labelSelector")
    if selector is None:
        return term
    expressions = list(selector.get("matchExpressions") or ())
    for operator, keys in keys_of.items():
        for key in keys or ():
            added = {"key": key, "operator": operator, "values": [labels.get(key)]}
            if key in labels and not (known and added in expressions):
                expressions.append(added)
    if expressions == (selector.get("matchExpressions") or []):
        return term
    return {**term, "labelSelector": {**selector, "matchExpressions": expressions}}


Operation = Literal["CREATE", "UPDATE", "DELETE"]
ADMIN = ""


@dataclass(slots=True)  # an import creates one per object, and frozen ones take three times as long to create
class Request:
    """One write, treated as immutable. `old` is None on CREATE. `user`: "" for the cluster's administrator, "system:node:NAME" for a
    node.

    `dry_run` must store nothing. `imported`: the object existed before, and keeps the fields that its cluster set. `restored`: the object
    also has a uid. Its cluster has admitted it, so only plugins with `of_restored` run.
    """

    store: Store
    options: APIServerOptions
    now: int
    operation: Operation
    kind: Kind
    namespace: str
    name: str
    old: Manifest | None = None
    subresource: str = ""
    user: str = ADMIN
    dry_run: bool = False
    imported: bool = False
    restored: bool = False
    release: str = OLDEST
    topology_labels: bool = False  # the gate PodTopologyLabelsAdmission
    scales: bool = False  # the subresource scale is written
    warnings: list[str] | None = None  # of the answer, None if no client reads them

    @property
    def what(self) -> str:
        """The object's name in errors."""
        return reference(self.kind.key, self.namespace, self.name)

    @property
    def makes_pod(self) -> bool:
        """True if a pod is created, not one of its subresources."""
        return self.writes_pod and self.operation == "CREATE"

    @property
    def writes_pod(self) -> bool:
        """True if a pod is created or updated, not one of its subresources."""
        return self.kind.key == "Pod" and self.operation != "DELETE" and not self.subresource

    def refuse(self, why: str, causes: tuple[str, ...] = ()) -> Refused:
        """Return a 403 error with kube's message."""
        answer = forbidden(self.kind.resource, self.name, why)
        return Refused.because(replace(answer, causes=causes), self.what)

    def in_namespace(self, kind: str) -> list[Manifest]:
        """Return the objects of a kind in the request's namespace, by name."""
        if not self.store.count(kind):
            return []
        return [each for each in self.store.list(kind) if each["metadata"].get("namespace") == self.namespace]


class AdmissionPlugin:
    """An admission plugin without state. It ignores requests that do not concern it."""

    name: ClassVar[str]
    on_by_default: ClassVar[bool] = True
    of_restored: ClassVar[bool] = False  # runs for restored objects, too
    # the result for a new pod depends only on its namespace, its spec, and objects of other kinds
    pods_by_spec: ClassVar[bool] = False

    def admit(self, request: Request, manifest: Manifest) -> Manifest:
        """Return the object as the plugin changes it, never in place. Raise Refused."""
        return manifest

    def validate(self, request: Request, manifest: Manifest) -> None:
        """Check the object before it is stored or, on DELETE, removed. Raise Refused."""

    def commit(self, request: Request, manifest: Manifest) -> None:
        """Write changes that accompany the object, after the last check that can refuse the request."""
