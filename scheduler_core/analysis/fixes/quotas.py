"""Pods that are not there, as a quota keeps their controller from creating them.

The quota is raised by what all of them need; where they say nothing of what it limits, a LimitRange says it for them.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from typing import Any

from scheduler_core.analysis.fixes.admission import pod_of, quotas_of
from scheduler_core.analysis.fixes.fix import Budget, Findings
from scheduler_core.analysis.fixes.kubectl import kubectl_of
from scheduler_core.analysis.fixes.proof import Prover, make_fix
from scheduler_core.apimachinery.objects.demand import Amount, add, amounts
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.kinds import KINDS
from scheduler_core.apiserver.quota import usage
from scheduler_core.scheduler.framework.drafts import Change, Draft
from scheduler_core.world.simulation import Simulation

UNNAMED = "-*"  # ends the key of pods that have no name yet
_OWNERS = ("ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Job")

DEFAULTS = {
    "cpu": "100m",
    "memory": "128Mi",
    "ephemeral-storage": "1Gi",
}  # of a container that asks for nothing
_LIMITS, _REQUESTS = "limits.", "requests."


def search_uncreated(sim: Simulation, key: str, budget: Budget) -> Generator[None, None, Findings]:
    """Search fixes for the pods namespace/owner-* that their owner could not create."""
    namespace, _, name = key.removesuffix(UNNAMED).partition("/")
    owner = _owner(sim, namespace, name)
    if owner is None:
        return Findings(key, "gone")
    draft = _raise_quotas(sim, owner, namespace)
    if not draft.changes:
        return Findings(key, "searched")
    text = kubectl_of(draft, sim.store)
    prover = Prover(sim, key, budget, owner)
    proof = yield from prover.prove(text, budget.proof_steps, goal=prover.created())
    if not proof.reached:
        return Findings(key, "searched", tried=1, unproven=1)
    return Findings(key, "searched", (make_fix(draft, text, proof),), tried=1)


def _owner(sim: Simulation, namespace: str, name: str) -> Manifest | None:
    """Return the object that creates the pods; for a Deployment, the newest ReplicaSet."""
    deployment = sim.store.get("Deployment", namespace, name)
    if deployment is not None:
        keys = sim.store.controlled("ReplicaSet", deployment["metadata"]["uid"])
        name = keys[-1][1] if keys else name
    return next((found for kind in _OWNERS if (found := sim.store.get(kind, namespace, name))), None)


def _raise_quotas(sim: Simulation, owner: Manifest, namespace: str) -> Draft:
    """Each limit that the missing pods would exceed, raised to what is used with them; defaults for what they don't say."""
    pod = pod_of(owner, namespace)
    kind, draft = KINDS["Pod"], Draft(pod)
    each = usage(kind, pod, 0)
    needed: dict[str, Amount] = {}
    for _ in range(max(missing_of(owner), 1)):
        add(needed, each)
    unsaid: dict[str, None] = {}
    for quota in quotas_of(sim, pod):
        unsaid |= dict.fromkeys(_unsaid(quota, pod))
        draft = _with_room(draft, quota, needed)
    return _with_defaults(draft, namespace, list(unsaid)) if unsaid else draft


def missing_of(owner: Manifest) -> int:
    """Return the number of pods that an owner wants but does not have."""
    kind, spec, status = owner["kind"], owner.get("spec") or {}, owner.get("status") or {}
    if kind == "DaemonSet":
        return int(status.get("desiredNumberScheduled") or 0) - int(status.get("currentNumberScheduled") or 0)
    wanted = spec.get("parallelism" if kind == "Job" else "replicas")
    return int(1 if wanted is None else wanted) - int(
        status.get("active" if kind == "Job" else "replicas") or 0
    )


def _unsaid(quota: Manifest, pod: Manifest) -> Iterator[str]:
    """Yield the fields that the quota limits and that some container does not set, such as "limits.cpu"."""
    spec = pod["spec"]
    for name in quota["spec"].get("hard") or {}:
        field, _, resource = name.rpartition(".")
        field = field or ("requests" if name in DEFAULTS else "")
        if field not in ("limits", "requests") or resource not in DEFAULTS:
            continue
        for container in (*spec["containers"], *(spec.get("initContainers") or ())):
            said = container.get("resources") or {}
            given = {
                **(said.get("limits") or {}),
                **((said.get("requests") or {}) if field == "requests" else {}),
            }
            if resource not in given:
                yield f"{field}.{resource}"


def _with_defaults(draft: Draft, namespace: str, unsaid: list[str]) -> Draft:
    """A LimitRange: the API server writes into new pods what their containers don't say."""
    limits, requests = (
        {
            name.removeprefix(field): DEFAULTS[name.removeprefix(field)]
            for name in unsaid
            if name.startswith(field)
        }
        for field in (_LIMITS, _REQUESTS)
    )
    item: dict[str, Any] = {"type": "Container"}
    item |= {"default": limits} if limits else {}
    item |= {"defaultRequest": requests} if requests else {}
    manifest = {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "container-defaults", "namespace": namespace},
        "spec": {"limits": [item]},
    }
    values = {"namespace": namespace, "resources": unsaid}
    return draft.with_applied(Change("limit-range", values), manifest)


def _with_room(draft: Draft, quota: Manifest, needed: Mapping[str, Amount]) -> Draft:
    hard, after = amounts(quota["spec"].get("hard")), amounts((quota.get("status") or {}).get("used"))
    add(after, {name: amount for name, amount in needed.items() if name in hard})
    for name in sorted(hard):
        if name in needed and after[name].nanos > hard[name].nanos:
            meta, text = quota["metadata"], after[name].text
            values = {"quota": meta["name"], "resource": name, "from": hard[name].text, "to": text}
            spec = {**quota["spec"], "hard": {**quota["spec"]["hard"], name: text}}
            quota = {**quota, "spec": spec}
            draft = draft.with_applied(Change("quota", values), quota)
    return draft
