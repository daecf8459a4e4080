"""An attempt from its first transition to the end of its binding, observed during a run or a replay.

The observer records what the journal omits: each plugin's rejections, the in-flight events and each one's effect on the pod, Permit,
PreBind, Bind and their rollback, and the calls to the API server.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from scheduler_core.base.trace.kinds import ApiCall, BindingEnded
from scheduler_core.base.trace.records import Record
from scheduler_core.scheduler.core.cycles.scheduling_cycle import BindingCycle, SchedulingCycle
from scheduler_core.scheduler.framework import CycleState, ObjectEvent, PluginStep, Point
from scheduler_core.scheduler.queue.types import RequeueDecision
from scheduler_core.world.simulation import Simulation

_REFUSAL = ("plugin", "refused", "evaluated", "stage", "position")
_LATE = (Point.RESERVE, Point.PERMIT, Point.UNRESERVE)  # of a scheduling cycle's steps


class InFlightEvent(NamedTuple):
    """An event while the pod was in flight, at a position and a virtual time (ns)."""

    what: ObjectEvent
    position: int
    t: int


class AttemptObserver:
    """An observer to create after the attempt's first transition. Call `see` after each further transition."""

    def __init__(self, sim: Simulation, pod: str) -> None:
        self.scheduler, self.cycle = running_cycle(sim, pod)
        self.pod, self.uid = pod, self.cycle.pod.uid
        self.binding: BindingCycle | None = None
        self.events: list[InFlightEvent] = []
        self.decisions: list[RequeueDecision] = []
        self.calls: list[dict[str, Any]] = []
        self.end: dict[str, Any] = {}  # of the binding cycle
        self._count = self.scheduler.queue.flight.count
        self._flies = True

    @property
    def over(self) -> bool:
        """True if the attempt and its binding have ended."""
        return self.cycle.ended is not None and self.cycle.number not in self.scheduler.bindings

    def see(self, sim: Simulation, records: Iterable[Record]) -> None:
        """Record one transition."""
        self.binding = self.scheduler.bindings.get(self.cycle.number, self.binding)
        if self._flies:
            queue = self.scheduler.queue
            flying = queue.flight.events_of(self.uid)
            if flying is None:
                self._flies = False
                entry = queue.find(self.pod)
                if entry is not None and entry.rejectors and self.binding is None:
                    self.decisions = [queue.requeue_decision(entry, seen.what) for seen in self.events]
            elif queue.flight.count != self._count:
                self._count = queue.flight.count
                self.events += [InFlightEvent(what, sim.position, sim.now) for what in flying[len(self.events) :]]
        for record in records:
            call, ended = record.of(ApiCall), record.of(BindingEnded)
            if call is not None and call.pod == self.pod:
                self.calls.append({**record.data, "t": record.t, "position": sim.position})
            elif ended is not None and ended.pod == self.pod:
                self.end = {**record.data, "t": record.t, "position": sim.position}

    # As plain data

    def to_json(self) -> dict[str, Any]:
        return {
            "refusals": [{name: getattr(step, name) for name in _REFUSAL} for step in self.cycle.steps if step.refused],
            "answers": [_answer(step) for step in self.cycle.steps if _has_answer(step)],
            "events": [self._event(i) for i in range(len(self.events))],
            "steps": self._late_steps(),
            "calls": self.calls,
            "end": self.end,
            "whole": self.over,
        }

    def _event(self, i: int) -> dict[str, Any]:
        seen, decision = self.events[i], self.decisions[i] if i < len(self.decisions) else None
        data: dict[str, Any] = {"event": seen.what.event.label, "object": name_of(seen.what)}
        data |= {"position": seen.position, "t": seen.t}
        if decision is None:
            return data
        return {**data, "decision": decision.strategy.value, "plugin": decision.plugin, "hint": decision.hint}

    def _late_steps(self) -> list[dict[str, Any]]:
        """Return Reserve, Permit, the binding cycle's points, and Unreserve, in the order in which they ran."""
        out = [_answer(step) for step in self.cycle.steps if step.point in _LATE]
        if self.binding is None:
            return out
        since = self.binding.started
        for step in self.binding.steps:
            took = step.timeout or (step.t - since if step.point in (Point.BIND, Point.WAIT_ON_PERMIT) else 0)
            out.append({**_answer(step), "took": took})
            since = max(since, step.t + step.timeout)
        return out


def running_cycle(sim: Simulation, pod: str) -> tuple[Any, SchedulingCycle]:
    """Return the scheduler that runs the pod's cycle now, or ran it last, and that cycle. Raise ValueError if no scheduler did."""
    for scheduler in sim.schedulers:
        if scheduler.cycle is not None and scheduler.cycle.pod.key == pod:
            return scheduler, scheduler.cycle
    raise ValueError(f"no scheduling cycle of {pod} at position {sim.position}")


def _has_answer(step: PluginStep) -> bool:
    """Return True if a step before Reserve has a result for all nodes: a PreFilter rejection, a PostFilter message, an error."""
    return step.point not in _LATE and not step.skipped and bool(step.status.message)


