"""The bounds of a rollout, and sums over ReplicaSets.

kube: pkg/controller/deployment/util/deployment_util.go @ v1.34.1
"""

from collections.abc import Iterable

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.controllers.workloads.owners import resolve_percentage

DESIRED = "deployment.kubernetes.io/desired-replicas"
MOST = "deployment.kubernetes.io/max-replicas"
MAX_INT32 = 2**31 - 1


def is_rolling(spec: Manifest) -> bool:
    return bool((spec.get("strategy") or {}).get("type") == "RollingUpdate")


def fenceposts(surge: int | str | None, unavailable: int | str | None, wanted: int) -> tuple[int, int]:
    """Return the allowed surplus and the allowed shortage of pods; never both 0.

    kube: ResolveFenceposts
    """
    above, below = (resolve_percentage(surge, wanted, up=True), resolve_percentage(unavailable, wanted, up=False))
    # With both at 0 a rollout could not progress. kube allows an unavailable pod, not a surge, which a quota might refuse.
    return (0, 1) if above == 0 and below == 0 else (above, below)


def _rolling(spec: Manifest) -> Manifest:
    return (spec.get("strategy") or {}).get("rollingUpdate") or {}


def max_surge(spec: Manifest) -> int:
    """Return the number of pods that a rollout may have beyond the desired ones."""
    if not is_rolling(spec):
        return 0
    rolling = _rolling(spec)
    return fenceposts(rolling.get("maxSurge"), rolling.get("maxUnavailable"), get_desired_replicas(spec))[0]


def max_unavailable(spec: Manifest) -> int:
    """Return the number of desired pods that a rollout may lack."""
    if not is_rolling(spec) or get_desired_replicas(spec) == 0:
        return 0
    rolling = _rolling(spec)
    below = fenceposts(rolling.get("maxSurge"), rolling.get("maxUnavailable"), get_desired_replicas(spec))[1]
    return min(below, get_desired_replicas(spec))


def get_desired_replicas(spec: Manifest) -> int:
    return int(spec.get("replicas") or 0)


def size(replica_set: Manifest) -> int:
    """Return a ReplicaSet's desired number of pods."""
    return int((replica_set.get("spec") or {}).get("replicas") or 0)


def get_status_count(replica_set: Manifest | None, field: str) -> int:
    """Return a number of the status."""
    return int(((replica_set or {}).get("status") or {}).get(field) or 0)


def total(replica_sets: Iterable[Manifest]) -> int:
    return sum(size(one) for one in replica_sets)


def total_of(replica_sets: Iterable[Manifest], field: str) -> int:
    return sum(get_status_count(one, field) for one in replica_sets)


def new_size(spec: Manifest, replica_sets: Iterable[Manifest], new: int) -> int:
    """Return the allowed size of the new ReplicaSet, which has `new` pods.

    kube: NewRSNewReplicas
    """
    if not is_rolling(spec):
        return get_desired_replicas(spec)
    room = (
        get_desired_replicas(spec)
        + resolve_percentage(_rolling(spec).get("maxSurge"), get_desired_replicas(spec), up=True)
        - total(replica_sets)
    )
    return new if room <= 0 else new + min(room, get_desired_replicas(spec) - new)


def proportion(replica_set: Manifest, spec: Manifest, replicas: int, to_add: int, added: int) -> int:
    """Return a ReplicaSet's share of the pods to add (below 0: to remove); `replicas` is from the Deployment's status.

    kube: GetReplicaSetProportion
    """
    if size(replica_set) == 0 or to_add in (0, added):
        return 0
    fraction, allowed = _fraction(replica_set, spec, replicas), to_add - added
    return min(fraction, allowed) if to_add > 0 else max(fraction, allowed)


def _fraction(replica_set: Manifest, spec: Manifest, replicas: int) -> int:
    if get_desired_replicas(spec) == 0:
        return -size(replica_set)
    before = parse_annotation(replica_set, MOST) or replicas
    if before == 0:
        return 0
    after = size(replica_set) * (get_desired_replicas(spec) + max_surge(spec)) / before
    # Round half up, as in kube's RoundToInt32; round() would round to the even number.
    return int(after + 0.5) - size(replica_set)


def parse_annotation(manifest: Manifest, annotation: str) -> int | None:
    """Return the number in an annotation, or None."""
    text = (manifest["metadata"].get("annotations") or {}).get(annotation)
    if text is None or not (text.isascii() and text.isdigit()):
        return None
    number = int(text)
    return number if number <= MAX_INT32 else None
