"""Pods that admission or validation refuses: what the API server says of one more, and the change that it asks for."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from scheduler_core.analysis.fixes.admission import pod_of
from scheduler_core.analysis.fixes.commands import bare, clean
from scheduler_core.analysis.fixes.kubectl import format_apply, workload_of
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.quantity import nanos
from scheduler_core.apiserver.status import Refused
from scheduler_core.scheduler.framework.drafts import Change, Draft
from scheduler_core.scheduler.plugins.helper.arguments import likeness
from scheduler_core.world.simulation import Simulation

VALUE = 1_000  # of a PriorityClass that is made
PODS = "1000"
MOST, _PARALLEL = 2, "Parallel"
_USED_UP = {"DeadlineExceeded": "activeDeadlineSeconds", "FailedIndexes": "backoffLimitPerIndex"}


def explain_refusal(sim: Simulation, owner: Manifest, namespace: str) -> str:
    """Return what the API server says of one more pod of a workload, "" where it would take it."""
    try:
        sim.api.create(pod_of(owner, namespace), dry_run=True)
    except Refused as refused:
        return str(refused)
    return ""


def propose_admission(sim: Simulation, owner: Manifest, namespace: str, why: str) -> Iterator[Draft]:
    """Propose what a message asks for."""
    pod = pod_of(owner, namespace)
    draft = Draft(pod)
    above = workload_of(sim.store, owner) or owner
    target = f"{above['kind'].lower()} {above['metadata']['name']} -n {namespace}"
    for pattern, propose in _MESSAGES:
        for found in re.finditer(pattern, why):
            yield from propose(sim, draft, target, found)


def resume(sim: Simulation, owner: Manifest, namespace: str) -> Iterator[Draft]:
    """A workload that is held back by its own spec goes on."""
    above = workload_of(sim.store, owner) or owner
    kind, name, spec = above["kind"], above["metadata"]["name"], above["spec"]
    draft = Draft({"metadata": {"name": name, "namespace": namespace}, "spec": {}})
    change = Change("resume", {"owner": f"{kind} {name}"})
    if spec.get("paused"):
        yield draft.typing(change, f"kubectl rollout resume {kind.lower()} {name} -n {namespace}")
    if spec.get("suspend"):
        call = (
            f'kubectl patch {kind.lower()} {name} -n {namespace} --type=merge -p \'{{"spec": {{"suspend": false}}}}\''
        )
        yield draft.typing(change, call)


def rebuild(owner: Manifest, namespace: str) -> Iterator[Draft]:
    """A workload made anew, as what holds it can't be changed: the order of its pods, or what it has used up of retries and time."""
    kind, name, spec = owner["kind"], owner["metadata"]["name"], owner["spec"]
    draft, made = Draft(pod_of(owner, namespace)), clean(bare(owner))
    if kind == "StatefulSet" and spec.get("podManagementPolicy") != _PARALLEL:
        made["spec"] = {**spec, "podManagementPolicy": _PARALLEL}
        orphaning = f"kubectl delete statefulset {name} -n {namespace} --cascade=orphan"
        yield draft.typing(Change("parallel", {"owner": name}), orphaning, format_apply(made))
    failed = [each for each in (owner.get("status") or {}).get("conditions") or () if each.get("type") == "Failed"]
    if kind == "Job" and failed:
        field = _USED_UP.get(str(failed[0].get("reason")), "backoffLimit")
        limit = int(spec.get(field, 6))
        kept = {k: v for k, v in spec.items() if k not in ("selector", "manualSelector")}
        made["spec"] = {**kept, "template": {**spec["template"], "metadata": {}}, field: 2 * limit or 1}
        change = Change("job-anew", {"job": name, "field": field, "from": limit, "to": 2 * limit or 1})
        yield draft.typing(change, format_apply(made, "replace --force"))


Proposing = Callable[[Simulation, Draft, str, "re.Match[str]"], Iterator[Draft]]


