"""The actions on the pod of one ordinal of a StatefulSet.

kube: pkg/controller/statefulset/{stateful_set_control,stateful_pod_control}.go @ v1.34.1
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apiserver import NORMAL, WARNING, Refused
from scheduler_core.controllers.workloads.pods import Work
from scheduler_core.controllers.workloads.statefulsets import claims, identity

T = TypeVar("T")
_LARGEST_BATCH = 500


class Pods(Work):
    """The actions of one sync on a StatefulSet's pods."""

    @property
    def in_order(self) -> bool:
        return bool(self.owner.spec.get("podManagementPolicy") != "Parallel")

    def is_running_and_ready(self, pod: Pod) -> bool:
        return pod.phase == "Running" and pod.ready

    def is_unavailable(self, pod: Pod | None) -> bool:
        """Return whether a pod is missing, being deleted, or not yet available."""
        return pod is None or pod.deleting or not self.is_available(pod)

    def create(self, manifest: dict[str, Any], ordinal: int) -> bool:
        """Create a pod with its claims. Return False if it must wait for the deletion of a former pod's claims. Raise Refused."""
        name = manifest["metadata"]["name"]
        if claims.is_stale(self.world, self.owner, name, ordinal):
            return False
        try:
            claims.create_claims(self, name, ordinal)
            self.world.api.create(manifest)
        except Refused as refused:
            if refused.answer.reason != "AlreadyExists":
                self._record("create", name, refused)
            raise
        pod = self.world.store.pod(self.owner.namespace, name)
        assert pod is not None
        claims.retain(self, pod)
        self._record("create", name)
        self.said.append(f"created {name}")
        return True

    def delete(self, pod: Pod, why: str) -> None:
        """Delete a pod. Raise Refused."""
        try:
            self.world.api.delete(("Pod", pod.namespace, pod.name))
        except Refused as refused:
            self._record("delete", pod.name, refused)
            raise
        self._record("delete", pod.name)
        self.said.append(f"deleted {pod.name}: {why}")

    def settle(self, pod: Pod) -> bool:
        """Sync a desired pod. Return whether the next pod may be handled. Raise Refused."""
        if pod.terminal:
            if not pod.deleting:
                self.delete(pod, f"it has ended ({pod.phase})")
            return False
        # A Pending pod may be waiting for a claim that was deleted after the pod was made.
        if pod.phase == "Pending":
            ordinal = identity.ordinal_of(pod)
            claims.create_claims(self, pod.name, ordinal)
            claims.retain(self, pod)
        waits = pod.deleting or not self.is_running_and_ready(pod) or not self.is_available(pod)
        if waits and self.in_order:
            return False
        if not identity.is_itself(self.owner, pod):
            labels = identity.identity(pod.name, identity.ordinal_of(pod))
            self.world.api.patch(("Pod", pod.namespace, pod.name), {"metadata": {"labels": labels}})
            self._record("update", pod.name)
        if not claims.has_retention_applied(self.world, self.owner, pod):
            claims.retain(self, pod)
        return True

    def condemn(self, pod: Pod, first_unavailable: Pod | None) -> bool:
        """Delete a surplus pod. Return whether the next pod may be handled. Raise Refused."""
        if pod.deleting:
            return not self.in_order
        ready = self.is_running_and_ready(pod) and self.is_available(pod)
        if not ready and self.in_order and pod is not first_unavailable:
            return False
        self.delete(pod, f"{self.owner.number('replicas')} pods are desired")
        return False

    def for_all(self, items: Sequence[T], do: Callable[[T], bool]) -> bool:
        """Handle items in order until one must wait, or all in batches of 1, 2, 4, ... Return whether all were handled. Raise Refused."""
        if self.in_order:
            return all(do(item) for item in items)
        # kube's slow start: an error that all pods would meet is met by a few, not by all of them.
        position, size = 0, 1
        while position < len(items):
            first: Refused | None = None
            for item in items[position : position + size]:
                try:
                    do(item)
                except Refused as refused:
                    first = first or refused
            if first is not None:
                raise first
            position, size = position + size, min(2 * size, _LARGEST_BATCH)
        return True

    def _record(self, verb: str, name: str, refused: Refused | None = None) -> None:
        what = f"{verb} Pod {name} in StatefulSet {self.owner.name}"
        if refused is None:
            self.event(NORMAL, f"Successful{verb.title()}", f"{what} successful")
        else:
            self.event(WARNING, f"Failed{verb.title()}", f"{what} failed error: {refused.answer.message}")
