"""One kube-scheduler: its queue, cache, snapshot and profiles, and the cycles it runs, one step at a time.

The world's agenda has its pending actions (actions.py).

kube: scheduler.go, schedule_one.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from scheduler_core.apimachinery.objects import Manifest, Pod
from scheduler_core.apiserver import Store, WatchEvent
from scheduler_core.base.clock.agenda import SECOND
from scheduler_core.base.releases import Behavior, Release
from scheduler_core.base.state import Copied, Derived, State
from scheduler_core.base.trace.journal import Place, Why
from scheduler_core.base.trace.kinds import ApiCall, QueueMoved, TimerFired
from scheduler_core.scheduler.cache.cache import Cache
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.config import SchedulerConfiguration, with_plugin
from scheduler_core.scheduler.config.settings import HISTORICAL
from scheduler_core.scheduler.core import actions, measure
from scheduler_core.scheduler.core.algorithm.algorithm_state import AlgorithmState
from scheduler_core.scheduler.core.calls import client
from scheduler_core.scheduler.core.calls.dispatcher import Dispatcher
from scheduler_core.scheduler.core.cycles.group_cycle import GroupCycle
from scheduler_core.scheduler.core.cycles.scheduling_cycle import BindingCycle, Eviction, SchedulingCycle
from scheduler_core.scheduler.core.handle import WorldHandle
from scheduler_core.scheduler.core.process import Process, QueueRules, Stage
from scheduler_core.scheduler.core.world import SchedulerWorld
from scheduler_core.scheduler.extenders import extender
from scheduler_core.scheduler.framework import Features, groups
from scheduler_core.scheduler.framework.claims import ClaimTracker
from scheduler_core.scheduler.framework.events import CLAIM_UPDATE, ObjectEvent
from scheduler_core.scheduler.framework.groups import PodGroupState
from scheduler_core.scheduler.framework.plugin import Assumptions
from scheduler_core.scheduler.framework.runtime.framework import Framework
from scheduler_core.scheduler.metrics.catalogue import Figures
from scheduler_core.scheduler.plugins import DEMONSTRATION
from scheduler_core.scheduler.plugins.cel import plugins_of
from scheduler_core.scheduler.plugins.registry import registry_of
from scheduler_core.scheduler.queue.moves import HintedMoves
from scheduler_core.scheduler.queue.nominator import Nominator
from scheduler_core.scheduler.queue.queue import SchedulingQueue
from scheduler_core.scheduler.queue.state import QueueState
from scheduler_core.scheduler.queue.types import QueueOptions


class _Timer(NamedTuple):
    """A queue timer: when the next flush is due, and how to flush."""

    due: Callable[[HintedMoves], int | None]
    flush: Callable[[HintedMoves, int], None]


_FLUSHES: dict[type[actions.Flush], _Timer] = {
    actions.FlushBackoff: _Timer(lambda moves: moves.next_backoff_flush(), lambda moves, now: moves.flush_backoff(now)),
    actions.FlushUnschedulable: _Timer(
        lambda moves: moves.next_unschedulable_flush(), lambda moves, now: moves.flush_unschedulable(now)
    ),
}
_PENDING = (
    Place.ACTIVE,
    Place.BACKOFF,
    Place.UNSCHEDULABLE,
    Place.GATED,
    Place.IN_FLIGHT,
    Place.BINDING,
    Place.WAITING,
)


class Scheduler(State):
    """The state of one scheduler. The functions in steps/ change it."""

    name: str
    configuration: SchedulerConfiguration
    features: Features
    effective: SchedulerConfiguration
    world: Derived[SchedulerWorld]
    assumed: Copied[Assumptions]  # see Handle.assumed
    claims: Copied[ClaimTracker]
    preempting: Copied[dict[str, int]]  # UID of the preemptor -> number of its eviction
    figures: Copied[Figures]
    profiles: Derived[dict[str, Framework]]
    queue: Copied[SchedulingQueue]
    calls: Copied[Dispatcher]
    evictions: Copied[dict[int, Eviction]]
    cache: Copied[Cache]
    snapshot: Copied[NodeTable]
    algorithm_state: Copied[AlgorithmState]
    cycle: Copied[SchedulingCycle | None]
    bindings: Copied[dict[int, BindingCycle]]
    running: bool  # a cycle is in progress or the thread is on the agenda
    flushes: Copied[dict[str, int]]  # timers on the agenda by name
    replica: Copied[Store | None]  # the listers' source if its informers lag
    members: Copied[dict[str, dict[str, Pod]]]  # the informer's pods by their PodGroup and key
    group: Copied[GroupCycle | None]  # the group of the current or last cycle
    inbox: Copied[list[tuple[int, WatchEvent]]]  # pending changes, with their times
    limits: tuple[float, int] | None
    bucket: int  # see client.throttle
    process: Copied[Process | None]  # None: it always works, as before processes were modeled

    def __init__(
        self, name: str, configuration: SchedulerConfiguration, world: SchedulerWorld, process: Process | None = None
    ) -> None:
        self.name = name
        self.configuration = configuration
        self.features = world.settings.of_scheduler(name).features
        demonstration = world.settings.demonstration
        self.effective = (
            with_plugin(configuration, DEMONSTRATION, self.features, world.settings.plugins)
            if demonstration
            else configuration
        )
        self.world = world
        self.assumed = {}
        self.claims = ClaimTracker()
        self.preempting = {}
        self.figures = Figures()
        self.profiles = self._make_profiles()
        options = self._queue_options()
        nominator = Nominator(self.live, Behavior.CLEARED_NOMINATIONS_GO not in self.features.behaviors)
        self.queue = SchedulingQueue(options, QueueRules(self), QueueState(nominator=nominator))
        self.calls = Dispatcher(int(configuration.manifest.get("parallelism") or 16))
        self.evictions = {}
        self.cache = Cache()
        self.snapshot = NodeTable()
        self.algorithm_state = AlgorithmState(
            configuration.percentage_of_nodes_to_score,
            draw=world.draw,
            draw_preemption=world.draw,
            epoch=world.store.epoch,
            extenders=extender.extenders_of(configuration.manifest),
            nominator=self.queue.nominator,
            batches={} if self.features.opportunistic_batching else None,
            grouped=self.features.generic_workload,
            in_order=Behavior.TIES_IN_ORDER in self.features.behaviors,
        )
        self.cycle = None
        self.bindings = {}
        self.running = False
        self.flushes = {}
        self.replica = None
        self.members = {}
        self.group = None
        self.inbox = []
        self.limits = client.read_limits(configuration.manifest)
        self.bucket = 0
        self.process = process
        self._connect_claims()

    def copied_from(self, original: Scheduler) -> None:
        self.snapshot.resources = self.cache.resources
        if self.cycle is not None and self.cycle.nodes is original.snapshot:
            self.cycle.nodes = self.snapshot

    def connect(self, world: SchedulerWorld) -> None:
        """Connect a copy to its world."""
        self.world = world
        if self.group is not None and self.group.current is not None:
            self.cycle = self.group.current  # a copy of both has two copies of it
        self.profiles = self._make_profiles()
        self.queue.connect(QueueRules(self))
        self.queue.nominator.find = self.live
        state = self.algorithm_state
        state.draw = state.draw_preemption = world.draw
        state.nominator = self.queue.nominator
        self._connect_claims()

    def disconnect(self) -> None:
        """Drop all references that `connect` sets, so that their objects can be freed. Reconnect before further use."""
        del self.world
        self.profiles = {}
        self.queue.disconnect()
        self.algorithm_state.disconnect()
        self.claims.disconnect()

    # Its parts

    @property
    def release(self) -> Release:
        """The release of kube: the scheduler's own, or the world's."""
        return self.world.settings.release_of(self.name)

    @property
    def frees_deleted(self) -> bool:
        """True if deleting a pod during its binding frees its resources at once."""
        return Behavior.ASSUMED_POD_DELETION in self.features.behaviors

    @property
    def preempts_in_memory(self) -> bool:
        """True if victims that are being bound are not deleted."""
        return Behavior.PREEMPTION_IN_MEMORY in self.features.behaviors

    @property
    def keeps_nomination(self) -> bool:
        """True if a pod keeps its nomination after a failure that does not change the nomination."""
        return self.features.expect_nominated_node and Behavior.FAILURE_CLEARS_NOMINATION not in self.features.behaviors

    def framework_of(self, pod: Pod) -> Framework | None:
        return self.profiles.get(pod.spec.scheduler_name)

    def responsible_for(self, pod: Pod) -> bool:
        return pod.spec.scheduler_name in self.profiles

    def _make_profiles(self) -> dict[str, Framework]:
        handle, plugins = WorldHandle(self), registry_of(self.features)
        if own := self.world.settings.plugins:
            plugins = {**plugins, **{plugin.name: plugin for plugin in plugins_of(own)}}
        manifest = self.configuration.manifest
        ignored = extender.list_ignored_resources(manifest)
        profiles = {
            p.scheduler_name: Framework(extender.without_ignored_resources(p, ignored), plugins, handle)
            for p in self.effective.profiles
        }
        for framework in profiles.values():
            framework.extended = bool(manifest.get("extenders"))
        return profiles

    def _connect_claims(self) -> None:
        self.claims.connect(lambda: self.view, self.features.dra_consumable_capacity, self._claim_changed)

    def _claim_changed(self, old: Manifest | None, new: Manifest | None) -> None:
        """Handle a claim's newest version before the informer delivers it. kube: its handler is the assume cache's"""
        if old is not None and new is not None:
            self.queue.move_all(ObjectEvent(CLAIM_UPDATE, old, new), self.world.now)
            measure.record_event(self, CLAIM_UPDATE.label)
            self.wake_up()

    def _queue_options(self) -> QueueOptions:
        settings = self.world.settings
        historical = settings.queue_mode == HISTORICAL
        return QueueOptions.of_release(
            self.features.behaviors,
            initial_backoff=self.configuration.pod_initial_backoff_seconds * SECOND,
            max_backoff=self.configuration.pod_max_backoff_seconds * SECOND,
            max_in_unschedulable=settings.max_in_unschedulable,
            pop_from_backoff=self.features.pop_from_backoff and not historical,
            historical=historical,
            groups=self.features.generic_workload,
        )

    @property
    def percentage_of_nodes_to_score(self) -> int:
        return self.algorithm_state.percentage

    @property
    def extenders(self) -> tuple[extender.Extender, ...]:
        """The extenders in call order."""
        return self.algorithm_state.extenders

    @property
    def view(self) -> Store:
        """The objects as the scheduler's listers have them."""
        return self.world.store if self.replica is None else self.replica

    def live(self, key: str) -> Pod | None:
        """Return the pod from the scheduler's informer, or None. The informer has no terminated pods."""
        pod = self.view.pod_at(key)
        return None if pod is None or pod.terminal else pod

    def pod_group(self, namespace: str, name: str) -> PodGroupState | None:
        """Return a PodGroup with its pods, or None."""
        manifest = self.view.get(groups.KIND, namespace, name)
        if manifest is None:
            return None
        pods = self.members.get(f"{namespace}/{name}", {}).values()
        assumed = {pod.uid: self.cache.where[pod.uid][0] for pod in pods if self.cache.is_assumed(pod.uid)}
        scheduled = tuple(pod for pod in pods if pod.node_name and pod.uid not in assumed)
        return PodGroupState(manifest, tuple(pods), (*scheduled, *assumed.values()), tuple(assumed))

    def is_assumed(self, pod: Pod) -> bool:
        """Return True if this pod (by identity) is assumed to be on a node."""
        return self.cache.is_assumed(pod.identity)

    # Helpers of its parts

    def move(self, pod: str, place: str, cause: str, why: Why = (), until: int = 0, kept: bool = True) -> None:
        """Record in trace and journal that a pod moved to a place; `until` is the end of its backoff.

        If another pod has its name by now, the move is not `kept` in the journal, which follows that pod.
        """
        if self.process is not None and not self.process.decides:
            return  # pods wait in the leader's queue
        world = self.world
        facts = QueueMoved(pod, world.journal.place(pod), place, cause, *why)
        if kept:
            world.journal.move(pod, world.now, world.position, place, cause, why, until)
        world.record(facts, self.name)

    def left(self, key: str) -> None:
        """Record in the journal that a pod, which this scheduler took for pending, is bound or deleted."""
        world = self.world
        pod, place = world.store.pod_at(key), world.journal.place(key)
        if pod is None and place != Place.DELETED:
            world.journal.move(key, world.now, world.position, Place.DELETED, "deleted")
        elif pod is not None and pod.node_name and place in _PENDING:
            world.journal.move(key, world.now, world.position, Place.BOUND, pod.node_name)

    def called(self, call: ApiCall) -> None:
        """Record a call to the API server in the trace."""
        self.world.record(call, self.name)

    def push_cycle(self, delay: int) -> None:
        """Push the next step of the scheduling cycle onto the agenda."""
        self.world.agenda.push(self.world.now + delay, actions.AdvanceCycle(self.name))

    def wake_up(self) -> None:
        """Push the scheduling thread and the queue's timers onto the agenda if they have work."""
        if not self.works:
            if self.done:
                self.world.agenda.push(self.world.now, actions.EndProcess(self.name))
            return
        world = self.world
        if not self.running and not world.settings.manual and self.queue.ready:
            self.running = True
            world.agenda.push(world.now, actions.StartCycle(self.name))
        for kind, timer in _FLUSHES.items():
            self._set_timer(kind, timer.due(self.queue.moves))

    @property
    def works(self) -> bool:
        """True if the scheduling loop and the queue's timers run."""
        return self.process is None or self.process.stage is Stage.WORKING

    @property
    def launched(self) -> bool:
        """True if the scheduler was started as a separate process."""
        return self.process is not None and self.process.launched

    @property
    def hang(self) -> int | None:
        """The time (ns) that API calls hang before they fail; None if not cut off."""
        return None if self.process is None else self.process.hang

    @property
    def done(self) -> bool:
        """True if an ending process has no work left, apart from pods that wait on Permit."""
        process = self.process
        if process is None or process.stage is not Stage.ENDING or process.electing or self.running:
            return False
        return all(binding.waiting for binding in self.bindings.values())

    def has_work(self) -> bool:
        """Return whether the scheduling thread finds a pod; if not, it leaves the agenda."""
        if not self.queue.ready:
            self.running = False
        return self.queue.ready

    def _set_timer(self, kind: type[actions.Flush], due: int | None) -> None:
        if due is None:
            return
        if due < self.world.now:  # its earlier ticks had no work
            due = (self.world.now // kind.period + 1) * kind.period
        if kind.timer not in self.flushes or due < self.flushes[kind.timer]:
            self.flushes[kind.timer] = due
            self.world.agenda.push(due, kind(self.name, due))

    def flush_is_due(self, flush: actions.Flush) -> bool:
        """Return whether a timer on the agenda is valid and has something to flush; if due later, reschedule it."""
        if self.flushes.get(flush.timer) != flush.due or not self.works:
            return False
        due = _FLUSHES[type(flush)].due(self.queue.moves)
        if due is not None and due <= flush.due:
            return True
        del self.flushes[flush.timer]
        self._set_timer(type(flush), due)
        return False

    def flush(self, flush: actions.Flush) -> None:
        """Run a flush of the queue."""
        del self.flushes[flush.timer]
        self.world.record(TimerFired(flush.timer), self.name)
        _FLUSHES[type(flush)].flush(self.queue.moves, flush.due)
        self.wake_up()

    def pods_waiting(self) -> list[BindingCycle]:
        """Return the binding cycles whose pods wait on Permit."""
        return [binding for binding in self.bindings.values() if binding.waiting]
