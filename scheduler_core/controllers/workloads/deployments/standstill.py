"""The reason why a rollout makes no progress, in words: what it waits for, and which bound limits it."""

from collections import Counter
from collections.abc import Sequence

from scheduler_core.apimachinery.objects import Manifest, Pod
from scheduler_core.apiserver.store import Store
from scheduler_core.controllers.workloads.deployments import bounds, conditions, revisions
from scheduler_core.controllers.workloads.owners import Owner
from scheduler_core.controllers.workloads.pods import list_pods

MOST_REASONS = 3


def standstill(store: Store, deployment: Manifest, replica_sets: Sequence[Manifest]) -> str:
    """Return what a rollout waits for; "" if it is complete."""
    owner = Owner.of(deployment)
    new, old = revisions.new_and_old(owner.template, replica_sets)
    if owner.spec.get("paused"):
        return "the Deployment is paused: changes of the template wait until it is resumed"
    failure = conditions.find_condition(owner.status.get("conditions") or (), conditions.FAILURE)
    if failure is not None and failure.get("status") == "True":
        return str(failure.get("message") or "")
    left = [pod for pod in list_pods(store, old) if not pod.terminal]
    if new is None or not bounds.is_rolling(owner.spec):
        return _waits_for_ends(owner, new, left)
    lacking = [pod for pod in list_pods(store, [new]) if not pod.terminal and not (pod.ready and not pod.deleting)]
    if not lacking:
        return ""
    return (
        f"{_describe_unavailable(lacking)}; {_describe_bounds(owner, [*old, new], left)}"
        if left
        else _describe_unavailable(lacking)
    )


def _waits_for_ends(owner: Owner, new: Manifest | None, left: Sequence[Pod]) -> str:
    if left:
        ending = sum(pod.deleting for pod in left)
        return f"{len(left)} old pods have not terminated yet, {ending} of them are being deleted"
    if new is None:
        return "the deployment-controller has not created a ReplicaSet of the current template yet"
    short = owner.number("replicas") - bounds.get_status_count(new, "availableReplicas")
    return f"{short} pods are not available yet" if short > 0 else ""


def _describe_unavailable(pods: Sequence[Pod]) -> str:
    reasons = Counter(_reason(pod) for pod in pods)
    named = [f"{count} {reason}" for reason, count in reasons.most_common(MOST_REASONS)]
    return f"{len(pods)} new pods are not available: {', '.join(named)}"


def _reason(pod: Pod) -> str:
    if pod.deleting:
        return "being deleted"
    scheduled = pod.condition("PodScheduled")
    if not pod.node_name and scheduled is not None and scheduled.get("message"):
        return f"unscheduled ({scheduled['message']})"
    if not pod.node_name:
        return "unscheduled"
    return "not Ready" if pod.phase == "Running" else pod.phase


def _describe_bounds(owner: Owner, every: Sequence[Manifest], left: Sequence[Pod]) -> str:
    wanted = owner.number("replicas")
    most = wanted + bounds.max_surge(owner.spec)
    least = wanted - bounds.max_unavailable(owner.spec)
    available = bounds.total_of(every, "availableReplicas")
    words = f"{len(left)} old pods stay: at least {least} of {wanted} must be available and {available} are"
    return f"{words}; no more pods are created, because {most} is the maximum" if bounds.total(every) >= most else words
