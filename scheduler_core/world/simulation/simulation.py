"""Simulation: the one door to a world. Whatever changes a world is a command applied here, or a transition made here.

Synchronous and deterministic: no threads, no wall clock; time is virtual, in integer nanoseconds. `position` counts transitions, so that
one integer names a moment (docs/architecture.md).
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Generator, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apiserver import DELETED, Faults, Store, WatchEvent
from scheduler_core.apiserver.door import Reply, finish_as_component
from scheduler_core.apiserver.imports.trial import Trial
from scheduler_core.apiserver.server import APIServer
from scheduler_core.base.clock.agenda import TIMER, Action, Agenda, Entry, Stream
from scheduler_core.base.state import Copied, Derived, State
from scheduler_core.base.trace.journal import Journal, Place
from scheduler_core.base.trace.kinds import (
    Facts,
    ObjectChanged,
    PluginRan,
    PodAssumed,
    PointStarted,
    PreemptionStarted,
    Reconciled,
    SchedulerStarted,
)
from scheduler_core.base.trace.records import LazyFacts, Record, Recorder
from scheduler_core.controllers.catalogue import BY_NAME, watchers
from scheduler_core.controllers.contract import Controller
from scheduler_core.controllers.surroundings import Surroundings
from scheduler_core.scheduler.config.cluster import ClusterSettings
from scheduler_core.scheduler.config.load import load_configuration
from scheduler_core.scheduler.config.schema import SchedulerConfiguration
from scheduler_core.scheduler.config.settings import WorldSettings
from scheduler_core.scheduler.core.process import Process
from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.scheduler.core.steps import election, extender_calls, informers
from scheduler_core.scheduler.core.world import Ids
from scheduler_core.scheduler.extenders.behaviour import Behaviours
from scheduler_core.scheduler.extenders.exchange import Exchange
from scheduler_core.scheduler.framework.plugin import Point
from scheduler_core.scheduler.framework.runtime.points import has_effect
from scheduler_core.scheduler.leaderelection.lock import is_renewal
from scheduler_core.world.commands import DEFAULT_SCHEDULER_NAME, Command, Continuation
from scheduler_core.world.scrapes import Scrapes
from scheduler_core.world.simulation import cluster_commands
from scheduler_core.world.simulation.actions import BY_KIND, is_of
from scheduler_core.world.simulation.edits import Edits
from scheduler_core.world.simulation.execution import execute


class Grain(enum.StrEnum):
    """The size of a step: one transition; to the next one with an effect; to the next point; to the end of an attempt; to an event."""

    CALL = "call"
    PLUGIN = "plugin"
    POINT = "point"
    POD = "pod"
    EVENT = "event"


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of a run: its records, the number of transitions, and the reason it ended: until, budget, stopped or idle."""

    records: list[Record]
    steps: int
    reason: str


# Records of a transition that ran a plugin and no more; and those after which nothing is different, unless an object changed, too.
_OF_PLUGINS = {PointStarted.KIND, PluginRan.KIND, PodAssumed.KIND}
_UNSEEN = {Reconciled.KIND, PreemptionStarted.KIND}
_TOGETHER = (Point.PRE_FILTER, Point.POST_FILTER, Point.PRE_SCORE)
_ENDING = (Point.PRE_FILTER, Point.FILTER, Point.PRE_SCORE)  # points whose end is worth a look
_WORN_OUT = 6  # failures in a row after which a pod that only backs off no longer counts as work


