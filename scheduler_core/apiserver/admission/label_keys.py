"""matchLabelKeys and mismatchLabelKeys: the pod's own label values, merged into selectors as In and NotIn
when it is created.

kube: pkg/registry/core/pod/strategy.go (mutatePodAffinity, mutateTopologySpreadConstraints) @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Spec = Mapping[str, Any]
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


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
    """The spec with the expressions added. `known`: those that are there already are not added twice; of a new pod they are, and
    validation refuses it then.
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
    preferred = (entry.get("podAffinityTerm") or {} for entry in affinity.get(_PREFERRED) or ())
    return [*(affinity.get(_REQUIRED) or ()), *preferred]


def _merge_affinity_keys(affinity: Spec, labels: Mapping[str, str], known: bool) -> dict[str, Any]:
    merged = dict(affinity)
    if affinity.get(_REQUIRED):
        merged[_REQUIRED] = [_merge_term_keys(term, labels, known) for term in affinity[_REQUIRED]]
    if affinity.get(_PREFERRED):
        merged[_PREFERRED] = [
            {**entry, "podAffinityTerm": _merge_term_keys(entry.get("podAffinityTerm") or {}, labels, known)}
            for entry in affinity[_PREFERRED]
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
