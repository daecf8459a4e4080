"""A world in which the controllers of workloads run, and hands that do what scheduler and kubelets would."""

from scheduler_core.controllers.workloads.catalogue import CONTROLLERS
from scheduler_core.world import commands
from scheduler_core.world.commands import DEFAULT_SCHEDULER_NAME
from scheduler_core.world.simulation import Simulation

SECOND = 10**9
NAMES = [controller.name for controller in CONTROLLERS]


def template(**spec):
    return {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "c", "image": "i"}], **spec}}


def workload(kind, name="a", version="apps/v1", **spec):
    """A workload whose pods have the label app=a."""
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "a"}}, "template": template(), **spec},
    }


class Hands:
    """Objects are in the namespace default; times are seconds."""

    def __init__(self, *objects, controllers=NAMES):
        self.sim = Simulation()
        self.sim.apply(commands.SetSettings({"cluster": {"controllers": list(controllers)}}))
        self.sim.change(lambda: self.sim.stop_scheduler(DEFAULT_SCHEDULER_NAME))
        for manifest in objects:
            self.create(manifest)

    @property
    def store(self):
        return self.sim.store

    def create(self, manifest):
        """Creates an object; a node is said to be there, and its kubelet does nothing."""
        if manifest["kind"] == "Node":
            self.sim.apply(commands.ApplyObjects((manifest,)))
            self.sim.apply(commands.SetKubelet(manifest["metadata"]["name"], False))
        else:
            self.sim.apply(commands.CreateObject(manifest))

    def patch(self, kind, patch, name="a"):
        self.sim.change(lambda: self.sim.api.patch((kind, "default", name), patch))

    def delete(self, kind, name="a", **options):
        self.sim.change(lambda: self.sim.api.delete((kind, "default", name), **options))

    def run(self, seconds=1):
        """Lets all happen that is due up to so many seconds from now."""
        until = self.sim.now + int(seconds * SECOND)
        while self.sim.due(until):
            self.sim.advance()
        self.sim.agenda.now = until

    def get(self, kind, name="a"):
        return self.store.get(kind, "default", name)

    def list(self, kind):
        return self.store.list(kind)

    def pods(self):
        """Those that are not being deleted."""
        return [pod for pod in self.store.pods() if not pod.deleting]

    def set_status(self, pod, phase="Running", ready=True, node="", **fields):
        """Says of a pod what its kubelet would."""
        condition = {"type": "Ready", "status": "True" if ready else "False"}
        key = f"default/{pod}"
        if node:
            self.sim.change(lambda: self.store.bind(key, "", node, self.sim.now))
        self.sim.change(
            lambda: self.store.patch_pod_status(
                key, self.sim.now, condition=condition, fields={"phase": phase, **fields}
            )
        )

    def ready_all(self):
        """All pods run and are Ready."""
        for pod in self.pods():
            if pod.phase == "Pending":
                self.set_status(pod.name)

    def settle(self, rounds=20):
        """Pods become Ready as soon as they are there, until nothing changes."""
        for _ in range(rounds):
            before = self.store.resource_version
            self.run()
            self.ready_all()
            if self.store.resource_version == before:
                return
        raise AssertionError("it does not settle")
