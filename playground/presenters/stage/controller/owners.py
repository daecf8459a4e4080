"""Workloads and budgets: what owns what, how many pods are wanted and are there, and how many may go."""

from collections.abc import Iterator
from typing import TypedDict

from playground.presenters.scene import PodRef, pod_ref, short
from playground.presenters.stage.controller.changed import AllChanged, Changed
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.base.trace.kinds import Reconciled
from scheduler_core.world.readonly import WorldView, controller_of

MOST, PODS = 4, 12
OF_CONTROLLER = {
    "deployment-controller": "Deployment",
    "replicaset-controller": "ReplicaSet",
    "replicationcontroller-controller": "ReplicationController",
    "statefulset-controller": "StatefulSet",
    "daemonset-controller": "DaemonSet",
    "job-controller": "Job",
    "cronjob-controller": "CronJob",
}
_KINDS = tuple(OF_CONTROLLER.values())
Owner = tuple[str, str, str]


def owners(sim: WorldView, rows: AllChanged) -> "list[OwnerChain]":
    """Chains of owners, the topmost first, each with its counts; at the end the pods that have just come, changed or gone."""
    chains: dict[tuple[Owner, ...], list[Changed]] = {}
    for leaf in _leaves(sim, rows):
        chains.setdefault(leaf, [])
    for pod in rows.of("Pod"):
        reference = controller_of(pod.now)
        if reference is not None and reference.get("kind") in _KINDS:
            owner = (str(reference["kind"]), pod.namespace, str(reference["name"]))
            chains.setdefault(_chain(sim, owner), []).append(pod)
    longest = [way for way in chains if not any(way != more and more[: len(way)] == way for more in chains)]
    return [_present_owner_chain(sim, way, chains[way]) for way in longest[:MOST]]


def chain_of(sim: WorldView, owner: Owner) -> "OwnerChain":
    """One workload's chain, whatever has changed of it."""
    return _present_owner_chain(sim, _chain(sim, owner), [])


def _leaves(sim: WorldView, rows: AllChanged) -> Iterator[tuple[Owner, ...]]:
    """Yield the chain of the workload that a controller reconciled, and of those that changed."""
    for record in sim.last[-1:]:
        facts = record.of(Reconciled)
        kind = None if facts is None else OF_CONTROLLER.get(facts.controller)
        if facts is not None and kind is not None:
            namespace, _, name = facts.key.rpartition("/")
            yield _chain(sim, (kind, namespace, name))
    for each in rows.of(*_KINDS):
        yield _chain(sim, (each.kind, each.namespace, each.name))


def _chain(sim: WorldView, owner: Owner) -> tuple[Owner, ...]:
    """An object and its owners, the topmost first."""
    way = [owner]
    while len(way) < MOST:
        kind, namespace, name = way[0]
        reference = controller_of(sim.store.get(kind, namespace, name))
        if reference is None:
            break
        way.insert(0, (str(reference["kind"]), namespace, str(reference["name"])))
    return (*way, *_largest_set(sim, way[-1]))


def _largest_set(sim: WorldView, owner: Owner) -> tuple[Owner, ...]:
    """Return a Deployment's ReplicaSet with the most pods; nothing for other kinds."""
    kind, namespace, name = owner
    deployment = sim.store.get(kind, namespace, name) if kind == "Deployment" else None
    if deployment is None:
        return ()
    uid = deployment["metadata"].get("uid")
    owned = [each for each in sim.store.list("ReplicaSet") if (controller_of(each) or {}).get("uid") == uid]
    largest = max(owned, key=lambda each: int((each.get("spec") or {}).get("replicas") or 0), default=None)
    return () if largest is None else (("ReplicaSet", namespace, str(largest["metadata"]["name"])),)


class ChangedPod(PodRef):
    what: str
    gone: bool


class OwnerChain(TypedDict):
    way: "list[Workload]"
    pods: list[ChangedPod]
    more: int


def _present_owner_chain(sim: WorldView, way: tuple[Owner, ...], pods: list[Changed]) -> OwnerChain:
    return {
        "way": [_workload(sim, owner) for owner in way],
        "pods": [{**pod_ref(pod.key), "what": pod.what.lower(), "gone": pod.now is None} for pod in pods[:PODS]],
        "more": max(len(pods) - PODS, 0),
    }


class Counts(TypedDict):
    """The number of desired, existing, and ready pods; for a Job: completions, active, and succeeded pods."""

    desired: int | None
    current: int | None
    ready: int | None


_UNCOUNTED: Counts = {"desired": None, "current": None, "ready": None}


class Workload(Counts):
    kind: str
    name: str
    at: str
    gone: bool


def _workload(sim: WorldView, owner: Owner) -> Workload:
    kind, namespace, name = owner
    manifest = sim.store.get(kind, namespace, name)
    key = f"{namespace}/{name}" if namespace else name
    counts = _counts(kind, manifest) if manifest is not None else _UNCOUNTED
    gone = manifest is None
    return {"kind": kind, "name": short(key), "at": f"{kind}/{namespace}/{name}", "gone": gone, **counts}


def _counts(kind: str, manifest: Manifest) -> Counts:
    spec, status = manifest.get("spec") or {}, manifest.get("status") or {}
    if kind == "DaemonSet":
        names = ("desiredNumberScheduled", "currentNumberScheduled", "numberReady")
        desired, current, ready = (int(status.get(name) or 0) for name in names)
    elif kind == "Job":
        desired, current = int(spec.get("completions") or 1), int(status.get("active") or 0)
        ready = int(status.get("succeeded") or 0)
    elif kind == "CronJob":
        return _UNCOUNTED
    else:
        wanted = spec.get("replicas")
        desired = 1 if wanted is None else int(wanted)
        current, ready = int(status.get("replicas") or 0), int(status.get("readyReplicas") or 0)
    return {"desired": desired, "current": current, "ready": ready}


class BudgetRow(TypedDict):
    name: str
    allowed: int
    healthy: int
    needed: int


def budgets(sim: WorldView, rows: AllChanged) -> list[BudgetRow]:
    """The PodDisruptionBudgets that changed."""
    return [
        {
            "name": short(each.key),
            "allowed": int(status.get("disruptionsAllowed") or 0),
            "healthy": int(status.get("currentHealthy") or 0),
            "needed": int(status.get("desiredHealthy") or 0),
        }
        for each in rows.of("PodDisruptionBudget")[:MOST]
        if each.now is not None
        for status in [each.now.get("status") or {}]
    ]
