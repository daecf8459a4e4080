"""Disruptions of pods as data for users: budgets with their pods, planned taint evictions, zones of nodes, drains, troubles. Times are
virtual ns.
"""

from typing import Any

from msgspec import to_builtins

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.controllers.contract import World
from scheduler_core.controllers.memory.nodes import Drain
from scheduler_core.controllers.memory.workloads import DisruptionMemory
from scheduler_core.controllers.nodes.lifecycle import zone_name
from scheduler_core.controllers.nodes.zones import next_turn
from scheduler_core.controllers.troubles import troubles_of

Reading = dict[str, Any]


def read_covered(world: World, budget: str) -> list[Reading]:
    """Return a budget's pods (namespace/name): healthy, not ready, booked (evicted and not terminating yet), or terminating."""
    namespace, _, name = budget.partition("/")
    manifest = world.store.get("PodDisruptionBudget", namespace, name)
    booked = ((manifest or {}).get("status") or {}).get("disruptedPods") or {}
    pods = DisruptionMemory().pods_of(world.store, budget) if manifest is not None else []
    return [{"pod": pod.key, "node": pod.node_name, "state": _state(pod, pod.name in booked)} for pod in pods]


def _state(pod: Pod, booked: bool) -> str:
    if pod.deleting:
        return "ending"
    if booked:
        return "booked"
    return "healthy" if pod.ready else "not ready"


def read_planned(world: World, node: str = "") -> list[Reading]:
    """Return the planned evictions of NoExecute taints, soonest first: pod, node, time, and reason. `node` restricts them to one node."""
    planned = []
    for key, plan in world.surroundings.nodes.evictions.items():
        pod = world.store.pod_at(key)
        where = "" if pod is None else pod.node_name
        if not node or where == node:
            planned.append({"pod": key, "node": where, "since": plan.since, "at": plan.at, "why": plan.why})
    return sorted(planned, key=lambda row: (row["at"], row["pod"]))


def read_zones(world: World) -> list[Reading]:
    """Return the zones of nodes: state, rate of NoExecute taints (nodes per second), waiting nodes, and time of the next taint."""
    counts: dict[str, list[int]] = {}
    for node in world.store.nodes():
        count = counts.setdefault(node.zone_key, [0, 0])
        count[node.ready != "True"] += 1
    return [
        {
            "zone": zone_name(key),
            "state": zone.state,
            "rate": max(0.0, zone.rate),
            "ready": counts.get(key, [0, 0])[0],
            "lost": counts.get(key, [0, 0])[1],
            "waiting": sorted(zone.waiting),
            "next": next_turn(zone, world.now),
        }
        for key, zone in sorted(world.surroundings.nodes.zones.items())
    ]


def read_drains(world: World) -> list[Reading]:
    """Return the last drain of each node: what it waits for, and its outcome; `stuck` are the refused evictions."""
    return [_drain(drain) for drain in world.surroundings.nodes.drains.values()]


def _drain(drain: Drain) -> Reading:
    return {
        "node": drain.node,
        "since": drain.since,
        "ended": drain.ended,
        "outcome": drain.outcome,
        "warnings": list(drain.warnings),
        "gone": [pod.key for pod in drain.pods if pod.done and not pod.refusal],
        "ending": [pod.key for pod in drain.pods if pod.evicted and not pod.done],
        "stuck": [
            {"pod": pod.key, "tries": pod.tries, "why": pod.refusal}
            for pod in drain.pods
            if pod.refusal and (pod.waits or drain.ended is not None)
        ],
    }


def read_troubles(world: World) -> list[Reading]:
    """Return the controllers that fight each other or make no progress, and why."""
    return [to_builtins(trouble) for trouble in troubles_of(world.surroundings, world.now)]
