"""The workload controllers, in the order in which they receive watch events."""

from scheduler_core.apimachinery.objects import SECOND, Manifest, parse_time
from scheduler_core.apiserver.server import Preconditions
from scheduler_core.controllers.contract import Controller, World
from scheduler_core.controllers.workloads.cronjobs.controller import CronJobController
from scheduler_core.controllers.workloads.daemonsets.controller import DaemonSetController
from scheduler_core.controllers.workloads.deployments.controller import DeploymentController
from scheduler_core.controllers.workloads.jobs.controller import JobController
from scheduler_core.controllers.workloads.jobs.finish import is_finished
from scheduler_core.controllers.workloads.owners import Owner
from scheduler_core.controllers.workloads.replicas import ReplicaSetController, ReplicationControllerController
from scheduler_core.controllers.workloads.statefulsets.controller import StatefulSetController

# The deletion of finished Jobs after their TTL.
# kube: pkg/controller/ttlafterfinished/ttlafterfinished_controller.go @ v1.34.1


class TTLController(Controller):
    """Deletes Jobs, with their pods, ttlSecondsAfterFinished after they have ended."""

    name = "ttl-after-finished-controller"
    watches = ("Job",)

    def ask(self, world: World, manifest: Manifest) -> None:
        owner = Owner.of(manifest)
        if not owner.deleting and _expires(world, owner) is not None:
            self.enqueue(world, owner.key)

    def sync(self, world: World, key: str) -> str:
        owner = Owner.found(world, "Job", key)
        at = None if owner is None or owner.deleting else _expires(world, owner)
        if owner is None or at is None:
            return ""
        if at > world.now:
            self.enqueue_at(world, key, at)
            return ""
        demands = Preconditions(uid=owner.uid)
        world.api.delete(owner.target, propagation="Foreground", preconditions=demands)
        return f"deleted {owner.name}: it ended {owner.spec['ttlSecondsAfterFinished']} s ago"


def _expires(world: World, owner: Owner) -> int | None:
    """Return the virtual time (ns) at which a Job's TTL expires; None if it has not ended or has no TTL."""
    seconds, ending = owner.spec.get("ttlSecondsAfterFinished"), is_finished(owner.manifest)
    if seconds is None or ending is None or not ending.get("lastTransitionTime"):
        return None
    return parse_time(ending["lastTransitionTime"]) - world.store.epoch + int(seconds) * SECOND


CONTROLLERS: tuple[Controller, ...] = (
    ReplicaSetController(),  # before Deployments: surplus pods are deleted before new ones are created
    ReplicationControllerController(),
    DeploymentController(),
    StatefulSetController(),
    DaemonSetController(),
    JobController(),
    CronJobController(),
    TTLController(),
)
