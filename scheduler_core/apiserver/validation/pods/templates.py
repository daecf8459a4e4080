"""Templates for pods, and the selectors of workloads that have to match them.

kube: pkg/apis/core/validation/validation.go (ValidatePodTemplateSpec), pkg/apis/apps/validation/validation.go
(ValidatePodTemplateSpecForReplicaSet) @ v1.34.1
"""

from __future__ import annotations

from typing import Any

from scheduler_core.apimachinery.objects.errors import build_required_error, forbidden, invalid, not_supported
from scheduler_core.apimachinery.objects.labels import LabelSelector
from scheduler_core.apiserver.validation import checks
from scheduler_core.apiserver.validation.checks import Errors
from scheduler_core.apiserver.validation.pods.annotations import pod_annotations, validate_seccomp_annotations
from scheduler_core.apiserver.validation.pods.spec import pod_spec
from scheduler_core.apiserver.validation.rules import Object

_DIFFERENT = "`selector` does not match template `labels`"


def pod_template(template: Object, path: str, errors: Errors) -> None:
    """Labels and annotations stand beside the spec in kube's paths."""
    meta, spec = template.get("metadata") or {}, template.get("spec") or {}
    annotations = meta.get("annotations") or {}
    checks.labels(meta.get("labels"), f"{path}.labels", errors)
    checks.annotation_keys(annotations, f"{path}.annotations", errors)
    errors += pod_annotations(annotations, spec, f"{path}.annotations")
    pod_spec(spec, errors, f"{path}.spec")
    validate_seccomp_annotations(spec, annotations, f"{path}.spec", errors)
    if spec.get("ephemeralContainers"):
        detail = "ephemeral containers not allowed in pod template"
        errors.append(forbidden(f"{path}.spec.ephemeralContainers", detail))


def validate_selector_and_template(spec: Object, errors: Errors) -> None:
    """Selector and template of a Deployment or ReplicaSet."""
    selector = spec.get("selector")
    before = len(errors)
    checks.label_selector(selector, "spec.selector", errors)
    wrong = len(errors) > before
    if selector is None:
        errors.append(build_required_error("spec.selector"))
    elif is_empty(selector):
        errors.append(invalid("spec.selector", {}, "empty selector is invalid for deployment"))
    if wrong:
        errors.append(invalid("spec.selector", selector_json(selector), "invalid label selector"))
        return
    template = spec.get("template") or {}
    match(selector, template, "spec.template", errors)
    pod_template(template, "spec.template", errors)
    for_ever(template, "ReplicaSet", errors)


def match(selector: Object | None, template: Object, path: str, errors: Errors) -> None:
    """Reports a sound selector that the template's labels do not match."""
    labels = (template.get("metadata") or {}).get("labels")
    if selector is None or not LabelSelector.of(selector).matches(labels or {}):
        shown = None if labels is None else dict(sorted(labels.items()))
        errors.append(invalid(f"{path}.metadata.labels", shown, _DIFFERENT))


def for_ever(template: Object, kind: str, errors: Errors) -> None:
    """Reports what a template of pods that run for ever may not say."""
    pod = template.get("spec") or {}
    policy = pod.get("restartPolicy")
    if policy not in (None, "", "Always"):
        errors.append(not_supported("spec.template.spec.restartPolicy", policy, ("Always",)))
    if pod.get("activeDeadlineSeconds") is not None:
        detail = f"activeDeadlineSeconds in {kind} is not Supported"
        errors.append(forbidden("spec.template.spec.activeDeadlineSeconds", detail))


def is_empty(selector: Object) -> bool:
    return not selector.get("matchLabels") and not selector.get("matchExpressions")


def selector_json(selector: Object | None) -> Any:
    """A label selector as kube prints it: without what is empty."""
    if selector is None:
        return None
    shown: dict[str, Any] = {}
    if selector.get("matchLabels"):
        shown["matchLabels"] = dict(sorted(selector["matchLabels"].items()))
    if selector.get("matchExpressions"):
        shown["matchExpressions"] = [
            {"key": each.get("key") or "", "operator": each.get("operator") or "", **_values(each)}
            for each in selector["matchExpressions"]
        ]
    return shown


def _values(expression: Object) -> dict[str, Any]:
    return {"values": list(expression["values"])} if expression.get("values") else {}
