"""What is written down of a Job: pods that have ended are counted once, and then let go.

kube: pkg/controller/job/job_controller.go (trackJobStatusAndRemoveFinalizers) @ v1.34.1. There the pods are written into
status.uncountedTerminatedPods first, for a controller may stop between two requests; here a sync is one step.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apiserver.kube_events import NORMAL, WARNING
from scheduler_core.controllers.workloads.jobs import finish, indexes, policies
from scheduler_core.controllers.workloads.jobs.finish import Condition
from scheduler_core.controllers.workloads.jobs.look import Look, is_tracked
from scheduler_core.controllers.workloads.jobs.pods import release

Status = dict[str, Any]


def track(look: Look, status: Status, ending: Condition | None) -> None:
    """Counts pods into the status and writes it; finishes the Job where it is over and no pod is left. Refused."""
    counted = [pod for pod in look.pods if is_tracked(pod) and _may_go(look, pod, ending)]
    _count(look, status, counted, ending)
    conditions: list[Condition] = status["conditions"]
    if ending is not None and ending["type"] == finish.FAILURE_TARGET:
        conditions.append(ending)
        ending = finish.condition(look, finish.FAILED, ending["reason"], ending["message"])
    elif ending is not None and ending["type"] == finish.SUCCESS_CRITERIA:
        if finish.find_true_condition(conditions, finish.SUCCESS_CRITERIA) is None:
            conditions.append(ending)
        ending = finish.condition(look, finish.COMPLETE, ending["reason"], ending["message"])
    over = ending is not None and look.terminating <= 0
    if over:
        assert ending is not None
        conditions.append(ending)
        if ending["type"] == finish.COMPLETE:
            status["completionTime"] = ending["lastTransitionTime"]
    if look.new_failed or look.new_succeeded:
        look.world.surroundings.workloads.jobs[look.owner.key] = look.failures
    # Before the finalizers go: a pod that is let go first could vanish without having been counted.
    _write(look, status)
    for pod in counted:
        release(look, pod)
    if over:
        assert ending is not None
        _record(look, status, ending)


def _may_go(look: Look, pod: Pod, ending: Condition | None) -> bool:
    """kube: canRemoveFinalizer"""
    if look.owner.deleting or ending is not None or pod.phase == "Succeeded":
        return True
    if not look.has_failed(pod):
        return False
    index = look.index_of(pod)
    # kube: podsWithDelayedDeletionPerIndex, kept until there is a replacement, which takes on the failure count.
    return index is None or look.replaced.get(index) is not pod


def _count(look: Look, status: Status, pods: list[Pod], ending: Condition | None) -> None:
    fails = ending is not None and ending["type"] != finish.SUCCESS_CRITERIA
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
    def event(type_: str, reason: str, text: str) -> None:
        look.controller.event(look.world, type_, reason, "Job", look.owner.key, text)

    look.said.append(f"the Job is {ending['type']}: {ending['message']}")
    if ending["type"] != finish.COMPLETE:
        event(WARNING, ending["reason"], ending["message"])
        return
    if look.completions is not None and status["succeeded"] > look.completions:
        text = "Too many succeeded pods running after completion count reached"
        event(WARNING, "TooManySucceededPods", text)
    event(NORMAL, "Completed", "Job completed")
