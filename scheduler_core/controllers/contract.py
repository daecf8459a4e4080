"""The contract of controllers: they watch objects, enqueue the keys of changed ones on a work queue, and reconcile one key at a time.

```
watch event ── on_watch ──> enqueue(key) ──(latency)──> Reconcile(controller, key) ── sync ──> writes through the API server
                               ^                                  │ Refused: again after 5 ms, 10 ms, ... 1000 s
                               └──────────── enqueue(key, at) <───┘
```

`on_watch` only enqueues: it must not write. `sync` reads the store each time, so that it can be called at any time, and returns a
description of its actions and reasons. Nothing polls: a controller that must reconcile a key later enqueues the key for the time of the
next change. The state of a controller is a field of Surroundings.

kube: client-go/util/workqueue @ v1.34.1
"""

from __future__ import annotations

from typing import ClassVar, Protocol

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver import KubeEvent, Refused, Store, WatchEvent
from scheduler_core.apiserver.server import APIServer
from scheduler_core.base.clock.agenda import MILLISECOND, SECOND, TIMER, URGENT, Action
from scheduler_core.base.trace.kinds import Facts, Reconciled
from scheduler_core.base.trace.records import LazyFacts
from scheduler_core.controllers.surroundings import Inputs, Surroundings, WorkQueue
from scheduler_core.controllers.troubles import note
from scheduler_core.scheduler.config.cluster import ClusterSettings
from scheduler_core.scheduler.config.settings import WorldSettings

EVERY_KIND = "*"
FIRST_PAUSE, LONGEST_PAUSE = 5 * MILLISECOND, 1000 * SECOND
WORN_OUT = 12  # failures in a row: after some ten seconds


class World(Protocol):
    """The world from a controller's view. Simulation implements it."""

    settings: WorldSettings
    surroundings: Surroundings

    @property
    def store(self) -> Store: ...

    @property
    def now(self) -> int: ...

    @property
    def changes(self) -> list[WatchEvent]:
        """Return the changes that the current transition has made in the API server."""

    @property
    def cluster(self) -> ClusterSettings:
        """The settings of the components around the schedulers."""

    @property
    def api(self) -> APIServer:
        """The API server, for a controller's own requests."""

    def controller(self, name: str) -> Controller: ...

    def plan(self, at: int, action: Action) -> None:
        """Schedule an action for a virtual time (ns)."""

    def record(self, facts: Facts | LazyFacts, scheduler: str = "", parent: int = 0) -> int: ...


class WorldAction(Action, frozen=True):
    """Base class of the components' actions. A subclass's docstring describes the action, that of its `stands` when it is valid."""

    priority: ClassVar[int] = URGENT

    def stands(self, world: World) -> bool:
        """always"""
        return True

    def run(self, world: World) -> None:
        """Carry out the action. Called only while `stands` returns True."""
        raise NotImplementedError


class Reconcile(WorldAction, frozen=True):
    """A controller looks at one object, and does what there is to be done."""

    controller: str
    key: str
    at: int

    def stands(self, world: World) -> bool:
        """the key is due at this time still"""
        queue = world.surroundings.queues.get(self.controller)
        return queue is not None and queue.due.get(self.key) == self.at

    def run(self, world: World) -> None:
        queue = world.surroundings.queues[self.controller]
        del queue.due[self.key]
        controller = world.controller(self.controller)
        try:
            text = controller.sync(world, self.key)
        except Refused as refused:
            text = str(refused)
            failures = queue.failures[self.key] = queue.failures.get(self.key, 0) + 1
            first, longest = controller.pauses
            pause = min(first << min(failures - 1, 30), longest)
            controller.enqueue_at(world, self.key, world.now + pause, failures >= WORN_OUT)
        else:
            queue.failures.pop(self.key, None)
        note(world.surroundings.troubles, self.controller, self.key, world.changes, world.now, world.store.epoch)
        world.record(Reconciled(self.controller, self.key, text))
        if text:
            queue.note(world.now, self.key, text)


class RetryInVain(Reconcile, frozen=True):
    """A controller looks again at what was refused to it many times in a row."""

    priority: ClassVar[int] = TIMER


class Controller:
    """Base class of controllers. `name` is kube's, as in --controllers; `component` is the source in Kubernetes Events ("": the name)."""

    name: ClassVar[str]
    component: ClassVar[str] = ""
    watches: ClassVar[tuple[str, ...]] = ()  # keys of kinds, or EVERY_KIND
    actions: ClassVar[tuple[type[WorldAction], ...]] = ()  # its own, besides Reconcile
    pauses: ClassVar[tuple[int, int]] = (FIRST_PAUSE, LONGEST_PAUSE)  # backoff after failures
    of_devices: ClassVar[bool] = False  # enabled by the feature gates about devices
    of_kubelet: ClassVar[bool] = False  # is a part of the kubelet of every node
    always_on: ClassVar[bool] = False  # not part of kube-controller-manager, so --controllers has no switch for it

    def on_watch(self, world: World, event: WatchEvent) -> None:
        """Enqueue the keys that a change concerns."""
        if event.new is not None:
            self.ask(world, event.new)

    def on_start(self, world: World) -> None:
        """Enqueue the existing objects when the controller starts."""
        for kind in self.watches if type(self).ask is not Controller.ask else ():
            for manifest in world.store.list(kind):
                self.ask(world, manifest)

    def ask(self, world: World, manifest: Manifest) -> None:
        """Enqueue a watched object if it needs a sync."""

    def on_inputs(self, world: World, before: Inputs) -> None:
        """Enqueue the keys that a change of the user's inputs concerns; world.surroundings.inputs has the new ones."""

    def sync(self, world: World, key: str) -> str:
        """Reconcile one object. Return a description with the reasons, or "". Raise Refused to have the key retried with backoff."""
        raise NotImplementedError

    def enqueue(self, world: World, key: str, after: int | None = None) -> None:
        """Enqueue a key after a delay (ns; None: the usual latency). An earlier due time of the key takes precedence."""
        self.enqueue_at(world, key, world.now + (world.cluster.reconcile_latency if after is None else after))

    def enqueue_at(self, world: World, key: str, at: int, worn_out: bool = False) -> None:
        """Enqueue a key for a virtual time (ns). `worn_out`: it failed too often to keep an otherwise idle world busy."""
        queue = self.queue(world)
        at = max(at, world.now)
        due = queue.due.get(key)
        if due is None or at < due:
            queue.due[key] = at
            world.plan(at, (RetryInVain if worn_out else Reconcile)(self.name, key, at))

    def forget(self, world: World, key: str) -> None:
        """Remove a key from the work queue."""
        self.queue(world).due.pop(key, None)

    def queue(self, world: World) -> WorkQueue:
        """Return the controller's work queue."""
        return world.surroundings.queues.setdefault(self.name, WorkQueue())

    def event(self, world: World, type_: str, reason: str, kind: str, key: str, message: str) -> None:
        """Record a Kubernetes Event about an object; `key` is "namespace/name", or a name."""
        namespace, _, name = key.rpartition("/")
        world.store.record(
            KubeEvent(world.now, type_, reason, kind, namespace, name, message, self.component or self.name)
        )