def _answer(step: PluginStep) -> dict[str, Any]:
    return {
        "point": step.point.value,
        "plugin": step.plugin,
        "code": step.status.to_json()["code"],
        "message": step.status.message,
        "t": step.t,
        "position": step.position,
        "took": 0,
        "timeout": step.timeout,
    }


def name_of(what: ObjectEvent) -> str:
    """Return the name of an event's object: namespace/name, or name."""
    thing = what.old if what.new is None else what.new
    if thing is None:
        return ""
    if isinstance(thing, dict):
        metadata = thing.get("metadata") or {}
        namespace, name = metadata.get("namespace"), str(metadata.get("name", ""))
        return f"{namespace}/{name}" if namespace else name
    return str(getattr(thing, "key", None) or thing.name)


# A CycleState that records its reads, writes, and copies. It replaces a cycle's own on demand.
#
# Its results equal those of the plain one, so the observed cycle has the same course.

WROTE, READ, MISSED, CLONED = "wrote", "read", "missed", "cloned"


class Access(NamedTuple):
    """One access. `clone` 0 is the cycle's own state; other numbers are copies in the order of their creation."""

    what: str
    key: str
    clone: int


class AccessLog:
    """The accesses to a state and all its copies since the last `take`."""

    __slots__ = ("_clones", "_entries")

    def __init__(self) -> None:
        self._entries: list[Access] = []
        self._clones = 0

    def note(self, what: str, key: str, clone: int) -> None:
        self._entries.append(Access(what, key, clone))

    def clone(self) -> int:
        """Return the number of a new copy."""
        self._clones += 1
        self._entries.append(Access(CLONED, "", self._clones))
        return self._clones

    def take(self) -> list[Access]:
        out, self._entries = self._entries, []
        return out


class ObservedState(CycleState):
    """A CycleState that records its accesses in a log."""

    __slots__ = ("_clone", "_log")

    def __init__(self, log: AccessLog, clone: int = 0) -> None:
        super().__init__()
        self._log = log
        self._clone = clone

    @classmethod
    def over(cls, state: CycleState, log: AccessLog, clone: int = 0) -> ObservedState:
        """Return an observed state with the same content."""
        twin = cls(log, clone)
        twin.values = dict(state.values)
        twin.skip_filter, twin.skip_score = state.skip_filter, state.skip_score
        return twin

    def write(self, key: str, value: Any) -> None:
        self._log.note(WROTE, key, self._clone)
        super().write(key, value)

    def read(self, key: str) -> Any:
        self._log.note(READ, key, self._clone)
        return super().read(key)

    def get(self, key: str) -> Any | None:
        self._log.note(READ if key in self.values else MISSED, key, self._clone)
        return super().get(key)

    def copy(self) -> ObservedState:
        return ObservedState.over(self, self._log, self._log.clone())


# The accesses of one cycle's plugins to its CycleState, observed during a run or a replay.
#
# Each transition runs one plugin, so all accesses recorded during a transition are that plugin's. A copy is named by its purpose.

OWN, NOMINATED, DRY_RUN, BINDING = "the cycle", "nominated pods", "dry run", "binding cycle"


class StateAccess(NamedTuple):
    """One access to a key: the kind, the plugin and its extension point ("" for the framework itself), and the copy."""

    what: str
    key: str
    point: str
    plugin: str
    position: int
    clone: str


class CycleStateObserver:
    """An observer to create after the cycle's first transition. Call `see` after each further transition."""

    def __init__(self, sim: Simulation, pod: str) -> None:
        self.scheduler, self.cycle = running_cycle(sim, pod)
        self._log = AccessLog()
        self.cycle.state = ObservedState.over(self.cycle.state, self._log)
        self._seen = len(self.cycle.steps)
        self._seen_binding = 0
        self._clones: dict[int, str] = {0: OWN}
        self.binding: BindingCycle | None = None
        self.accesses: list[StateAccess] = []

    def see(self, sim: Simulation) -> None:
        """Record one transition."""
        self.binding = self.scheduler.bindings.get(self.cycle.number, self.binding)
        own, late = self.cycle.steps, self.binding.steps if self.binding is not None else []
        step = late[-1] if len(late) > self._seen_binding else own[-1] if len(own) > self._seen else None
        self._seen, self._seen_binding = len(own), len(late)
        point, plugin = (step.point.value, step.plugin) if step is not None else ("", "")
        for access in self._log.take():
            if access.what == CLONED:
                self._clones[access.clone] = _purpose(step, self.binding is not None)
            clone = self._clones.get(access.clone, OWN)
            self.accesses.append(StateAccess(access.what, access.key, point, plugin, sim.position, clone))

    @property
    def values(self) -> dict[str, Any]:
        """The current state: the binding cycle's after that has begun."""
        state = self.cycle.state if self.binding is None else self.binding.state
        return state.values


def _purpose(step: PluginStep | None, binds: bool) -> str:
    if binds:
        return BINDING
    return DRY_RUN if step is not None and step.point is Point.POST_FILTER else NOMINATED
