"""The plugins' handle: live listers of the API server, and the binding call."""

from collections.abc import Mapping
from typing import Any

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apiserver import DONE, NORMAL, Refused, conflict
from scheduler_core.apiserver.faults import BIND, CHANGED, CLAIMS, VOLUMES
from scheduler_core.base.trace.kinds import ApiCall
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.core import waiting
from scheduler_core.scheduler.core.calls import client
from scheduler_core.scheduler.core.calls.objects import PodObjectCalls
from scheduler_core.scheduler.core.world import Owner, SchedulerWorld
from scheduler_core.scheduler.framework import SUCCESS, Features, Status, error
from scheduler_core.scheduler.framework.claims import ClaimTracker, ObjectCalls
from scheduler_core.scheduler.framework.groups import PodGroupState
from scheduler_core.scheduler.framework.plugin import Assumptions, WaitingPod


class WorldHandle:
    """Framework handle over a world."""

    __slots__ = ("_scheduler", "_world", "assumed", "claims", "features", "preempting")

    def __init__(self, scheduler: Owner) -> None:
        self._scheduler = scheduler
        self._world: SchedulerWorld = scheduler.world
        self.assumed: Assumptions = scheduler.assumed
        self.claims: ClaimTracker = scheduler.claims
        self.features: Features = scheduler.features
        self.preempting = scheduler.preempting if scheduler.features.async_preemption else None

    @property
    def device_cost(self) -> int:
        return self._world.settings.device_cost

    @property
    def snapshot(self) -> NodeTable:
        return self._scheduler.snapshot

    @property
    def now(self) -> int:
        return self._world.store.epoch + self._world.now

    def pod_group(self, namespace: str, name: str) -> PodGroupState | None:
        return self._scheduler.pod_group(namespace, name)

    def waiting_pods(self) -> list[WaitingPod]:
        return [waiting.WaitingPod(self._scheduler, binding) for binding in self._scheduler.pods_waiting()]

    def get(self, kind: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        if kind == "Pod":
            pod = self._scheduler.live(f"{namespace}/{name}")
            return None if pod is None else pod.manifest
        return self._scheduler.view.get(kind, namespace, name)

    def list(self, kind: str) -> list[Mapping[str, Any]]:
        return self._scheduler.view.list(kind)

    def behind(self, kind: str, namespace: str, name: str) -> bool:
        if self._scheduler.replica is None:
            return False
        known, stored = self.get(kind, namespace, name), self._world.store.get(kind, namespace, name)
        return _version(known) != _version(stored)

    def held_up(self, pod: Pod, tries: int, calls: int, of: str = VOLUMES) -> int:
        fault = client.fault_of(self._scheduler, of, pod.key)
        if fault is None:
            return client.throttle(self._scheduler, of, pod.key, calls) if not tries else 0
        pause, latency = client.pause(fault, tries), fault.latency or 0
        latency += client.throttle(self._scheduler, of, pod.key, calls)
        if pause is None:
            return 0 if tries else latency
        client.take_fault(self._scheduler, of, pod.key)
        said = fault.answer(_RESOURCES[of]).message
        self._world.record(ApiCall("UPDATE", pod.key, fault=said, again_after=pause))
        return pause + latency

    def patch(self, kind: str, namespace: str, name: str, patch: Mapping[str, Any], pod: Pod) -> Status:
        fault = client.take_fault(self._scheduler, VOLUMES, pod.key)
        answer = DONE if fault is None else fault.answer(f"{kind.lower()}s", name)
        said = "" if answer.ok else answer.message
        self._world.record(ApiCall("UPDATE", kind=kind, object=f"{namespace}/{name}", patch=dict(patch), fault=said))
        if not answer.ok and fault is not None and not fault.after_write:
            return error(answer.message)
        if self.behind(kind, namespace, name):
            stale = conflict(f"{kind.lower()}s", name, CHANGED)
            return error(stale.message)
        try:
            self._world.api.patch((kind, namespace, name), patch)
        except Refused as refused:
            return error(str(refused))
        return SUCCESS if answer.ok else error(answer.message)

    def calls(self, pod: Pod) -> ObjectCalls:
        return PodObjectCalls(self._scheduler, pod)

    def note(self, pod: Pod, reason: str, message: str, action: str) -> None:
        client.note(self._scheduler, pod, NORMAL, reason, message, action)

    def bind(self, pod: Pod, node_name: str) -> Status:
        world, fault = self._world, client.take_fault(self._scheduler, BIND, pod.key)
        if fault is not None and fault.code:
            said = fault.answer().message
            world.record(ApiCall("BIND", pod.key, node_name, fault=said))
            if fault.after_write:
                if not self._scheduler.features.async_api_calls and self._scheduler.replica is None:
                    # The binding cycle gets the answer before the scheduler's informer delivers the change.
                    self._scheduler.replica = world.store.replica()
                world.api.answer_binding(pod.key, pod.uid, node_name)
            return error(said)
        answer = world.api.answer_binding(pod.key, pod.uid, node_name)
        world.record(ApiCall("BIND", pod.key, node_name, error=answer.message))
        return SUCCESS if answer.ok else error(answer.message)


_RESOURCES = {VOLUMES: "persistentvolumeclaims", CLAIMS: "resourceclaims.resource.k8s.io"}


def _version(manifest: Mapping[str, Any] | None) -> str:
    return "" if manifest is None else str(manifest["metadata"].get("resourceVersion") or "")