class Simulation(State):
    """A cluster, its API server and its schedulers."""

    seed: int
    settings: WorldSettings
    position: int
    agenda: Copied[Agenda]
    store: Copied[Store]
    surroundings: Copied[Surroundings]
    journal: Copied[Journal]
    ids: Copied[Ids]
    faults: Copied[Faults]  # what becomes of the next calls, by kind of call and pod
    edits: Edits
    outside: bool  # a call of an extender may be waited for that is answered from outside
    scrapes: Copied[Scrapes]
    last: tuple[Record, ...]
    changes: Derived[list[WatchEvent]]  # of the transition in progress
    answered: Derived[Reply | None]  # what the client of the last CallAPI gets
    _recorder: Copied[Recorder]
    _draws: Copied[Stream]
    _schedulers: Copied[dict[str, Scheduler]]
    ended: Copied[dict[str, Process]]  # of schedulers that run no more, as they were in the end

    def __init__(self, seed: int = 0, settings: WorldSettings | None = None) -> None:
        self.seed = seed
        self.settings = settings or WorldSettings()
        self.position = 0
        self.agenda = Agenda()
        self.store = Store()
        self.surroundings = Surroundings()
        self.journal = Journal()
        self.ids = Ids()
        self.faults = {}
        self.edits = Edits()
        self.outside = False
        self.scrapes = Scrapes()
        self.last = ()
        self.changes = []
        self.answered = None
        self._recorder = Recorder()
        self._draws = Stream(seed)
        self._schedulers = {}
        self.ended = {}
        self.store.read_again(self.settings.reading)
        self.start_scheduler(DEFAULT_SCHEDULER_NAME, load_configuration(None, self.settings.features))
        cluster_commands.start(self)
        self._recorder.drain()
        self.store.subscribe(self._on_watch)

    # The door

    def apply(self, command: Command, trial: Trial | None = None) -> list[Record]:
        """Apply a command. Raise Refused, with the state unchanged, if the command is invalid. `trial`: see rehearse."""
        return self._transition(lambda: execute(self, command, trial))

    def rehearse(self, objects: Sequence[Mapping[str, Any]], taken: str = "") -> Generator[int, None, Trial]:
        """Try ApplyObjects and return the trial; `apply` can use it instead of another try, if nothing happens in between."""
        return cluster_commands.rehearse(self, objects, taken)

    def advance(self) -> list[Record]:
        """Make one transition and return its records; none if nothing is left to happen."""
        entry = self._peek()
        if entry is None:
            return []
        now = self.agenda.now
        # Only when time is about to move on: a scrape shows the moment after all that happens at it.
        if entry.time > now >= self.scrapes.due:
            self.scrapes.take(now, self.position, self.schedulers)
        self.agenda.pop()
        run = BY_KIND[type(entry.action)].run
        return self._transition(lambda: run(self, entry.action))

    def change(self, happen: Callable[[], None]) -> list[Record]:
        """Make a custom transition, such as a write to the store without a command. No log of commands has it."""
        return self._transition(happen)

    def due(self, at: int) -> bool:
        """Return whether an action is due by a time."""
        entry = self._peek()
        return entry is not None and entry.time <= at

    def step(self, grain: Grain, stops: Callable[[Simulation], bool] = lambda _: False) -> list[Record]:
        """Makes transitions until the grain is reached, or `stops` holds; an empty list: there is nothing left to happen."""
        entry = self._peek()
        if entry is None:
            return []
        first = self._station(entry)
        attempts = len(self.journal.attempts)
        records = self.advance()
        while (following := self._peek()) is not None and not stops(self):
            if entry.action.quiet and grain is not Grain.CALL and not self.last and not self.idle:
                first = self._station(following)
            elif self._reaches(grain, entry, first, following, attempts):
                break
            entry = following
            records += self.advance()
        return records

    def run(
        self,
        until: Callable[[Simulation], bool] | None = None,
        steps: int | None = None,
        should_stop: Callable[[], bool] | None = None,
        *,
        timers: bool = False,
    ) -> RunResult:
        """Makes transitions until a condition holds, the budget is spent, the caller says stop, or the world is idle.

        `timers`: an idle world goes on as long as it has any.
        """
        records: list[Record] = []
        done = 0
        while True:
            if steps is not None and done >= steps:
                return RunResult(records, done, "budget")
            if should_stop is not None and should_stop():
                return RunResult(records, done, "stopped")
            if self._peek() is None if timers else self.idle:
                return RunResult(records, done, "idle")
            records += self.advance()
            done += 1
            if until is not None and until(self):
                return RunResult(records, done, "until")

    @property
    def idle(self) -> bool:
        """True if only timers without effect are left, or retries that have failed six times in a row."""
        entry = self._peek()
        if entry is None:
            return True
        if entry.priority != TIMER or self._has_work():
            return False
        return not self._awaits_leader() and all(
            pod.error_count + pod.unschedulable_count >= _WORN_OUT
            for scheduler in self.schedulers
            for pods in (scheduler.queue.backoff_pods, scheduler.queue.error_backoff_pods)
            for pod in pods.values()
        )

    @property
    def over(self) -> bool:
        """True if no transition is left, not even a timer's."""
        return self._peek() is None

    def _awaits_leader(self) -> bool:
        """Return whether pods wait for a candidate to lead."""
        acting = [s for s in self.schedulers if s.works and s.hang is None]
        return any(
            scheduler.queue.ready
            and election.may_lead(scheduler, acting)
            and not any(name in other.profiles for name in scheduler.profiles for other in acting)
            for scheduler in self.schedulers
        )

    def _has_work(self) -> bool:
        """Return whether anything but timers is still to happen."""
        return any(
            entry.priority != TIMER and BY_KIND[type(entry.action)].stands(self, entry.action)
            for entry in self.agenda.unsorted()
        )

    def fork(self) -> Simulation:
        """Return an independent copy of the world, to look ahead or to keep as a snapshot."""
        return self.copy()

    def copied_from(self, original: Simulation) -> None:
        self.connect()

    def connect(self) -> None:
        """Connect the parts to this world."""
        for scheduler in self._schedulers.values():
            scheduler.connect(self)
        self.store.subscribe(self._on_watch)

    def disconnect(self) -> None:
        """Disconnect the parts. The world can't run until it is connected again, and its memory is freed with the last reference."""
        for scheduler in self._schedulers.values():
            scheduler.disconnect()
        self.store.forget_subscribers()

    # The world, as schedulers and presenters see it

    @property
    def now(self) -> int:
        return self.agenda.now

    @property
    def cluster(self) -> ClusterSettings:
        """The settings of the components around the schedulers."""
        return self.settings.cluster

    @property
    def api(self) -> APIServer:
        """The API server, as components talk to it."""
        gates = self.settings.device_gates
        mark = finish_as_component(self.store, self.now) if self.store.calendar else None
        return APIServer(self.store, self.cluster.apiserver, self.now, devices=gates, typed=True, finish=mark)

    def controller(self, name: str) -> Controller:
        return BY_NAME[name]

    def plan(self, at: int, action: Action) -> None:
        """Schedule an action at a virtual time (ns)."""
        self.agenda.push(at, action)

    @property
    def behaviours(self) -> Behaviours:
        """The behaviors of the extender servers."""
        return self.surroundings.inputs.extenders

    def awaited(self) -> list[tuple[str, int, Exchange]]:
        """Return the calls of extenders that wait for outside answers, with scheduler and attempt. Until then the world stands still."""
        return [
            (scheduler.name, attempt, exchange)
            for scheduler in self.schedulers
            for attempt, exchange in extender_calls.iterate_awaited_calls(scheduler)
        ]

    @property
    def schedulers(self) -> tuple[Scheduler, ...]:
        return tuple(self._schedulers.values())

    def scheduler(self, name: str) -> Scheduler:
        return self._schedulers[name]

    @property
    def itself(self) -> Simulation:
        """This world, for readers (WorldView)."""
        return self

    def record(self, facts: Facts | LazyFacts, scheduler: str = "", parent: int = 0) -> int:
        """Write a record at the present time. Return its number."""
        return self._recorder.write(self.agenda.now, facts, scheduler, parent)

    def draw(self, n: int, names: Sequence[str] = ()) -> int:
        """Draw an index below n from the seeded stream. `names` are the candidates, for observers of the choice."""
        return self._draws.below(n)

    @property
    def continuation(self) -> Continuation:
        """The state that another world needs besides this one's objects, to decide as this one would."""
        # kube's nextStartNodeIndex: the node where the next attempt begins, which matters when not all are examined.
        starts = {scheduler.name: scheduler.algorithm_state.next_start for scheduler in self.schedulers}
        return Continuation(self._draws.state, self.store.created, starts)

    def go_on_from(self, continuation: Continuation) -> None:
        """Continue as a world whose objects were imported here."""
        self._draws.state = continuation.draws
        self.store.count_from(continuation.created)
        for name, start in continuation.next_start.items():
            if name in self._schedulers:
                self._schedulers[name].algorithm_state.next_start = start

    def start_scheduler(self, name: str, configuration: SchedulerConfiguration) -> None:
        """Start or restart a scheduler: it lists the API server's objects and drops the cycles in progress."""
        scheduler = self._put_up(Scheduler(name, configuration, self))
        informers.list_all(scheduler)
        self._note_unknown_schedulers()
        scheduler.wake_up()

    def start_process(self, name: str, configuration: SchedulerConfiguration, process: Process) -> None:
        """Start a scheduler as a process: its informers must sync, and it may need to be elected."""
        scheduler = self._put_up(Scheduler(name, configuration, self, process))
        self.ended.pop(name, None)
        election.begin(scheduler)
        self._note_unknown_schedulers()

    def _put_up(self, scheduler: Scheduler) -> Scheduler:
        # Plans name their scheduler: those of an earlier process of this name would act on the new one.
        self._discard_plans(scheduler.name)
        self._schedulers[scheduler.name] = scheduler
        informers.set_lag(scheduler)
        self.record(SchedulerStarted(list(scheduler.profiles)), scheduler.name)
        return scheduler

    def exited(self, name: str) -> None:
        process = self._schedulers[name].process
        if process is not None:
            self.ended[name] = process
        self.stop_scheduler(name)

    def stop_scheduler(self, name: str) -> None:
        """Remove a scheduler. Its pods stay pending."""
        scheduler = self._schedulers.pop(name)
        for pod in self.store.pods():
            if pod.node_name:
                scheduler.left(pod.key)
        self._discard_plans(name)
        self._note_unknown_schedulers()

    def _discard_plans(self, scheduler: str) -> None:
        """Remove a scheduler's planned actions from the agenda."""
        self.agenda.discard(lambda action: is_of(action, scheduler))

    def _note_unknown_schedulers(self) -> None:
        """Note the pods for which no scheduler is responsible any longer."""
        for pod in self.store.pods():
            if pod.node_name or pod.terminal or self._is_anybodys(pod) or pod.key in self.journal.ignored:
                continue
            if pod.key in self.journal.last_move:
                self.journal.move(pod.key, self.now, self.position, Place.IGNORED, pod.spec.scheduler_name)

    def _is_anybodys(self, pod: Pod) -> bool:
        return any(scheduler.responsible_for(pod) for scheduler in self._schedulers.values())

    # Transitions

    def _transition(self, happen: Callable[[], None]) -> list[Record]:
        self.position += 1
        self.changes = []
        try:
            happen()
        except BaseException:
            self.position -= 1
            self._recorder.take_back()
            raise
        self._peek()  # what has lost its meaning goes now: not when somebody happens to ask, which a replay would not do
        records = self._recorder.drain()
        self.last = tuple(records)
        return records

    def _peek(self) -> Entry | None:
        """Return the next valid entry and drop invalid ones before it. Return None while an outside answer is awaited."""
        if self.outside:
            self.outside = bool(self.awaited())
            if self.outside:
                return None
        while (entry := self.agenda.peek()) is not None:
            if BY_KIND[type(entry.action)].stands(self, entry.action):
                return entry
            self.agenda.drop()
        return None

    def _station(self, entry: Entry) -> Hashable:
        """Return the station that shows an entry's step."""
        return BY_KIND[type(entry.action)].station(self, entry.action)

    def _reaches(self, grain: Grain, done: Entry, first: Hashable, following: Entry, attempts: int) -> bool:
        if grain is Grain.CALL:
            return True
        if grain is Grain.PLUGIN:
            return not self._is_silent() or self.idle
        if grain is Grain.POINT:
            return self._station(following) != first
        if grain is Grain.POD:
            return len(self.journal.attempts) > attempts or self.idle
        return not done.action.in_cycle or self.idle

    def _is_silent(self) -> bool:
        """Return whether the last transition changed nothing: a plugin had nothing to do, or a controller wrote nothing.

        Plugins of PreFilter, PostFilter, and PreScore count together.
        """
        kinds = {record.kind for record in self.last}
        if kinds <= _UNSEEN or not kinds <= _OF_PLUGINS:
            return kinds <= _UNSEEN
        for scheduler in self.schedulers:
            for cycle in (scheduler.cycle, *scheduler.bindings.values()):
                if cycle is None or not cycle.steps or cycle.steps[-1].position != self.position:
                    continue
                step = cycle.steps[-1]
                goes_on = str(cycle.phase) == step.point
                if step.point in _TOGETHER and goes_on:
                    return True
                if step.point in _ENDING and not goes_on:
                    return False
                return not has_effect(scheduler.profiles[cycle.profile], cycle, step)
        return False

    # What the world notes of a change in the API server

    def _on_watch(self, event: WatchEvent) -> None:
        self.changes.append(event)
        # A leader renews its Lease every retryPeriod (2s by default): such records would bury the others.
        if not is_renewal(event):
            self.record(ObjectChanged(event.type, event.kind, event.namespace, event.name))
        if event.kind == "Pod":
            self._note_pod(event)
            if self.faults and event.type == DELETED:
                pod = f"{event.namespace}/{event.name}"
                self.faults = {key: fault for key, fault in self.faults.items() if fault.pod != pod}
        for scheduler in self._schedulers.values():
            # What changes before a process has listed is part of its list, as in kube's reflector (list, then watch).
            if scheduler.process is not None and not scheduler.process.listed:
                continue
            if scheduler.replica is None:
                informers.pass_on(scheduler, event)
            else:
                informers.receive(scheduler, event)
        for watcher in watchers(event.kind, self.settings.cluster):
            watcher.on_watch(self, event)

    def _note_pod(self, event: WatchEvent) -> None:
        old, new = event.old_pod, event.new_pod
        if new is None:
            assert old is not None
            self.journal.move(old.key, self.now, self.position, Place.DELETED, "deleted")
        elif new.node_name and (old is None or not old.node_name):
            self.journal.move(new.key, self.now, self.position, Place.BOUND, new.node_name)
        elif old is None and not self._is_anybodys(new):
            self.journal.move(new.key, self.now, self.position, Place.IGNORED, new.spec.scheduler_name)
        if new is not None and new.phase == "Running" and (old is None or old.phase != "Running"):
            self.journal.move(new.key, self.now, self.position, Place.RUNNING, "kubelet")
