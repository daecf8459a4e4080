"""ReplicaSets and ReplicationControllers: adopt and release pods, create what lacks, delete what is too many.

What kube expects of its own writes (expectations) is not needed: a sync reads the store, which has them.
DEVIATION: the more pods there are, the later a change of one is looked at (0.1 ms for each, at most 1 s), so that ten thousand are not
counted anew at each; kube is as slow for want of time.

kube: pkg/controller/replicaset/replica_set.go, pkg/controller/replication @ v1.34.1
"""

from __future__ import annotations

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apiserver.status import Refused
from scheduler_core.base.clock.agenda import MILLISECOND, SECOND
from scheduler_core.controllers.contract import World
from scheduler_core.controllers.workloads.owners import Owner, claim_pods
from scheduler_core.controllers.workloads.pods import (
    POD_REASONS,
    create_pods,
    delete_pod,
    is_active,
    soonest_available,
)
from scheduler_core.controllers.workloads.ranking import first_to_go
from scheduler_core.controllers.workloads.replicas.related import pods_on_nodes
from scheduler_core.controllers.workloads.replicas.status import replica_status
from scheduler_core.controllers.workloads.watching import WorkloadController

BURST = 500  # pods created or deleted in one look
_PER_POD = MILLISECOND // 10


class ReplicaSetController(WorkloadController):
    """Keeps a ReplicaSet's pods."""

    name = "replicaset-controller"
    component = "replicaset-controller"
    kind = "ReplicaSet"
    watches = ("ReplicaSet", "Pod")
    event_reasons = POD_REASONS

    def patience(self, world: World, key: str) -> int:
        namespace, _, name = key.partition("/")
        manifest = world.store.get(self.kind, namespace, name) or {}
        counted = int((manifest.get("status") or {}).get("replicas") or 0)
        return max(world.cluster.reconcile_latency, min(counted * _PER_POD, SECOND))

    def sync(self, world: World, key: str) -> str:
        owner = Owner.found(world, self.kind, key)
        if owner is None or owner.selector.errors:
            return ""
        pods = claim_pods(world, owner, is_active)
        said, refused = ("", None) if owner.deleting else self._manage(world, owner, pods)
        world.api.patch_status(owner.target, replica_status(world, owner, pods, refused))
        if refused is not None:
            raise refused
        again = soonest_available(world, pods, owner.number("minReadySeconds"))
        if again is not None:
            self.enqueue_at(world, key, again)
        return said

    def _manage(self, world: World, owner: Owner, pods: list[Pod]) -> tuple[str, Refused | None]:
        """Create or delete pods. Return a description and any refusal."""
        wanted = owner.number("replicas")
        difference = len(pods) - wanted
        if difference < 0:
            count = min(-difference, BURST)
            made, refused = create_pods(self, world, owner, count, owner.template)
            return (f"created {made} of {wanted} pods: {len(pods)} were there" if made else ""), refused
        if difference == 0:
            return "", None
        count = min(difference, BURST)
        gone = first_to_go(pods, count, world.store.epoch + world.now, pods_on_nodes(world, owner))
        for pod in gone:
            try:
                delete_pod(self, world, owner, pod)
            except Refused as refused:
                return "", refused
        names = ", ".join(pod.name for pod in gone[:3]) + (" ..." if len(gone) > 3 else "")
        return f"deleted {len(gone)} of {len(pods)} pods, as {wanted} are wanted: {names}", None


class ReplicationControllerController(ReplicaSetController):
    """Keeps a ReplicationController's pods."""

    name = "replicationcontroller-controller"
    component = "replication-controller"
    kind = "ReplicationController"
    watches = ("ReplicationController", "Pod")
