"""One kube-scheduler: its queue, cache, snapshot and profiles, and the cycles it runs, one step at a time.

The scheduling thread and every binding cycle are entries on the world's agenda: ("schedule", scheduler), ("cycle", scheduler), ("binding",
scheduler, number), ("permit_timeout", scheduler, number). Each call of `advance` runs one of them.

kube: scheduler.go, schedule_one.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scheduler_core.api.store import Store
from scheduler_core.api.watch import WatchEvent
from scheduler_core.clock.agenda import SECOND, TIMER
from scheduler_core.cluster.cache import Cache
from scheduler_core.cluster.table import NodeTable
from scheduler_core.config.types import SchedulerConfiguration
from scheduler_core.framework.plugin import Assumptions
from scheduler_core.framework.runtime import Framework
from scheduler_core.metrics.figures import Figures
from scheduler_core.objects.pod import Pod
from scheduler_core.plugins import DEMONSTRATION
from scheduler_core.plugins.registry import registry
from scheduler_core.queue.historical import HistoricalMoves
from scheduler_core.queue.moves import FLUSH_PERIOD, HintedMoves
from scheduler_core.queue.nominator import Nominator
from scheduler_core.queue.queue import SchedulingQueue
from scheduler_core.queue.state import QueueState
from scheduler_core.queue.types import QueueOptions
from scheduler_core.scheduler import client
from scheduler_core.scheduler.api_calls import Dispatcher
from scheduler_core.scheduler.cycle import BindingCycle, SchedulingCycle
from scheduler_core.scheduler.handle import WorldHandle
from scheduler_core.scheduler.rules import QueueRules
from scheduler_core.scheduler.surroundings import Surroundings
from scheduler_core.scheduler.world import HISTORICAL, World
from scheduler_core.trace.journal import Place, Why

if TYPE_CHECKING:
    from scheduler_core.scheduler.eviction import Eviction


_PENDING = (
    Place.ACTIVE,
    Place.BACKOFF,
    Place.UNSCHEDULABLE,
    Place.GATED,
    Place.IN_FLIGHT,
    Place.BINDING,
    Place.WAITING,
)


class Scheduler:
    """State of one scheduler. Cycles' steps are in scheduling.py and binding.py, event handlers in handlers.py."""

    def __init__(self, name: str, configuration: SchedulerConfiguration, world: World) -> None:
        self.name = name
        self.configuration = configuration
        self.features = world.settings.features
        demonstration = world.settings.demonstration
        self.effective = (
            configuration.with_plugin(DEMONSTRATION, self.features) if demonstration else configuration
        )
        self.world = world
        self.assumed: Assumptions = {}  # see Handle.assumed
        self.preempting: dict[str, int] = {}  # UID of the preemptor -> number of its eviction
        self.figures = Figures()
        self.profiles = self._make_profiles()
        options = self._queue_options()
        moves = HistoricalMoves if options.historical else HintedMoves
        self.queue = SchedulingQueue(options, QueueRules(self), QueueState(Nominator(self.live)), moves)
        self.calls = Dispatcher(int(configuration.manifest.get("parallelism") or 16))
        self.evictions: dict[int, Eviction] = {}
        self.cache = Cache()
        self.snapshot = NodeTable()
        self.around = Surroundings(
            configuration.percentage_of_nodes_to_score,
            draw=world.draw,
            draw_preemption=world.draw,
            epoch=world.store.epoch,
            nominator=self.queue.nominator,
        )
        self.cycle: SchedulingCycle | None = None
        self.bindings: dict[int, BindingCycle] = {}
        self.running = False  # a cycle is in progress or the thread is on the agenda
        self.flushes: dict[str, int] = {}  # timers on the agenda by name
        self.replica: Store | None = None  # what its listers read where its informers lag
        self.inbox: list[tuple[int, WatchEvent]] = []  # changes it will hear of, with the time
        self.limits = client.configured_limits(configuration.manifest)
        self.bucket = 0  # see client.throttle

    # What it is made of

    def framework_of(self, pod: Pod) -> Framework | None:
        return self.profiles.get(pod.spec.scheduler_name)

    def responsible_for(self, pod: Pod) -> bool:
        return pod.spec.scheduler_name in self.profiles

    def _make_profiles(self) -> dict[str, Framework]:
        handle = WorldHandle(self)
        return {p.scheduler_name: Framework(p, registry(), handle) for p in self.effective.profiles}

    def _queue_options(self) -> QueueOptions:
        settings = self.world.settings
        historical = settings.queue_mode == HISTORICAL
        return QueueOptions(
            initial_backoff=self.configuration.pod_initial_backoff_seconds * SECOND,
            max_backoff=self.configuration.pod_max_backoff_seconds * SECOND,
            max_in_unschedulable=settings.max_in_unschedulable,
            pop_from_backoff=settings.pop_from_backoff and not historical,
            historical=historical,
        )

    @property
    def view(self) -> Store:
        """The objects as the scheduler's listers have them."""
        return self.world.store if self.replica is None else self.replica

    def live(self, key: str) -> Pod | None:
        """The pod as the scheduler's informer has it: one that has ended has left it."""
        pod = self.view.pod_at(key)
        return None if pod is None or pod.terminal else pod

    def is_assumed(self, pod: Pod) -> bool:
        """Whether this very pod is assumed to be on a node."""
        return self.cache.is_assumed(pod.identity)

    # Helpers of its parts

    def move(
        self, pod: str, place: str, cause: str, why: Why = (), until: int = 0, kept: bool = True
    ) -> None:
        """Notes in trace and journal that a pod came to a place; `until` is the end of its backoff.

        Where another pod has its name by now, it is not `kept` in the journal, which is about that one.
        """
        world = self.world
        told: dict[str, Any] = {"pod": pod, "from": world.journal.place(pod), "to": place, "cause": cause}
        if why:
            named = zip(("event", "plugin", "hint"), why, strict=True)
            told.update((name, text) for name, text in named if text)
        if kept:
            world.journal.move(pod, world.now, world.position, place, cause, why, until)
        world.record("queue_moved", told, self.name)

    def left(self, key: str) -> None:
        """Notes in the journal where a pod is that this scheduler has taken for a waiting one, and that is bound or gone."""
        world = self.world
        pod, place = world.store.pod_at(key), world.journal.place(key)
        if pod is None and place != Place.DELETED:
            world.journal.move(key, world.now, world.position, Place.DELETED, "deleted")
        elif pod is not None and pod.node_name and place in _PENDING:
            world.journal.move(key, world.now, world.position, Place.BOUND, pod.node_name)

    def called(self, verb: str, pod: str, what: Mapping[str, Any]) -> None:
        """Notes in the trace that the API server was asked for something."""
        self.world.record("api_call", {"verb": verb, "pod": pod, **what}, self.name)

    def push_cycle(self, delay: int) -> None:
        """Puts the next step of the scheduling cycle on the agenda."""
        self.world.agenda.push(self.world.now + delay, ("cycle", self.name))

    def wake_up(self) -> None:
        """Puts the scheduling thread and the queue's timers on the agenda where they have something to do."""
        world = self.world
        if not self.running and not world.settings.manual and self.queue.ready:
            self.running = True
            world.agenda.push(world.now, ("schedule", self.name))
        self._set_timer("flush_backoff", self.queue.next_backoff_flush())
        self._set_timer("flush_unschedulable", self.queue.next_unschedulable_flush())

    def has_work(self) -> bool:
        """Whether the scheduling thread finds a pod; it leaves the agenda where it does not."""
        if not self.queue.ready:
            self.running = False
        return self.queue.ready

    def _set_timer(self, name: str, due: int | None) -> None:
        if due is None:
            return
        if due < self.world.now:  # its ticks until now found nothing to do
            period = SECOND if name == "flush_backoff" else FLUSH_PERIOD
            due = (self.world.now // period + 1) * period
        if name not in self.flushes or due < self.flushes[name]:
            self.flushes[name] = due
            self.world.agenda.push(due, (name, self.name), TIMER)

    def timer_is_due(self, name: str, at: int) -> bool:
        """Whether a timer on the agenda still stands and finds something to do; one that does not is forgotten."""
        if self.flushes.get(name) != at:
            return False
        queue = self.queue
        due = queue.next_backoff_flush() if name == "flush_backoff" else queue.next_unschedulable_flush()
        if due is not None and due <= at:
            return True
        del self.flushes[name]
        self._set_timer(name, due)
        return False

    def fire_timer(self, name: str, at: int) -> None:
        """Runs a flush of the queue."""
        del self.flushes[name]
        self.world.record("timer_fired", {"timer": name}, self.name)
        if name == "flush_backoff":
            self.queue.flush_backoff(at)
        else:
            self.queue.flush_unschedulable(at)
        self.wake_up()

    def copy(self, world: World) -> Scheduler:
        """The same scheduler in another world; what is immutable is shared."""
        twin = Scheduler.__new__(Scheduler)
        twin.name = self.name
        twin.configuration = self.configuration
        twin.effective = self.effective
        twin.features = self.features
        twin.world = world
        twin.assumed = dict(self.assumed)
        twin.preempting = dict(self.preempting)
        twin.replica = None if self.replica is None else self.replica.replica()
        twin.inbox = list(self.inbox)
        twin.limits = self.limits
        twin.bucket = self.bucket
        twin.figures = self.figures.copy()
        twin.profiles = twin._make_profiles()
        twin.queue = self.queue.copy(QueueRules(twin), twin.live)
        twin.calls = self.calls.copy()
        twin.evictions = dict(self.evictions)
        twin.cache = self.cache.copy()
        twin.snapshot = self.snapshot.copy()
        twin.snapshot.resources = twin.cache.resources
        twin.around = replace(
            self.around, draw=world.draw, draw_preemption=world.draw, nominator=twin.queue.nominator
        )
        twin.cycle = self.cycle.copy(self._twin_table(twin)) if self.cycle is not None else None
        twin.bindings = {number: binding.copy() for number, binding in self.bindings.items()}
        twin.running = self.running
        twin.flushes = dict(self.flushes)
        return twin

    def _twin_table(self, twin: Scheduler) -> NodeTable:
        assert self.cycle is not None
        return twin.snapshot if self.cycle.nodes is self.snapshot else self.cycle.nodes

    def pods_waiting(self) -> list[BindingCycle]:
        """Binding cycles whose pod waits on Permit."""
        return [binding for binding in self.bindings.values() if binding.waiting]
