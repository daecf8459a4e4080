"""LimitRanger: applies a namespace's LimitRanges, which set defaults for containers and limit the resources of pods and claims.

kube: plugin/pkg/admission/limitranger/admission.go @ v1.34.1
"""

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler_core.apimachinery.objects.demand import ZERO, Amount, Amounts, amounts, pod_amounts
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.quantity import milli_of_nanos, value_of_nanos
from scheduler_core.apiserver.admission.plugin import AdmissionPlugin, Request
from scheduler_core.apiserver.rewriting import with_section

ANNOTATION = "kubernetes.io/limit-ranger"
_MOST_MILLI = (2**63 - 1) // 1000
Item = Mapping[str, Any]


class LimitRanger(AdmissionPlugin):
    name = "LimitRanger"
    pods_by_spec = True

    def admit(self, request: Request, manifest: Manifest) -> Manifest:
        if request.kind.key == "Pod":
            for limit_range in _ranges(request):
                manifest = _with_defaults(manifest, limit_range)
        return manifest

    def validate(self, request: Request, manifest: Manifest) -> None:
        for limit_range in _ranges(request):
            problems = [
                problem
                for item in _items(limit_range)
                for problem in (_of_pod if request.kind.key == "Pod" else _of_claim)(item, manifest)
            ]
            if problems:
                unique = list(dict.fromkeys(problems))
                raise request.refuse(unique[0] if len(unique) == 1 else f"[{', '.join(unique)}]")


def _ranges(request: Request) -> list[Manifest]:
    """Return the LimitRanges that apply to the request."""
    if request.operation == "DELETE" or request.kind.key not in ("Pod", "PersistentVolumeClaim"):
        return []
    if request.kind.key == "Pod" and request.operation == "UPDATE":
        if request.subresource != "resize":
            return []
    elif request.subresource:
        return []
    if request.old is not None and request.old["metadata"].get("deletionTimestamp"):
        return []
    return request.in_namespace("LimitRange")


def _items(limit_range: Manifest) -> list[Item]:
    return list((limit_range.get("spec") or {}).get("limits") or ())


# defaults


def _with_defaults(manifest: Manifest, limit_range: Manifest) -> Manifest:
    requests: dict[str, Any] = {}
    limits: dict[str, Any] = {}
    for item in _items(limit_range):
        if item.get("type") == "Container":
            requests.update(item.get("defaultRequest") or {})
            limits.update(item.get("default") or {})
    notes: list[str] = []
    changes: dict[str, Any] = {}
    for field, prefix in (("containers", "container"), ("initContainers", "init container")):
        containers = manifest["spec"].get(field) or []
        merged = [_merge_defaults(container, requests, limits, prefix, notes) for container in containers]
        if merged != containers:
            changes[field] = merged
    if not notes:
        return manifest
    note = {ANNOTATION: f"LimitRanger plugin set: {'; '.join(notes)}"}
    annotations = {**(manifest["metadata"].get("annotations") or {}), **note}
    return with_section(with_section(manifest, "spec", changes), "metadata", {"annotations": annotations})


def _merge_defaults(
    container: Item, requests: Mapping[str, Any], limits: Mapping[str, Any], prefix: str, notes: list[str]
) -> Item:
    resources = dict(container.get("resources") or {})
    for side, defaults, word in (("requests", requests, "request"), ("limits", limits, "limit")):
        given = resources.get(side) or {}
        missing = {name: quantity for name, quantity in defaults.items() if name not in given}
        if missing:
            resources[side] = {**given, **missing}
            notes.append(f"{', '.join(sorted(missing))} {word} for {prefix} {container.get('name')}")
    return {**container, "resources": resources} if resources != (container.get("resources") or {}) else container


# limits


def _of_pod(item: Item, pod: Manifest) -> Iterator[str]:
    type_, spec = item.get("type"), pod["spec"]
    if type_ == "Container":
        for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
            resources = container.get("resources") or {}
            yield from _bounds(item, amounts(resources.get("requests")), amounts(resources.get("limits")))
    elif type_ == "Pod":
        requests = pod_amounts(spec, "requests", overhead=False)
        yield from _bounds(item, requests, pod_amounts(spec, "limits", overhead=False))


def _of_claim(item: Item, claim: Manifest) -> Iterator[str]:
    """Yield a claim's violations of a limit item; only requests count."""
    if item.get("type") != "PersistentVolumeClaim":
        return
    resources = (claim.get("spec") or {}).get("resources") or {}
    requests = amounts(resources.get("requests"))
    for name, least in amounts(item.get("min")).items():
        yield from _least("PersistentVolumeClaim", name, least, requests, {})
    for name, most in amounts(item.get("max")).items():
        what = f"maximum {name} usage per PersistentVolumeClaim is {most.text}"
        if name not in requests:
            yield f"{what}.  No request is specified"
        elif _exceeds(requests[name], most):
            yield f"{what}, but request is {requests[name].text}"


def _bounds(item: Item, requests: Amounts, limits: Amounts) -> Iterator[str]:
    type_ = str(item.get("type"))
    for name, least in amounts(item.get("min")).items():
        yield from _least(type_, name, least, requests, limits)
    for name, most in amounts(item.get("max")).items():
        yield from _most(type_, name, most, requests, limits)
    for name, ratio in amounts(item.get("maxLimitRequestRatio")).items():
        request = requests.get(name, ZERO)
        limit = limits.get(name, ZERO)
        what = f"{name} max limit to request ratio per {type_} is {ratio.text}"
        if not request.nanos:
            yield f"{what}, but no request is specified or request is 0"
        elif not limit.nanos:
            yield f"{what}, but no limit is specified or limit is 0"
        else:
            count = milli_of_nanos if max(map(_units, (request, limit))) <= _MOST_MILLI else value_of_nanos
            observed = count(limit.nanos) / count(request.nanos)
            if observed * 1000 > milli_of_nanos(ratio.nanos):
                yield f"{what}, but provided ratio is {observed:f}"


def _least(type_: str, name: str, least: Amount, requests: Amounts, limits: Amounts) -> Iterator[str]:
    what = f"minimum {name} usage per {type_} is {least.text}"
    if name not in requests:
        yield f"{what}.  No request is specified"
    elif _exceeds(least, requests[name]):
        yield f"{what}, but request is {requests[name].text}"
    elif name in limits and _exceeds(least, limits[name]):
        yield f"{what}, but limit is {limits[name].text}"


def _most(type_: str, name: str, most: Amount, requests: Amounts, limits: Amounts) -> Iterator[str]:
    what = f"maximum {name} usage per {type_} is {most.text}"
    if name not in limits:
        yield f"{what}.  No limit is specified"
    elif _exceeds(limits[name], most):
        yield f"{what}, but limit is {limits[name].text}"
    elif name in requests and _exceeds(requests[name], most):
        yield f"{what}, but request is {requests[name].text}"


def _exceeds(amount: Amount, bound: Amount) -> bool:
    """Return whether an amount exceeds a bound: in thousandths, or in whole units if thousandths would overflow."""
    if max(_units(amount), _units(bound)) <= _MOST_MILLI:
        return milli_of_nanos(amount.nanos) > milli_of_nanos(bound.nanos)
    return _units(amount) > _units(bound)


def _units(amount: Amount) -> int:
    return value_of_nanos(amount.nanos)
