"""The handle that plugins are given: live listers of the API server, and the binding call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.api.apply import patch_object
from scheduler_core.api.status import Refused
from scheduler_core.framework.plugin import Assumptions
from scheduler_core.framework.status import SUCCESS, Status, error
from scheduler_core.objects.pod import Pod
from scheduler_core.scheduler.world import World


class WorldHandle:
    """Framework handle over a world."""

    __slots__ = ("_preempting", "_world", "assumed")

    def __init__(self, world: World, assumed: Assumptions, preempting: dict[str, int]) -> None:
        self._world = world
        self._preempting = preempting
        self.assumed = assumed

    @property
    def preempting(self) -> Mapping[str, int] | None:
        return self._preempting if self._world.settings.async_preemption else None

    def get(self, kind: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        return self._world.store.get(kind, namespace, name)

    def list(self, kind: str) -> list[Mapping[str, Any]]:
        return self._world.store.list(kind)

    def patch(self, kind: str, namespace: str, name: str, patch: Mapping[str, Any]) -> Status:
        self._world.record(
            "api_call",
            {"verb": "UPDATE", "kind": kind, "object": f"{namespace}/{name}", "patch": dict(patch)},
        )
        try:
            patch_object(self._world.store, (kind, namespace, name), patch, self._world.now)
        except Refused as refused:
            return error(str(refused))
        return SUCCESS

    def bind(self, pod: Pod, node_name: str) -> Status:
        world, fault = self._world, self._world.faults.pop(pod.key, None)
        called = {"verb": "BIND", "pod": pod.key, "node": node_name}
        if fault is not None:
            world.record("api_call", {**called, "fault": fault.message})
            if fault.after_bound:
                world.store.bind(pod.key, pod.uid, node_name, world.now)
            return error(fault.message)
        answer = world.store.bind(pod.key, pod.uid, node_name, world.now)
        world.record("api_call", {**called, "error": answer.message} if answer.message else called)
        return SUCCESS if answer.ok else error(answer.message)
