"""A rollout whose new pod finds no place while every old one keeps its own: an old pod ends first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scheduler_core.analysis.fixes.kubectl import workload_of
from scheduler_core.controllers.workloads.deployments.bounds import is_rolling, max_unavailable, size
from scheduler_core.scheduler.framework.drafts import Change, Draft
from scheduler_core.world.simulation import Simulation

KIND = "Deployment"


def in_turn(draft: Draft, sim: Simulation) -> Iterator[Draft]:
    """The pod's Deployment with maxSurge 0 and maxUnavailable 1, where it waits for the new pod before it ends any old one."""
    meta = draft.original["metadata"]
    deployment = workload_of(sim.store, draft.original)
    if deployment is None or deployment["kind"] != KIND:
        return
    spec: dict[str, Any] = dict(deployment["spec"])
    if not is_rolling(spec) or max_unavailable(spec):
        return
    mine = {ref["name"] for ref in meta.get("ownerReferences") or ()}
    keys = sim.store.controlled("ReplicaSet", deployment["metadata"]["uid"])
    old = (sim.store.get("ReplicaSet", key[0], key[1]) for key in keys if key[1] not in mine)
    if not any(each is not None and size(each) for each in old):
        return
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}
    change = Change("rollout", {"deployment": deployment["metadata"]["name"]})
    yield draft.with_applied(change, {**deployment, "spec": {**spec, "strategy": strategy}}).taking_time()