def _allow_scope(sim: Simulation, draft: Draft, target: str, found: re.Match[str]) -> Iterator[Draft]:
    pod = draft.original
    name, namespace = str(pod["spec"].get("priorityClassName") or ""), pod["metadata"]["namespace"]
    if not name:
        return
    scope = {"scopeName": "PriorityClass", "operator": "In", "values": [name]}
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": f"{name}-pods", "namespace": namespace},
        "spec": {"hard": {"pods": PODS}, "scopeSelector": {"matchExpressions": [scope]}},
    }
    yield draft.typing(Change("quota-scope", {"namespace": namespace, "class": name}), format_apply(quota))
    yield _patch(draft, target, Change("priority-class-left", {"class": name}), {"priorityClassName": None})


def _make_class(sim: Simulation, draft: Draft, target: str, found: re.Match[str]) -> Iterator[Draft]:
    name = found["name"]
    made = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": VALUE}
    yield draft.typing(Change("priority-class", {"class": name}), format_apply(made))
    for other in _alike(sim, "PriorityClass", name):
        yield _patch(
            draft,
            target,
            Change("priority", {"class": other, "value": 0, "from": -1, "new": False}),
            {"priorityClassName": other},
        )


def _name_runtime_class(sim: Simulation, draft: Draft, target: str, found: re.Match[str]) -> Iterator[Draft]:
    name = found["name"]
    by_handler = [str(c["metadata"]["name"]) for c in sim.store.list("RuntimeClass") if c.get("handler") == name]
    for other in by_handler or _alike(sim, "RuntimeClass", name):
        change = Change("runtime-class-name", {"from": name, "to": other})
        yield _patch(draft, target, change, {"runtimeClassName": other})


def _alike(sim: Simulation, kind: str, name: str) -> list[str]:
    names = [str(each["metadata"]["name"]) for each in sim.store.list(kind)]
    ours = [each for each in names if not each.startswith("system-")]
    return sorted(ours, key=lambda other: (-likeness(name, other), other))[:MOST]


def _patch(draft: Draft, target: str, change: Change, spec: dict[str, Any]) -> Draft:
    patch = json.dumps({"spec": {"template": {"spec": spec}}})
    return draft.typing(change, f"kubectl patch {target} --type=merge -p '{patch}'")


def _keep_limits(sim: Simulation, draft: Draft, target: str, found: re.Match[str]) -> Iterator[Draft]:
    """The containers that go past a LimitRange ask for as much as it allows."""
    resource, allowed, most = found["resource"], found["amount"], found["what"] == "maximum"
    changed = draft
    for container in draft.original["spec"]["containers"]:
        given = container.get("resources") or {}
        for part in ("requests", "limits") if most else ("limits", "requests"):
            had = (given.get(part) or {}).get(resource)
            over = had is not None and (nanos(had) > nanos(allowed) if most else nanos(had) < nanos(allowed))
            if over or (had is None and part == found["field"] + "s"):
                changed = _setting(changed, target, container["name"], part, resource, allowed)
    if changed is not draft:
        yield changed


