"""The eviction subresource of pods, which checks PodDisruptionBudgets before it deletes; and disruptions, which do not check them.

| pod | its PodDisruptionBudgets | result |
|---|---|---|
| Pending, ended, or being deleted | any | deleted |
| any other | none | deleted |
| any other | several | 500 |
| not ready | AlwaysAllow, or currentHealthy >= desiredHealthy > 0 | deleted, without a charge to the budget |
| any other | one | 429, or disruptionsAllowed decreases by one, and the pod is added to disruptedPods and deleted |

kube: pkg/registry/core/pod/storage/eviction.go, plugin/pkg/admission/noderestriction/admission.go (admitPodEviction),
component-helpers/apps/poddisruptionbudget/helpers.go @ v1.34.1
"""

from collections.abc import Mapping
from typing import Any

from scheduler_core.apimachinery.objects import LabelSelector, Manifest, Pod
from scheduler_core.apiserver.admission.catalogue import plugins_of
from scheduler_core.apiserver.admission.plugin import ADMIN, Request
from scheduler_core.apiserver.kinds import get_kind_by_key, reference
from scheduler_core.apiserver.rewriting import with_condition
from scheduler_core.apiserver.server import APIServer, Preconditions
from scheduler_core.apiserver.status import Answer, Refused, conflict, forbidden

DISRUPTION_TARGET = "DisruptionTarget"
DELETION_BY_TAINT_MANAGER, EVICTION_BY_API = "DeletionByTaintManager", "EvictionByEvictionAPI"
DELETION_BY_DEVICE_TAINT_MANAGER = "DeletionByDeviceTaintManager"
_KUBELET = "system:node:"
MOST_DISRUPTED = 2000
SEVERAL = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
VIOLATES = "Cannot evict pod as it would violate the pod's disruption budget."
BEING_PROCESSED = "The disruption budget {} is still being processed by the server."


def evict(
    api: APIServer,
    key: str,
    grace: int | None = None,
    dry_run: bool = False,
    preconditions: Preconditions | None = None,
    user: str = ADMIN,
) -> None:
    """POST pods/eviction. `grace`: seconds (None: the pod's own). Raise Refused: 403, 404, 429, 500, or 409 if a precondition fails."""
    namespace, _, name = key.partition("/")
    _admit(api, namespace, name, user)
    api.found(("Pod", namespace, name))
    pod = api.store.pod_at(key)
    assert pod is not None
    budget = None if (pod.deleting or pod.phase in ("Succeeded", "Failed", "Pending")) else _pick_budget(api, pod)
    _demand(pod, preconditions)
    if dry_run:
        return
    if budget is not None:
        meta, status = budget["metadata"], dict(budget.get("status") or {})
        timestamp = api.store.timestamp(api.now)
        # Charged here, not by the controller: a second eviction before its next sync would use the same allowance.
        status["disruptionsAllowed"] -= 1
        if status["disruptionsAllowed"] == 0:
            status["conditions"] = disruption_allowed(status, timestamp)
        status["disruptedPods"] = {**(status.get("disruptedPods") or {}), pod.name: timestamp}
        api.patch_status(("PodDisruptionBudget", meta["namespace"], meta["name"]), status)
    disrupt(api, key, EVICTION_BY_API, "Eviction API: evicting", grace)


def disrupt(api: APIServer, key: str, reason: str, message: str, grace: int | None = None) -> None:
    """Mark a pod with the condition DisruptionTarget and delete it. Raise Refused (404)."""
    namespace, _, name = key.partition("/")
    target = ("Pod", namespace, name)
    manifest = api.found(target)
    condition: dict[str, Any] = {"type": DISRUPTION_TARGET, "status": "True", "reason": reason, "message": message}
    if reason not in (EVICTION_BY_API, DELETION_BY_DEVICE_TAINT_MANAGER):
        condition["observedGeneration"] = int(manifest["metadata"].get("generation") or 0)
    # The condition is written before the DELETE, because the pod may no longer exist after it.
    status = with_condition(manifest.get("status") or {}, condition, api.store.timestamp(api.now))
    if status is not None:
        api.patch_status(target, status)
    api.delete(target, grace)


def budgets_for(api: APIServer, pod: Pod) -> list[Manifest]:
    """Return the PodDisruptionBudgets that cover a pod, by name; an empty selector covers all pods of the namespace."""
    return [
        budget
        for budget in api.store.list("PodDisruptionBudget")
        if budget["metadata"].get("namespace") == pod.namespace
        and LabelSelector.of((budget.get("spec") or {}).get("selector")).matches(pod.labels)
    ]


