"""The state of a Job in one sync: its pods, those that ended since the last sync, and the resulting counts.

kube: pkg/controller/job/job_controller.go (syncJobCtx) @ v1.34.1
"""

from collections.abc import Mapping, Sequence
from functools import cached_property

from scheduler_core.apimachinery.objects import Manifest, Pod
from scheduler_core.controllers.contract import Controller, World
from scheduler_core.controllers.memory.workloads import Failures
from scheduler_core.controllers.workloads.jobs import backoff, indexes, policies
from scheduler_core.controllers.workloads.owners import Owner
from scheduler_core.controllers.workloads.pods import Work, is_active, is_terminating

TRACKING = "batch.kubernetes.io/job-tracking"


def is_tracked(pod: Pod) -> bool:
    """Return whether the Job has yet to count a pod."""
    return TRACKING in (pod.manifest["metadata"].get("finalizers") or ())


class Look(Work):
    """The state of one sync. `active`, `ready` and `terminating` are updated as pods are created and deleted."""

    def __init__(self, controller: Controller, world: World, owner: Owner, pods: Sequence[Pod]) -> None:
        super().__init__(controller, world, owner)
        self.pods = list(pods)
        self.running = [pod for pod in pods if is_active(pod)]
        self.active = len(self.running)
        self.ready = sum(pod.ready for pod in self.running)
        self.terminating = sum(is_terminating(pod) for pod in pods)

    # the spec

    @property
    def completions(self) -> int | None:
        number = self.spec.get("completions")
        return None if number is None else int(number)

    @property
    def is_indexed(self) -> bool:
        return bool(self.spec.get("completionMode") == "Indexed")

    @property
    def limits_indexes(self) -> bool:
        """True if each index has its own backoffLimit."""
        return self.spec.get("backoffLimitPerIndex") is not None

    @property
    def is_suspended(self) -> bool:
        return bool(self.spec.get("suspend"))

    @property
    def waits_for_ends(self) -> bool:
        """True if a pod is replaced only after it has ended."""
        return self.spec.get("podReplacementPolicy") == "Failed" or self.policy is not None

    @property
    def policy(self) -> Manifest | None:
        return self.spec.get("podFailurePolicy")

    # pods

    def has_failed(self, pod: Pod) -> bool:
        """Return whether a pod counts as failed. A pod being deleted counts at once, unless the Job waits for its end."""
        if pod.phase == "Failed":
            return True
        return pod.deleting and pod.phase != "Succeeded" and not self.waits_for_ends

    def index_of(self, pod: Pod) -> int | None:
        """Return the index of a pod if it is one of the Job's, or None."""
        index = indexes.index_of(pod)
        return index if index is not None and index < (self.completions or 0) else None

    def _countable(self) -> list[Pod]:
        return [pod for pod in self.pods if is_tracked(pod) and not (self.is_indexed and self.index_of(pod) is None)]

    @cached_property
    def new_succeeded(self) -> list[Pod]:
        """Pods that have succeeded and are not counted yet."""
        return [pod for pod in self._countable() if pod.phase == "Succeeded"]

    @cached_property
    def new_failed(self) -> list[Pod]:
        """Pods that have failed and are not counted yet."""
        return [pod for pod in self._countable() if self.has_failed(pod)]

    @cached_property
    def failed(self) -> int:
        """The number of failures that count."""
        counted = sum(policies.judge(self.policy, pod).counts for pod in self.new_failed)
        return self.owner.counted("failed") + counted

    @cached_property
    def succeeded(self) -> int:
        if self.is_indexed:
            return len(self.succeeded_indexes)
        return self.owner.counted("succeeded") + len(self.new_succeeded)

    @cached_property
    def failures(self) -> Failures:
        """The consecutive failures, including those of this sync."""
        known = self.world.surroundings.workloads.jobs.get(self.owner.key, Failures())
        return backoff.after(known, self.new_succeeded, self.new_failed)

    # indexes

    @cached_property
    def former_indexes(self) -> frozenset[int]:
        """The completed indexes in the status."""
        return indexes.parse(self.owner.status.get("completedIndexes"), self.completions or 0)

    @cached_property
    def succeeded_indexes(self) -> frozenset[int]:
        found = (self.index_of(pod) for pod in self.new_succeeded)
        return self.former_indexes | {index for index in found if index is not None}

    @cached_property
    def failed_indexes(self) -> frozenset[int]:
        """The indexes that have exceeded their own backoffLimit, or that a rule fails."""
        if not self.limits_indexes:
            return frozenset()
        known = indexes.parse(self.owner.status.get("failedIndexes"), self.completions or 0)
        found = (self.index_of(pod) for pod in self.pods if is_tracked(pod) and self._fails_index(pod))
        return known | {index for index in found if index is not None}

    def _fails_index(self, pod: Pod) -> bool:
        if not self.has_failed(pod):
            return False
        verdict = policies.judge(self.policy, pod)
        if verdict.action == "FailIndex":
            return True
        return verdict.counts and indexes.failures(pod) >= int(self.spec["backoffLimitPerIndex"])

    @cached_property
    def replaced(self) -> Mapping[int, Pod]:
        """The failed pods that await replacement, by index, if each index has its own back-off."""
        if not self.limits_indexes:
            return {}
        busy = {indexes.index_of(pod) for pod in self.running} | self.succeeded_indexes | self.failed_indexes
        found: dict[int, Pod] = {}
        for pod in self._countable():
            index = self.index_of(pod)
            if index is None or index in busy or not self.has_failed(pod):
                continue
            other = found.get(index)
            if other is None or (
                indexes.all_failures(other) <= indexes.all_failures(pod)
                and backoff.get_finish_time(pod) >= backoff.get_finish_time(other)
            ):
                found[index] = pod
        return found
