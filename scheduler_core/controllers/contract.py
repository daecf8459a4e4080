"""What a controller is: it hears of changes, puts the objects concerned on its work queue, and reconciles one when its turn comes.

```
watch event ── on_watch ──> enqueue(key) ──(latency)──> Reconcile(controller, key) ── sync ──> writes through the API server
                               ^                                  │ Refused: again after 5 ms, 10 ms, ... 1000 s
                               └──────────── enqueue(key, at) <───┘
```

`on_watch` only enqueues: it must not write. `sync` looks at the store anew, so that it can be called at any time, and says in words what it
did and why. Nothing polls: a controller that has to look again later enqueues the key for the moment at which something will have changed.
What a controller remembers is a field of Surroundings.

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
    """A world, as far as controllers see it; Simulation is one."""

    settings: WorldSettings
    surroundings: Surroundings

    @property
    def store(self) -> Store: ...

    @property
    def now(self) -> int: ...

    @property
    def changes(self) -> list[WatchEvent]:
        """The changes that the transition in progress has made in the API server."""

    @property
    def cluster(self) -> ClusterSettings:
        """The settings of the components around the schedulers."""

    @property
    def api(self) -> APIServer:
        """The API server, for a controller's own requests."""

    def controller(self, name: str) -> Controller: ...

    def plan(self, at: int, action: Action) -> None:
        """Has something happen at a virtual time (ns)."""

    def record(self, facts: Facts | LazyFacts, scheduler: str = "", parent: int = 0) -> int: ...


class WorldAction(Action, frozen=True):
    """Something that a component does when its time comes: a subclass' docstring says what, that of its `stands` while what."""

    priority: ClassVar[int] = URGENT

    def stands(self, world: World) -> bool:
        """always"""
        return True

    def run(self, world: World) -> None:
        """Carries it out; called only while it stands."""
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
    """One controller. `name` is kube's, as in --controllers; `component` is what its Kubernetes Events say reports them ("": its name)."""

    name: ClassVar[str]
    component: ClassVar[str] = ""
    watches: ClassVar[tuple[str, ...]] = ()  # keys of kinds, or EVERY_KIND
    actions: ClassVar[tuple[type[WorldAction], ...]] = ()  # its own, besides Reconcile
    pauses: ClassVar[tuple[int, int]] = (FIRST_PAUSE, LONGEST_PAUSE)  # before what failed is tried again
    of_devices: ClassVar[bool] = False  # does what the gates about devices say
    of_kubelet: ClassVar[bool] = False  # is a part of the kubelet of every node
    always_on: ClassVar[bool] = False  # is no controller of kube-controller-manager, and has no switch there

    def on_watch(self, world: World, event: WatchEvent) -> None:
        """Enqueues what a change concerns."""
        if event.new is not None:
            self.ask(world, event.new)

    def on_start(self, world: World) -> None:
        """Enqueues what is there already, when the controller starts."""
        for kind in self.watches if type(self).ask is not Controller.ask else ():
            for manifest in world.store.list(kind):
                self.ask(world, manifest)

    def ask(self, world: World, manifest: Manifest) -> None:
        """Enqueues an object that it watches, if there is something to do about it."""

    def on_inputs(self, world: World, before: Inputs) -> None:
        """Enqueues what a user's arrangement concerns; world.surroundings.inputs is what holds now."""

    def sync(self, world: World, key: str) -> str:
        """Reconciles one object. Returns in words what was done and why, "" for nothing. Refused: it is tried again later."""
        raise NotImplementedError

    def enqueue(self, world: World, key: str, after: int | None = None) -> None:
        """Has a key looked at after a while (ns; None: the usual latency); an earlier turn that is planned already holds."""
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
        """Takes a key off the queue."""
        self.queue(world).due.pop(key, None)

    def queue(self, world: World) -> WorkQueue:
        """Its work queue."""
        return world.surroundings.queues.setdefault(self.name, WorkQueue())

    def event(self, world: World, type_: str, reason: str, kind: str, key: str, message: str) -> None:
        """Records a Kubernetes Event about an object; `key` is "namespace/name", or a name."""
        namespace, _, name = key.rpartition("/")
        world.store.record(
            KubeEvent(world.now, type_, reason, kind, namespace, name, message, self.component or self.name)
        )