def disruption_allowed(status: Manifest, timestamp: str) -> list[Manifest]:
    """Return the conditions of a budget, with DisruptionAllowed set according to disruptionsAllowed."""
    allowed = (status.get("disruptionsAllowed") or 0) > 0
    condition = {
        "type": "DisruptionAllowed",
        "status": "True" if allowed else "False",
        "reason": "SufficientPods" if allowed else "InsufficientPods",
        "message": "",
    }
    return set_condition(status, condition, timestamp)


def set_condition(status: Manifest, condition: Mapping[str, Any], timestamp: str) -> list[Manifest]:
    """Return the conditions of an object with one set. kube: apimachinery/pkg/api/meta/conditions.go"""
    conditions: list[Manifest] = list(status.get("conditions") or ())
    fresh = {**condition, "lastTransitionTime": timestamp}
    if status.get("observedGeneration"):
        fresh["observedGeneration"] = status["observedGeneration"]
    for index, old in enumerate(conditions):
        if old.get("type") == condition["type"]:
            if old.get("status") == condition["status"] and old.get("lastTransitionTime"):
                fresh["lastTransitionTime"] = old["lastTransitionTime"]
            conditions[index] = fresh
            return conditions
    return [*conditions, fresh]


def _admit(api: APIServer, namespace: str, name: str, user: str) -> None:
    """Check admission of an eviction. Raise Refused in a terminating namespace, or if a kubelet evicts a pod of another node."""
    request = Request(
        api.store,
        api.options,
        api.now,
        "CREATE",
        get_kind_by_key("Pod"),
        namespace,
        name,
        subresource="eviction",
        user=user,
    )
    for plugin in plugins_of(api.options).all:
        if plugin.name == "NamespaceLifecycle":
            plugin.admit(request, {})
        if plugin.name == "NodeRestriction" and user.startswith(_KUBELET):
            node = user.removeprefix(_KUBELET)
            pod = api.store.pod(namespace, name)
            if pod is not None and pod.node_name != node:
                raise request.refuse(f"node {node} can only evict pods with spec.nodeName set to itself")


def _pick_budget(api: APIServer, pod: Pod) -> Manifest | None:
    """Return the budget to charge for an eviction, or None. Raise Refused if a budget does not allow the eviction."""
    budgets = budgets_for(api, pod)
    if len(budgets) > 1:
        raise _build_eviction_error(pod, Answer(message=SEVERAL, status=500))
    # An unready pod is not part of currentHealthy, so kube does not charge the budget for it either.
    if not budgets or (not pod.ready and _lets_unready_go(budgets[0])):
        return None
    refusal = _refusal(budgets[0])
    if refusal is not None:
        raise _build_eviction_error(pod, refusal)
    return budgets[0]


def _demand(pod: Pod, wanted: Preconditions | None) -> None:
    """Raise Refused (409) if the pod violates a precondition. DEVIATION: kube has charged the budget by then."""
    version = str(pod.manifest["metadata"].get("resourceVersion") or "")
    if wanted is None or (wanted.uid in ("", pod.uid) and wanted.resource_version in ("", version)):
        return
    if wanted.uid not in ("", pod.uid):
        what, more = ("UID", wanted.uid, pod.uid), "deleted and then recreated"
    else:
        what, more = ("ResourceVersion", wanted.resource_version, version), "modified"
    name, given, found = what
    why = f"the {name} in the precondition ({given}) does not match the {name} in record ({found}). The object might have been {more}"
    raise _build_eviction_error(pod, conflict("Pod", pod.name, why))


def _build_eviction_error(pod: Pod, answer: Answer) -> Refused:
    return Refused.because(answer, reference("Pod", pod.namespace, pod.name))


def _lets_unready_go(budget: Manifest) -> bool:
    if (budget.get("spec") or {}).get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    status = budget.get("status") or {}
    desired = status.get("desiredHealthy") or 0
    return desired > 0 and (status.get("currentHealthy") or 0) >= desired


def _refusal(budget: Manifest) -> Answer | None:
    """Return the reason why a budget allows no eviction now, or None."""
    meta, status = budget["metadata"], budget.get("status") or {}
    name = meta["name"]
    # The status still belongs to an older spec, so it may allow more than the present one does.
    if (status.get("observedGeneration") or 0) < (meta.get("generation") or 0):
        return Answer("TooManyRequests", VIOLATES, (BEING_PROCESSED.format(name),), retry_after=10)
    allowed = status.get("disruptionsAllowed") or 0
    if allowed < 0:
        return forbidden("poddisruptionbudget.policy", name, "pdb disruptions allowed is negative")
    if len(status.get("disruptedPods") or ()) > MOST_DISRUPTED:
        why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller"
        return forbidden("poddisruptionbudget.policy", name, why)
    if allowed == 0:
        desired, current = status.get("desiredHealthy") or 0, status.get("currentHealthy") or 0
        cause = f"The disruption budget {name} needs {desired} healthy pods and has {current} currently"
        return Answer("TooManyRequests", VIOLATES, (cause,))
    return None
