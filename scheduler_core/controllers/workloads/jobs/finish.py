"""The decision whether a Job is finished, and why.

kube: pkg/controller/job/job_controller.go (syncJob) @ v1.34.1
"""

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.apimachinery.objects import SECOND, Pod, parse_time
from scheduler_core.apiserver.kube_events import NORMAL, WARNING
from scheduler_core.controllers.workloads.jobs import indexes, policies
from scheduler_core.controllers.workloads.jobs.look import Look, is_tracked
from scheduler_core.controllers.workloads.jobs.pods import release

Condition = Mapping[str, Any]
FAILURE_TARGET, FAILED = "FailureTarget", "Failed"
SUCCESS_CRITERIA, COMPLETE = "SuccessCriteriaMet", "Complete"
SUSPENDED = "Suspended"


def condition(look: Look, type_: str, reason: str, message: str, status: str = "True") -> Condition:
    return {
        "type": type_,
        "status": status,
        "lastProbeTime": look.timestamp,
        "lastTransitionTime": look.timestamp,
        "reason": reason,
        "message": message,
    }


def find_true_condition(conditions: Sequence[Condition], type_: str) -> Condition | None:
    """Return the condition of a type if it is True, or None."""
    return next((one for one in conditions if one.get("type") == type_ and one.get("status") == "True"), None)


def is_finished(manifest: Mapping[str, Any]) -> Condition | None:
    """Return the condition Complete or Failed of a finished Job, or None."""
    given = (manifest.get("status") or {}).get("conditions") or ()
    return find_true_condition(given, COMPLETE) or find_true_condition(given, FAILED)


def finish(look: Look) -> Condition | None:
    """Return the condition that ends the Job: FailureTarget or SuccessCriteriaMet, or what follows from an existing one. Or None."""
    return _find_decision(look) or _check_limits(look) or _by_indexes(look)


def _find_decision(look: Look) -> Condition | None:
    given = look.owner.status.get("conditions") or ()
    met = find_true_condition(given, SUCCESS_CRITERIA)
    if met is not None:
        return met
    target = find_true_condition(given, FAILURE_TARGET)
    if target is not None:
        return condition(look, FAILED, target["reason"], target["message"])
    if look.policy is None:
        return None
    messages = (policies.judge(look.policy, pod).message for pod in look.pods if look.has_failed(pod))
    message = next((one for one in messages if one), "")
    return condition(look, FAILURE_TARGET, "PodFailurePolicy", message) if message else None


def _check_limits(look: Look) -> Condition | None:
    if look.failed > look.owner.number("backoffLimit") or _is_past_backoff_limit(look):
        text = "Job has reached the specified backoff limit"
        return condition(look, FAILURE_TARGET, "BackoffLimitExceeded", text)
    end = deadline(look)
    if end is not None and end <= look.world.now:
        text = "Job was active longer than specified deadline"
        return condition(look, FAILURE_TARGET, "DeadlineExceeded", text)
    return None


def deadline(look: Look) -> int | None:
    """Return the virtual time (ns) at which a Job exceeds its active deadline, or None."""
    seconds, start = look.spec.get("activeDeadlineSeconds"), look.owner.status.get("startTime")
    if seconds is None or start is None or look.is_suspended:
        return None
    return parse_time(start) - look.world.store.epoch + int(seconds) * SECOND


def _is_past_backoff_limit(look: Look) -> bool:
    """Return whether restarts exceed the limit under OnFailure. kube: pastBackoffLimitOnFailure"""
    if (look.owner.template.get("spec") or {}).get("restartPolicy") != "OnFailure":
        return False
    restarts = sum(count_restarts(pod) for pod in look.pods if pod.phase in ("Running", "Pending"))
    return restarts >= max(1, look.owner.number("backoffLimit"))


def count_restarts(pod: Pod) -> int:
    return sum(int(each.get("restartCount") or 0) for each in pod.container_statuses)


def _by_indexes(look: Look) -> Condition | None:
    if not look.is_indexed or look.completions is None:
        return None
    failed, succeeded = len(look.failed_indexes), len(look.succeeded_indexes)
    most = look.spec.get("maxFailedIndexes")
    if look.limits_indexes and most is not None and failed > most:
        text = "Job has exceeded the specified maximal number of failed indexes"
        return condition(look, FAILURE_TARGET, "MaxFailedIndexesExceeded", text)
    if look.limits_indexes and failed and failed + succeeded >= look.completions:
        return condition(look, FAILURE_TARGET, "FailedIndexes", "Job has failed indexes")
    message = policies.is_success(look.spec.get("successPolicy"), look.completions, look.succeeded_indexes)
    return condition(look, SUCCESS_CRITERIA, "SuccessPolicy", message) if message else None