def _keep_ratio(sim: Simulation, draft: Draft, target: str, found: re.Match[str]) -> Iterator[Draft]:
    """The requests of the containers are raised to what the ratio of a LimitRange leaves."""
    resource, ratio = found["resource"], nanos(found["amount"]) / 1e9
    changed = draft
    for container in draft.original["spec"]["containers"]:
        limit = ((container.get("resources") or {}).get("limits") or {}).get(resource)
        if limit is not None:
            least = -(-int(nanos(limit) / ratio) // 1_000_000)
            text = f"{least}m" if resource == "cpu" else str(-(-least // 1000))
            changed = _setting(changed, target, container["name"], "requests", resource, text)
    if changed is not draft:
        yield changed


def _raise_limit(sim: Simulation, draft: Draft, target: str, found: re.Match[str]) -> Iterator[Draft]:
    """A limit that is set where the default of a LimitRange is less than the request, or a request that is no more than it."""
    name = draft.original["spec"]["containers"][int(found["index"])]["name"]
    yield _setting(draft, target, name, "limits", found["resource"], found["amount"])
    yield _setting(draft, target, name, "requests", found["resource"], found["most"])


def _setting(draft: Draft, target: str, container: str, part: str, resource: str, amount: str) -> Draft:
    values = {"field": part, "resource": resource, "container": container, "to": amount}
    call = f"kubectl set resources {target} -c {container} --{part}={resource}={amount}"
    return draft.typing(Change("limits", values), call)


def _make_account(sim: Simulation, draft: Draft, target: str, found: re.Match[str]) -> Iterator[Draft]:
    namespace, name = found["namespace"], found["name"]
    made = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": namespace}}
    change = Change("service-account", {"account": name, "namespace": namespace})
    yield draft.typing(change, format_apply(made))


def _enlarge_claims(sim: Simulation, draft: Draft, target: str, found: re.Match[str]) -> Iterator[Draft]:
    """The StatefulSet made anew with claims of the size that a LimitRange allows."""
    kind, name = target.split()[:2]
    owner = sim.store.get("StatefulSet", draft.original["metadata"]["namespace"], name)
    if owner is None or kind != "statefulset":
        return
    made = copy.deepcopy(clean(bare(owner)))
    for each in made["spec"]["volumeClaimTemplates"]:
        requests = each["spec"]["resources"]["requests"]
        if nanos(requests["storage"]) == nanos(found["asked"]):
            requests["storage"], name = found["amount"], each["metadata"]["name"]
    values = {"claim": name, "from": found["asked"], "to": found["amount"]}
    gone = f"kubectl delete {target} --cascade=orphan"
    yield draft.typing(Change("claim-size", values), gone, format_apply(made))


_SECURITY: Mapping[str, Mapping[str, Any]] = {
    "allowPrivilegeEscalation != false": {"allowPrivilegeEscalation": False},
    "runAsNonRoot != true": {"runAsNonRoot": True},
    "unrestricted capabilities": {"capabilities": {"drop": ["ALL"]}},
    "seccompProfile": {"seccompProfile": {"type": "RuntimeDefault"}},
    "privileged (": {"privileged": False},
}


def _secure(sim: Simulation, draft: Draft, target: str, found: re.Match[str]) -> Iterator[Draft]:
    """The containers get the security context that the level of their namespace wants; or the namespace gets the lowest level."""
    context = {k: v for text, fields in _SECURITY.items() if text in found.string for k, v in fields.items()}
    pod, level = draft.original, found["level"]
    if context:
        names = [each["name"] for each in pod["spec"]["containers"]]
        containers = [{"name": name, "securityContext": context} for name in names]
        patch = json.dumps({"spec": {"template": {"spec": {"containers": containers}}}})
        change = Change("security-context", {"level": level, "containers": names})
        yield draft.typing(change, f"kubectl patch {target} -p '{patch}'")
        return
    namespace = pod["metadata"]["namespace"]
    call = f"kubectl label namespace {namespace} pod-security.kubernetes.io/enforce=privileged --overwrite"
    yield draft.typing(Change("security-level", {"level": level, "namespace": namespace}), call)


_MESSAGES: tuple[tuple[str, Proposing], ...] = (
    (r"insufficient quota to match these scopes", _allow_scope),
    (r"looking up service account (?P<namespace>[^/\s]+)/(?P<name>[^:\s]+): serviceaccount", _make_account),
    (r'violates PodSecurity "(?P<level>[^":]+)', _secure),
    (r"no PriorityClass with name (?P<name>\S+) was found", _make_class),
    (r'RuntimeClass "?(?P<name>[^"\s]+)"? not found|runtimeclass\S* "(?P<other>[^"]+)" not found', _name_runtime_class),
    (
        r"(?P<what>maximum|minimum) (?P<resource>\S+) usage per Container is (?P<amount>\S+), but (?P<field>limit|request)",
        _keep_limits,
    ),
    (
        r"(minimum|maximum) storage usage per PersistentVolumeClaim is (?P<amount>\w+), but request is (?P<asked>\w+)",
        _enlarge_claims,
    ),
    (r"(?P<resource>\S+) max limit to request ratio per Container is (?P<amount>[^,\s]+)", _keep_ratio),
    (
        r'containers\[(?P<index>\d+)\]\.resources\.requests: Invalid value: "(?P<amount>[^"]+)": must be less than or equal to '
        r"(?P<resource>\S+) limit of (?P<most>\w+)",
        _raise_limit,
    ),
)
