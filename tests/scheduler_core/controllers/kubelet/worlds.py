"""Small worlds whose kubelets run: one node, pods on it, time that goes on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.apimachinery.objects.manifest import MutableManifest
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apimachinery.objects.times import SECOND
from scheduler_core.world.commands import ApplyObjects, Command, SetPrograms, SetSettings
from scheduler_core.world.simulation import Simulation


def node(name: str = "n", **allocatable: str) -> MutableManifest:
    amounts = {"cpu": "4", "memory": "4Gi", "pods": "110", **allocatable}
    labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {},
        "status": {"capacity": amounts, "allocatable": amounts},
    }


def pod(name: str, on: str = "n", labels: Mapping[str, str] | None = None, **spec: Any) -> MutableManifest:
    containers = [{"name": "c", "image": "pause"}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": dict(labels or {})},
        "spec": {"containers": containers, "nodeName": on, **spec},
    }


class Cluster:
    """A world with kubelets; commands are applied at the present time."""

    def __init__(self, *objects: MutableManifest, cluster: Mapping[str, Any] | None = None) -> None:
        self.sim = Simulation()
        self.do(SetSettings({"cluster": dict(cluster or {})}))
        if objects:
            self.apply(*objects)

    def do(self, command: Command) -> None:
        self.sim.apply(command)

    def apply(self, *objects: MutableManifest) -> None:
        self.do(ApplyObjects(objects))

    def programs(self, *rules: MutableManifest) -> None:
        self.do(SetPrograms(rules))

    def until(self, seconds: float) -> Cluster:
        """Lets all happen up to a virtual time."""
        at = round(seconds * SECOND)
        while self.sim.due(at):
            self.sim.advance()
        self.sim.agenda.now = at
        return self

    def pod(self, name: str) -> Pod:
        found = self.sim.store.pod("default", name)
        assert found is not None
        return found

    def status(self, name: str) -> MutableManifest:
        return dict(self.pod(name).manifest["status"])

    def container(self, name: str) -> MutableManifest:
        return dict(self.status(name)["containerStatuses"][0])

    def condition(self, name: str, kind: str) -> str:
        return str((self.pod(name).condition(kind) or {}).get("status"))

    def events(self, reason: str) -> list[str]:
        return [event.message for event in self.sim.store.events if event.reason == reason]
