"""ResourceQuota: a new or changed object must fit into each quota of its namespace that counts it; status.used is updated at once.

Settings: ResourceQuotaConfiguration (limitedResources: resources that may be used only if a quota covers them).

kube: apiserver/pkg/admission/plugin/resourcequota/controller.go (CheckRequest), pkg/quota/v1/evaluator/core/pods.go (Constraints) @
v1.34.1
"""

from collections.abc import Mapping
from typing import Any

from scheduler_core.apimachinery.objects.demand import Amounts, add, amounts, difference, texts
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.admission.plugin import AdmissionPlugin, Request
from scheduler_core.apiserver.options import LimitedResource
from scheduler_core.apiserver.quota import (
    Scope,
    by_quota_names,
    format_scopes,
    in_scope,
    is_terminating,
    matching,
    scopes_of,
    usage,
)
from scheduler_core.apiserver.status import unknown_error

# if a quota limits one of these, each container must request it
_TO_BE_SAID = ("cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory")
_IGNORED = ("Event", "Namespace")


class ResourceQuota(AdmissionPlugin):
    name = "ResourceQuota"

    def validate(self, request: Request, manifest: Manifest) -> None:
        if _handles(request, manifest) and not _is_there(request, manifest):
            _list_charges(request, manifest)

    def commit(self, request: Request, manifest: Manifest) -> None:
        if not _handles(request, manifest) or _is_there(request, manifest):
            return
        # Charged only here: validate() of a later plugin, or an object of the same name, may refuse the request.
        for quota, used in _list_charges(request, manifest):
            status = {**(quota.get("status") or {}), "used": texts(used)}
            request.store.replace({**quota, "status": status}, "ResourceQuota")


def _is_there(request: Request, manifest: Manifest) -> bool:
    """Return whether a dump without uids contains the object as existing, so that its quotas count it: a bound claim or a running pod."""
    phases = {"Pod": "Running", "PersistentVolumeClaim": "Bound"}
    phase = (manifest.get("status") or {}).get("phase")
    return request.imported and phase is not None and phase == phases.get(request.kind.key)


def _handles(request: Request, manifest: Manifest) -> bool:
    if not request.namespace or request.kind.key in _IGNORED or request.operation == "DELETE":
        return False
    if request.kind.key == "Pod":
        if request.subresource == "resize":
            return True
        old = request.old
        changed = old is None or is_terminating(old) != is_terminating(manifest)
        return not request.subresource and changed
    if request.subresource:
        return False
    return request.operation == "CREATE" or request.kind.key in ("Service", "PersistentVolumeClaim")


def _list_charges(request: Request, manifest: Manifest) -> list[tuple[Manifest, Amounts]]:
    """Return the quotas that count the object, with their usage including it. Raise Refused."""
    quotas = request.in_namespace("ResourceQuota")
    limited = request.options.resource_quota.limited
    if not quotas and not limited:
        return []
    wall = request.store.epoch + request.now
    used = usage(request.kind, manifest, wall)
    interesting = [each for each in quotas if _counts(request, each, manifest)]
    covered = {name for each in interesting for name in _list_matching_resources(request, each)}
    charges = []
    for quota in interesting:
        names = _list_matching_resources(request, quota)
        _demand_requests(request, quota, names, manifest)
        _demand_status(request, quota, names)
        delta = _delta(request, quota, used, wall)
        if delta:
            charges.append((quota, delta))
    if not interesting:
        if not _delta(request, None, used, wall):
            return []
    elif not charges:
        return []
    _demand_covered(request, manifest, used, limited, covered, quotas)
    return [(quota, _add_usage(request, quota, delta)) for quota, delta in charges]


def _counts(request: Request, quota: Manifest, manifest: Manifest) -> bool:
    if not _list_matching_resources(request, quota):
        return False
    return all(in_scope(scope, request.kind, manifest) for scope in scopes_of(quota))


def _list_matching_resources(request: Request, quota: Manifest) -> list[str]:
    """Return the resources in a quota's status.hard that objects of the request's kind use."""
    return matching(request.kind, (quota.get("status") or {}).get("hard") or ())


