"""The components around the schedulers, as data for users: controllers, nodes, budgets, rollouts. Times are virtual ns."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from msgspec import to_builtins

from scheduler_core.analysis.status.disruptions import read_drains, read_planned
from scheduler_core.apimachinery.objects import NANO, Manifest
from scheduler_core.apimachinery.objects.demand import ZERO, pod_amounts
from scheduler_core.controllers.catalogue import CONTROLLERS, runs
from scheduler_core.controllers.contract import Controller, World
from scheduler_core.controllers.kubelet.eviction.observations import observe
from scheduler_core.controllers.memory.kubelet import Eviction
from scheduler_core.controllers.surroundings import Level, WorkQueue
from scheduler_core.controllers.workloads.deployments.standstill import standstill
from scheduler_core.scheduler.config.kubelet.thresholds import MEMORY

Reading = dict[str, Any]
MOST_WAITING = 12
MOST_NODES = 500
MOST_RANKED = 30


def read_controllers(world: World) -> list[Reading]:
    """Return each controller: its watches, its work queue, its last action, and the reason."""
    return [_controller(world, controller) for controller in CONTROLLERS if controller.name != "chronicle"]


def _controller(world: World, controller: Controller) -> Reading:
    queue = world.surroundings.queues.get(controller.name) or WorkQueue()
    waiting = sorted((due, key) for key, due in queue.due.items())
    return {
        "name": controller.name,
        "does": (type(controller).__doc__ or "").strip().split("\n")[0],
        "runs": runs(controller, world.cluster),
        "watches": list(controller.watches),
        "length": len(waiting),
        "waiting": [
            {"key": key, "due": due, "failures": queue.failures.get(key, 0)} for due, key in waiting[:MOST_WAITING]
        ],
        "done": [{"t": done.t, "key": done.key, "text": done.text} for done in reversed(queue.done)],
    }


def read_nodes(world: World) -> list[Reading]:
    """Return the nodes by name: conditions, taints, whether the kubelet runs, and the number of pods."""
    pods: dict[str, int] = {}
    for pod in world.store.pods():
        if pod.node_name and not pod.terminal:
            pods[pod.node_name] = pods.get(pod.node_name, 0) + 1
    return [
        {
            "name": node.name,
            "conditions": _conditions(world.store.get("Node", "", node.name) or {}),
            "taints": [str(taint) for taint in node.taints],
            "unschedulable": node.unschedulable,
            "kubelet": node.name not in world.surroundings.inputs.stopped,
            "pods": pods.get(node.name, 0),
        }
        for node in world.store.nodes()[:MOST_NODES]
    ]


def _conditions(manifest: Manifest) -> list[Reading]:
    conditions = (manifest.get("status") or {}).get("conditions") or ()
    return [{name: str(c.get(name) or "") for name in ("type", "status", "reason", "message")} for c in conditions]


def read_node(world: World, name: str) -> Reading | None:
    """Return one node with its conditions over time and its evictions, or None if it does not exist."""
    manifest = world.store.get("Node", "", name)
    if manifest is None:
        return None
    status = manifest.get("status") or {}
    return {
        "name": name,
        "conditions": _conditions(manifest),
        "taints": list((manifest.get("spec") or {}).get("taints") or ()),
        "kubelet": name not in world.surroundings.inputs.stopped,
        "capacity": dict(status.get("capacity") or {}),
        "allocatable": dict(status.get("allocatable") or {}),
        "levels": _levels(world, f"Node//{name}"),
        "signals": _signals(world, name),
        "measured": _levels(world, f"Signals//{name}"),
        "evictions": [read_eviction(each) for each in reversed(world.surroundings.kubelet.evictions.get(name, ()))],
        "planned": read_planned(world, name),
        "drains": [drain for drain in read_drains(world) if drain["node"] == name],
    }


def _signals(world: World, name: str) -> list[Reading]:
    """Return the kubelet's current signals: available amount, capacity, and eviction thresholds."""
    node = world.store.node(name)
    if node is None:
        return []
    configuration = world.cluster.kubelet_of(name)
    observed = observe(world, node, configuration).signals
    asked = sum(
        pod_amounts(pod.manifest["spec"], "requests", overhead=True).get("memory", ZERO).nanos
        for pod in world.store.pods_on(name)
        if not pod.terminal
    )
    return [
        {
            "signal": signal,
            "available": left.available,
            "capacity": left.capacity,
            "if_requested": max(left.capacity - asked // NANO, 0) if signal == MEMORY else None,
            "thresholds": [
                {"amount": t.amount.of(left.capacity), "text": t.amount.text, "grace": t.grace}
                for t in configuration.thresholds
                if t.signal == signal
            ],
        }
        for signal, left in observed.items()
    ]


def read_eviction(eviction: Eviction) -> Reading:
    """Return the reason for an eviction, and the ranking by which the pod was selected."""
    data: Reading = to_builtins(replace(eviction, ranking=eviction.ranking[:MOST_RANKED]))
    return data


def read_budgets(world: World) -> list[Reading]:
    """Return the PodDisruptionBudgets: their demands, and the numbers of healthy pods and of allowed disruptions."""
    return [_budget(world, manifest) for manifest in world.store.list("PodDisruptionBudget")]


def _budget(world: World, manifest: Manifest) -> Reading:
    meta, spec, status = manifest["metadata"], manifest.get("spec") or {}, manifest.get("status") or {}
    side = "minAvailable" if spec.get("minAvailable") is not None else "maxUnavailable"
    reasons = [str(c.get("message") or "") for c in status.get("conditions") or () if c.get("status") != "True"]
    return {
        "namespace": meta.get("namespace") or "",
        "name": meta["name"],
        "demands": f"{side} {spec.get(side)}" if spec.get(side) is not None else "",
        "expected": int(status.get("expectedPods") or 0),
        "healthy": int(status.get("currentHealthy") or 0),
        "needed": int(status.get("desiredHealthy") or 0),
        "allowed": int(status.get("disruptionsAllowed") or 0),
        "disrupted": sorted(status.get("disruptedPods") or {}),
        "why": "; ".join(reason for reason in reasons if reason),
        "levels": _levels(world, f"PodDisruptionBudget/{meta.get('namespace') or ''}/{meta['name']}"),
    }


def read_rollouts(world: World) -> list[Reading]:
    """Return the Deployments with their ReplicaSets, the newest revision first, each with its size over time."""
    owned: dict[str, list[Manifest]] = {}
    for manifest in world.store.list("ReplicaSet"):
        for reference in manifest["metadata"].get("ownerReferences") or ():
            if reference.get("controller"):
                owned.setdefault(str(reference.get("uid")), []).append(manifest)
    return [
        _rollout(world, manifest, owned.get(str(manifest["metadata"].get("uid")), ()))
        for manifest in world.store.list("Deployment")
    ]


def _rollout(world: World, deployment: Manifest, sets: Sequence[Manifest]) -> Reading:
    meta, spec, status = deployment["metadata"], deployment.get("spec") or {}, deployment.get("status") or {}
    newest = sorted(sets, key=_revision, reverse=True)
    return {
        "namespace": meta.get("namespace") or "",
        "name": meta["name"],
        "desired": int(spec.get("replicas") or 0),
        "updated": int(status.get("updatedReplicas") or 0),
        "ready": int(status.get("readyReplicas") or 0),
        "available": int(status.get("availableReplicas") or 0),
        "paused": bool(spec.get("paused")),
        "strategy": (spec.get("strategy") or {}).get("type") or "",
        "conditions": _conditions(deployment),
        "waits_for": standstill(world.store, deployment, sets),
        "sets": [
            {
                "name": manifest["metadata"]["name"],
                "revision": _revision(manifest),
                "levels": _levels(world, f"ReplicaSet/{meta.get('namespace') or ''}/{manifest['metadata']['name']}"),
                **dict(_now(world, manifest)),
            }
            for manifest in newest
        ],
    }


def _revision(manifest: Manifest) -> int:
    value = (manifest["metadata"].get("annotations") or {}).get("deployment.kubernetes.io/revision")
    return int(value) if isinstance(value, str) and value.isdigit() else 0


def _now(world: World, manifest: Manifest) -> list[tuple[str, int | str]]:
    meta = manifest["metadata"]
    kept = world.surroundings.levels.get(f"ReplicaSet/{meta.get('namespace') or ''}/{meta['name']}", ())
    return list(kept[-1].figures) if kept else [("desired", 0), ("pods", 0), ("ready", 0)]


def _levels(world: World, key: str) -> list[Reading]:
    kept: tuple[Level, ...] = world.surroundings.levels.get(key, ())
    return [{"t": level.t, **dict(level.figures)} for level in kept]
