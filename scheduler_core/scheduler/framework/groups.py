"""A PodGroup and its pods, as the scheduler's cache has them.

kube: backend/cache/podgroupstate.go, scheduler/util/utils.go (PodGroupPriority) @ v1.37.2
"""

from dataclasses import dataclass
from typing import Any

from scheduler_core.apimachinery.objects import Manifest, Pod

KIND = "PodGroup"
RESOURCE = "scheduling.k8s.io/PodGroup"


@dataclass(frozen=True, slots=True)
class PodGroupState:
    """`pods` are all members that have not terminated, `scheduled` those with a node (cached versions); `assumed` are uids of these."""

    manifest: Manifest
    pods: tuple[Pod, ...]
    scheduled: tuple[Pod, ...]
    assumed: tuple[str, ...]

    @property
    def unscheduled(self) -> tuple[Pod, ...]:
        """The members without a node."""
        placed = {pod.uid for pod in self.scheduled}
        return tuple(pod for pod in self.pods if pod.uid not in placed)


def _spec(manifest: Manifest) -> Any:
    return manifest.get("spec") or {}


def gang(manifest: Manifest) -> Any | None:
    """Return the gang policy; None of a group with the basic policy."""
    return (_spec(manifest).get("schedulingPolicy") or {}).get("gang")


def min_count(manifest: Manifest) -> int:
    """Return the number of members that must be placed at once; 1 for a basic group."""
    policy = gang(manifest)
    return 1 if policy is None else int(policy.get("minCount") or 0)


def priority(manifest: Manifest) -> int:
    """Return the priority of a group."""
    return int(_spec(manifest).get("priority") or 0)


def is_disrupted_whole(manifest: Manifest) -> bool:
    """Return whether the disruption mode is "all": the pods are evicted together."""
    return (_spec(manifest).get("disruptionMode") or {}).get("all") is not None


def topology_key(manifest: Manifest) -> str:
    """Return the label that must have the same value for all members, or "" without a constraint."""
    constraints = (_spec(manifest).get("schedulingConstraints") or {}).get("topology") or ()
    return str(constraints[0].get("key") or "") if constraints else ""


def preemption_policy(manifest: Manifest) -> str:
    """Return the preemption policy of a group."""
    return str(_spec(manifest).get("preemptionPolicy") or "PreemptLowerPriority")


def stand_in(manifest: Manifest, scheduler_name: str) -> Pod:
    """Return a pod that represents a group in the queue and as a preemptor: its name, uid, and priority."""
    metadata = manifest["metadata"]
    return Pod.from_manifest(
        {
            "kind": KIND,
            "metadata": {name: metadata.get(name) for name in ("namespace", "name", "uid")},
            "spec": {
                "priority": priority(manifest),
                "minCount": min_count(manifest),
                "schedulerName": scheduler_name,
                "schedulingGroup": {"podGroupName": metadata["name"]},
            },
        }
    )