def _delta(request: Request, quota: Manifest | None, used: Amounts, wall: int) -> Amounts:
    """Return the usage that the request adds, without zeros."""
    old = request.old
    if old is not None and (quota is None or _counts(request, quota, old)):
        used = difference(used, usage(request.kind, old, wall))
        # Usage that an update frees is subtracted by the quota controller (kube: SubtractWithNonNegativeResult).
        used = {name: amount for name, amount in used.items() if amount.nanos > 0}
    return {name: amount for name, amount in used.items() if amount.nanos}


def _demand_requests(request: Request, quota: Manifest, names: list[str], manifest: Manifest) -> None:
    if request.kind.key != "Pod":
        return
    spec = manifest["spec"]
    whole = spec.get("resources") or {}
    if whole.get("requests") or whole.get("limits"):
        return
    missing: dict[str, list[str]] = {}
    for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
        resources = container.get("resources") or {}
        said = by_quota_names(amounts(resources.get("requests")), amounts(resources.get("limits")))
        for name in names:
            if name in _TO_BE_SAID and name not in said:
                missing.setdefault(name, []).append(container["name"])
    if missing:
        parts = [f"{name} for: {','.join(sorted(missing[name]))}" for name in sorted(missing)]
        raise request.refuse(f"failed quota: {quota['metadata']['name']}: must specify {'; '.join(parts)}")


def _demand_status(request: Request, quota: Manifest, names: list[str]) -> None:
    known = (quota.get("status") or {}).get("used") or {}
    if any(name not in known for name in names):
        listed = ",".join(sorted(names))
        what = f"status unknown for quota: {quota['metadata']['name']}"
        raise request.refuse(f"{what}, resources: {listed}")


def _demand_covered(
    request: Request,
    manifest: Manifest,
    used: Amounts,
    limited: tuple[LimitedResource, ...],
    covered: set[str],
    quotas: list[Manifest],
) -> None:
    """Raise Refused if the request uses resources limited by default that no quota covers."""
    group, plural = request.kind.group, request.kind.plural
    ours = [each for each in limited if (each.api_group, each.resource) == (group, plural)]
    parts = [part for each in ours for part in each.match_contains]
    needed = {name for name in used if used[name].nanos > 0 and any(part in name for part in parts)}
    if needed - covered:
        raise request.refuse(f"insufficient quota to consume: {','.join(sorted(needed - covered))}")
    scopes: list[Scope] = [
        {"scopeName": scope.scope_name, "operator": scope.operator, "values": scope.values}
        for each in limited
        for scope in each.match_scopes
    ]
    wanted = [scope for scope in scopes if in_scope(scope, request.kind, manifest)]
    there = [
        scope.get("scopeName")
        for each in quotas
        for scope in scopes_of(each)
        if in_scope(scope, request.kind, manifest)
    ]
    uncovered = [scope for scope in wanted if scope.get("scopeName") not in there]
    if uncovered:
        raise unknown_error(f"insufficient quota to match these scopes: {format_scopes(uncovered)}", request.what)


def _add_usage(request: Request, quota: Manifest, delta: Amounts) -> Amounts:
    """Return the quota's usage after the request. Raise Refused if that usage exceeds the quota."""
    status = quota["status"]
    hard, used = amounts(status.get("hard")), amounts(status.get("used"))
    requested = {name: amount for name, amount in delta.items() if name in hard}
    after = dict(used)
    add(after, requested)
    exceeded = [name for name in requested if after[name].nanos > hard[name].nanos]
    if exceeded:
        lists = [_format_amounts(each, exceeded) for each in (requested, used, hard)]
        what = f"exceeded quota: {quota['metadata']['name']}"
        raise request.refuse(f"{what}, requested: {lists[0]}, used: {lists[1]}, limited: {lists[2]}")
    return after


def _format_amounts(resources: Mapping[str, Any], names: list[str]) -> str:
    return ",".join(f"{name}={resources[name].text}" for name in sorted(names) if name in resources)