def check_completions(look: Look) -> Condition | None:
    """Return the condition SuccessCriteriaMet if enough pods have succeeded, or None."""
    if look.completions is None:
        enough = look.succeeded > 0
    else:
        enough = look.succeeded >= look.completions
    if not enough or look.active:
        return None
    return condition(look, SUCCESS_CRITERIA, "CompletionsReached", "Reached expected number of succeeded pods")


# The status of a Job: ended pods are counted once, and then lose their finalizers.
#
# kube: pkg/controller/job/job_controller.go (trackJobStatusAndRemoveFinalizers) @ v1.34.1. There the pods are written into
# status.uncountedTerminatedPods first, for a controller may stop between two requests; here a sync is one step.

Status = dict[str, Any]


def track(look: Look, status: Status, ending: Condition | None) -> None:
    """Count pods, and write the status. Finish the Job if it has an end condition and no pod is left. Raise Refused."""
    counted = [pod for pod in look.pods if is_tracked(pod) and _may_go(look, pod, ending)]
    _count(look, status, counted, ending)
    conditions: list[Condition] = status["conditions"]
    if ending is not None and ending["type"] == FAILURE_TARGET:
        conditions.append(ending)
        ending = condition(look, FAILED, ending.get("reason", ""), ending.get("message", ""))
    elif ending is not None and ending["type"] == SUCCESS_CRITERIA:
        if find_true_condition(conditions, SUCCESS_CRITERIA) is None:
            conditions.append(ending)
        ending = condition(look, COMPLETE, ending.get("reason", ""), ending.get("message", ""))
    over = ending is not None and look.terminating <= 0
    if over:
        assert ending is not None
        conditions.append(ending)
        if ending["type"] == COMPLETE:
            status["completionTime"] = ending["lastTransitionTime"]
    if look.new_failed or look.new_succeeded:
        look.world.surroundings.workloads.jobs[look.owner.key] = look.failures
    # Before the finalizers are removed: otherwise a pod could vanish without being counted.
    _write(look, status)
    for pod in counted:
        release(look.world, pod)
    if over:
        assert ending is not None
        _record(look, status, ending)


def _may_go(look: Look, pod: Pod, ending: Condition | None) -> bool:
    """Return whether a counted pod may lose its finalizer. kube: canRemoveFinalizer"""
    if look.owner.deleting or ending is not None or pod.phase == "Succeeded":
        return True
    if not look.has_failed(pod):
        return False
    index = look.index_of(pod)
    # kube: podsWithDelayedDeletionPerIndex, kept until there is a replacement, which takes on the failure count.
    return index is None or look.replaced.get(index) is not pod


def _count(look: Look, status: Status, pods: list[Pod], ending: Condition | None) -> None:
    fails = ending is not None and ending["type"] != SUCCESS_CRITERIA
    done: set[int] = set()
    succeeded = failed = 0
    for pod in pods:
        index = look.index_of(pod)
        if pod.phase == "Succeeded":
            succeeded += 1
            if index is not None:
                done.add(index)
        elif (look.has_failed(pod) or fails) and (not look.is_indexed or index is not None):
            failed += policies.judge(look.policy, pod).counts
    status["failed"] = look.owner.counted("failed") + failed
    if look.is_indexed:
        completed = look.succeeded_indexes | done
        status["succeeded"] = len(completed)
        status["completedIndexes"] = indexes.text(completed)
        if look.limits_indexes:
            status["failedIndexes"] = indexes.text(look.failed_indexes)
    else:
        status["succeeded"] = look.owner.counted("succeeded") + succeeded


def _write(look: Look, status: Status) -> None:
    shown = ("ready", "terminating", "uncountedTerminatedPods", "failedIndexes")
    fields = {name: value if name in shown else value or None for name, value in status.items()}
    look.world.api.patch_status(look.owner.target, fields)


def _record(look: Look, status: Mapping[str, Any], ending: Condition) -> None:
    look.said.append(f"the Job is {ending['type']}: {ending['message']}")
    if ending["type"] != COMPLETE:
        look.event(WARNING, ending["reason"], ending["message"])
        return
    if look.completions is not None and status["succeeded"] > look.completions:
        text = "Too many succeeded pods running after completion count reached"
        look.event(WARNING, "TooManySucceededPods", text)
    look.event(NORMAL, "Completed", "Job completed")
