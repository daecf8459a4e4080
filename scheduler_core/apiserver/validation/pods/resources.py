"""What a pod asks for as a whole (spec.resources).

kube: pkg/apis/core/validation/validation.go (validatePodResources, validatePodResourceConsistency) @ v1.34.1
"""

from __future__ import annotations

from scheduler_core.apimachinery.objects.demand.amounts import amounts, pod_amounts
from scheduler_core.apimachinery.objects.errors import forbidden, format_key_path, invalid, not_supported
from scheduler_core.apimachinery.objects.resources import HUGE_PAGES, is_pod_level_name
from scheduler_core.apiserver.validation import checks
from scheduler_core.apiserver.validation.checks import Errors
from scheduler_core.apiserver.validation.devices.pods import uses
from scheduler_core.apiserver.validation.pods.container import Pod


def pod_resources(pod: Pod, errors: Errors) -> None:
    """Names that count there, at least what the containers sum up to, and at least the limit of each."""
    resources, where = pod.spec.get("resources"), f"{pod.path}.resources"
    if resources is None:
        return
    if (pod.spec.get("os") or {}).get("name") == "windows":
        errors.append(forbidden(where, "may not be set for a windows pod"))
        return
    if resources.get("claims") is not None:
        detail = "claims may not be set for Resources at pod-level"
        errors.append(forbidden(f"{where}.claims", detail))
    checks.resource_requirements(resources, where, errors, _name)
    uses(resources.get("claims") or (), pod.claims, f"{where}.claims", errors)
    alone = {**pod.spec, "resources": None}
    requests, limits = amounts(resources.get("requests")), amounts(resources.get("limits"))
    for name, total in pod_amounts(alone, "requests", overhead=False).items():
        if name in requests and total.nanos > requests[name].nanos:
            detail = f"must be greater than or equal to aggregate container requests of {total.text}"
            errors.append(
                invalid(
                    format_key_path(f"{where}.requests", name),
                    checks.quantity_text(resources["requests"][name]),
                    detail,
                )
            )
    for name, total in pod_amounts(alone, "limits", overhead=False).items():
        if name.startswith(HUGE_PAGES) and name in limits and total.nanos > limits[name].nanos:
            detail = f"must be greater than or equal to aggregate container limits of {total.text}"
            errors.append(
                invalid(
                    format_key_path(f"{where}.limits", name),
                    checks.quantity_text(resources["limits"][name]),
                    detail,
                )
            )
    for i, raw in enumerate(pod.spec.get("containers") or ()):
        for name, limit in amounts((raw.get("resources") or {}).get("limits")).items():
            if name in limits and limit.nanos > limits[name].nanos:
                place = f"{format_key_path(f'{where}.containers[{i}]', name)}.limits"
                detail = f"must be less than or equal to pod limits of {checks.quantity_text(resources['limits'][name])}"
                shown = checks.quantity_text(raw["resources"]["limits"][name])
                errors.append(invalid(place, shown, detail))


def _name(name: str, path: str, errors: Errors) -> None:
    before = len(errors)
    checks.standard_name(name, path, errors)
    if len(errors) == before and not is_pod_level_name(name):
        errors.append(not_supported(path, name, ("cpu", "hugepages-", "memory")))
