"""Creation and deletion of a Job's pods.

kube: pkg/controller/job/job_controller.go (manageJob) @ v1.34.1
"""

from collections.abc import Iterable, Sequence
from typing import Any

from scheduler_core.apimachinery.objects import Manifest, Pod
from scheduler_core.apiserver.status import Refused
from scheduler_core.controllers.contract import World
from scheduler_core.controllers.workloads.jobs import backoff, indexes, policies
from scheduler_core.controllers.workloads.jobs.look import TRACKING, Look, is_tracked
from scheduler_core.controllers.workloads.pods import create_pods, delete_pod, from_template, is_terminating
from scheduler_core.controllers.workloads.replicas import by_age

MOST_PER_SYNC = 500
_LONGEST_PREFIX = 58
_ENVIRONMENT = {
    "name": "JOB_COMPLETION_INDEX",
    "valueFrom": {"fieldRef": {"fieldPath": f"metadata.labels['{indexes.INDEX}']"}},
}


def manage(look: Look) -> Refused | None:
    """Create missing pods or delete surplus ones. Return the first refusal, or None."""
    if look.is_suspended:
        return delete(look, surplus(look, look.active), "the Job is suspended", untrack=True)
    wanted = _count_desired_pods(look)
    gone = surplus(look, max(0, look.active - wanted))[:MOST_PER_SYNC]
    if gone:
        return delete(look, gone, f"{wanted} pods should be active", untrack=True)
    lacking = wanted - look.active - (look.terminating if look.waits_for_ends else 0)
    return _create(look, min(lacking, MOST_PER_SYNC)) if lacking > 0 else None


def _count_desired_pods(look: Look) -> int:
    """Return the number of pods that should be active now."""
    parallelism = look.owner.number("parallelism")
    if look.completions is None:
        return look.active if look.succeeded > 0 else parallelism
    return max(0, min(look.completions - look.succeeded, parallelism))


def delete(look: Look, pods: Iterable[Pod], why: str, untrack: bool = False) -> Refused | None:
    """Delete active pods, and update the counts; `untrack`: they will not be counted. Return the first refusal, or None."""
    first: Refused | None = None
    names = []
    for pod in pods:
        try:
            if untrack:
                release(look.world, pod)
            delete_pod(look, pod)
        except Refused as refused:
            first = first or refused
            continue
        names.append(pod.name)
        look.active -= 1
        look.terminating += 1
        look.ready -= pod.ready
    if names:
        shown = ", ".join(names[:3]) + (" ..." if len(names) > 3 else "")
        look.said.append(f"deleted {shown}: {why}")
    return first


def release(world: World, pod: Pod) -> None:
    """Remove the Job's finalizer from a pod, if the pod still exists. Raise Refused."""
    if not is_tracked(pod):
        return
    left = [name for name in pod.manifest["metadata"]["finalizers"] if name != TRACKING]
    try:
        world.api.patch(("Pod", pod.namespace, pod.name), {"metadata": {"finalizers": left or None}})
    except Refused as refused:
        if refused.answer.reason != "NotFound":
            raise


def surplus(look: Look, count: int) -> list[Pod]:
    """Return active pods to delete: those with an invalid or a duplicate index, then others up to `count` in all."""
    left = list(look.running)
    gone: list[Pod] = []
    if look.is_indexed:
        best: dict[int, Pod] = {}
        for pod in by_age(left):
            index = look.index_of(pod)
            if index is not None:
                best[index] = pod
        kept = {pod.key for pod in best.values()}
        gone = [pod for pod in left if pod.key not in kept]
        left = [pod for pod in left if pod.key in kept]
    return gone + by_age(left)[: max(0, count - len(gone))]


def _create(look: Look, count: int) -> Refused | None:
    now = look.world.store.epoch + look.world.now
    if not look.limits_indexes:
        until = backoff.waits_until(*look.failures)
        if until > now:
            _wait(look, until)
            return None
    numbers: Sequence[int | None] = [None] * count
    if look.is_indexed:
        pending = _pending(look, count)
        times = {index: _index_waits_until(look, index) for index in pending}
        numbers = [index for index in pending if times[index] <= now]
        if pending and not numbers:
            _wait(look, min(times.values()))
            return None
    made, first = create_pods(look, (_pod(look, index) for index in numbers))
    look.active += len(made)
    if made:
        look.said.append(f"created {len(made)} pod{'s' if len(made) > 1 else ''}")
    return first


def _wait(look: Look, until: int) -> None:
    look.controller.enqueue_at(look.world, look.owner.key, until - look.world.store.epoch)
    look.said.append(f"waits until {look.world.store.timestamp(until - look.world.store.epoch)} after a failure")


def _index_waits_until(look: Look, index: int) -> int:
    """Return the time (ns since 1970) from which an index may be retried; 0 if it was not tried."""
    pod = look.replaced.get(index)
    if pod is None:
        return 0
    return backoff.waits_until(indexes.all_failures(pod) + 1, backoff.get_finish_time(pod))


def _pending(look: Look, count: int) -> list[int]:
    """Return the first indexes without a pod."""
    busy = {indexes.index_of(pod) for pod in look.running} | look.succeeded_indexes | look.failed_indexes
    if look.waits_for_ends:
        busy |= {indexes.index_of(pod) for pod in look.pods if is_terminating(pod)}
    found: list[int] = []
    for index in range(look.completions or 0):
        if len(found) == count:
            break
        if index not in busy:
            found.append(index)
    return found


def _pod(look: Look, index: int | None) -> dict[str, Any]:
    pod = from_template(look.owner, look.owner.template)
    meta = pod["metadata"]
    if TRACKING not in meta.get("finalizers", ()):
        meta["finalizers"] = [*meta.get("finalizers", ()), TRACKING]
    if index is None:
        return pod
    name = look.owner.name
    end = f"-{index}-"
    meta["generateName"] = name[: _LONGEST_PREFIX - len(end)] + end
    meta["annotations"] = {**meta.get("annotations", {}), indexes.INDEX: str(index), **_counts(look, index)}
    meta["labels"] = {**meta["labels"], indexes.INDEX: str(index)}
    spec = {**pod["spec"], "hostname": f"{name}-{index}"}
    for field in ("initContainers", "containers"):
        if spec.get(field):
            spec[field] = [_with_index(container) for container in spec[field]]
    return {**pod, "spec": spec}


def _with_index(container: Manifest) -> Manifest:
    given = list(container.get("env") or ())
    if any(one.get("name") == _ENVIRONMENT["name"] for one in given):
        return container
    return {**container, "env": [*given, _ENVIRONMENT]}


def _counts(look: Look, index: int) -> dict[str, str]:
    """Return the annotations with the failures of a pod's index."""
    if not look.limits_indexes:
        return {}
    pod = look.replaced.get(index)
    if pod is None:
        return {indexes.FAILURES: "0"}
    counts = policies.judge(look.policy, pod).counts
    failed = indexes.failures(pod) + counts
    ignored = indexes.count_ignored_failures(pod) + (not counts)
    return {indexes.FAILURES: str(failed), **({indexes.IGNORED_FAILURES: str(ignored)} if ignored else {})}
