"""The benchmark's driver: SchedulePod and AssumePod over the workloads of benchmarks/, past the queue on purpose.

It measures nothing itself (the core knows no clock): `attempt` is what a caller times, `settle` what follows it.
Level A of benchmarks/README.md says what belongs to which.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_core.apimachinery.objects import MutableManifest, Pod
from scheduler_core.base.releases import OLDEST
from scheduler_core.base.trace.journal import Attempt
from scheduler_core.base.trace.kinds import AttemptEnded, AttemptStarted, Facts
from scheduler_core.base.trace.records import LazyFacts, Recorder
from scheduler_core.scheduler.core.algorithm.schedule_pod import IN_ALGORITHM, advance, begin
from scheduler_core.scheduler.core.cycles.phases import Phase
from scheduler_core.scheduler.core.cycles.scheduling_cycle import SchedulingCycle
from scheduler_core.scheduler.framework import Plugin, PluginStep, Point
from scheduler_core.scheduler.framework.runtime.framework import Trial, record_step
from scheduler_core.scheduler.framework.runtime.points import run_pre_bind, run_reserve
from scheduler_core.scheduler.queue.types import QueuedPod
from scheduler_core.world.commands import ApplyObjects, SetSettings
from scheduler_core.world.simulation import Simulation

FEWER_PODS = 300  # measured where all of 5,000 nodes are scored
FULL_PERCENTAGE = 100
LARGE = 5000


@dataclass(frozen=True, slots=True)
class Workload:
    """One entry of workloads.json. `kind` is schedule, unschedulable or preemption."""

    name: str
    size: int
    kind: str
    data: Mapping[str, Any]

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Workload:
        return cls(str(data["name"]), int(data["size"]), str(data["kind"]), data)

    def objects(self) -> Iterator[MutableManifest]:
        """Namespaces, nodes, what else there is of a cluster, and the pods that are there before."""
        for name in self.data["namespaces"]:
            yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        nodes = self.data["nodes"]
        zones = nodes["zones"]
        for i in range(nodes["count"]):
            yield _fill_template(nodes["template"], i=i, zone=zones[i % len(zones)])
        for group in self.data.get("others") or ():
            yield from (_fill_template(group["template"], i=i) for i in range(group["count"]))
        number = 0
        for group in self.data["initPods"]:
            for j in range(group["count"]):
                node = group["stride"] * (j % group["modulus"])
                yield _fill_template(group["template"], i=number, node=f"node-{node}")
                number += 1

    def measured(self) -> list[MutableManifest]:
        """The pods to be scheduled, in order."""
        pods = self.data["measuredPods"]
        templates = pods["templates"]
        return [_fill_template(templates[k % len(templates)], i=k) for k in range(pods["count"])]

    def with_measured(self) -> Iterator[MutableManifest]:
        """Return the objects that accompany measured pods: claims for devices."""
        pods = self.data["measuredPods"]
        return (_fill_template(each, i=k) for k in range(pods["count"]) for each in pods.get("with") or ())

    @property
    def of_devices(self) -> bool:
        return bool(self.data.get("others"))


def _fill_template(template: Any, **values: object) -> Any:
    """A copy of a template with its {placeholders} filled in."""
    text = json.dumps(template)
    for name, value in values.items():
        text = text.replace("{" + name + "}", str(value))
    return json.loads(text)


class Bench:
    """A workload's cluster, ready to schedule its pods one after another.

    `traced` writes what the product writes: a record for every step, a journal entry for every attempt.
    """

    def __init__(
        self, workload: Workload, percentage: int, *, post_filter: bool, traced: bool, release: str = OLDEST
    ) -> None:
        self.simulation = Simulation()
        self.simulation.apply(SetSettings({"release": release}))
        self._reserves = workload.of_devices
        self._kind = workload.kind
        self._post_filter = post_filter
        self._traced = traced
        self._number = 0
        self._recorder = Recorder()
        pods = workload.measured()
        self.simulation.apply(ApplyObjects(tuple(workload.objects())))
        self.simulation.apply(ApplyObjects((*workload.with_measured(), *pods)))
        self._scheduler = self.simulation.schedulers[0]
        self._scheduler.algorithm_state.percentage = percentage
        self._scheduler.algorithm_state.draw_preemption = self.simulation.draw
        metadata = [pod["metadata"] for pod in pods]
        self.pods = [self._pod(f"{m.get('namespace') or 'default'}/{m['name']}") for m in metadata]
        if percentage == FULL_PERCENTAGE and workload.size >= LARGE:
            self.pods = self.pods[:FEWER_PODS]

    def _pod(self, key: str) -> Pod:
        pod = self.simulation.store.pod_at(key)
        assert pod is not None
        return pod

    def attempt(self, pod: Pod) -> SchedulingCycle:
        """SchedulePod, and PostFilter where the workload has it: from the snapshot to the choice or the refusal."""
        return self._trace_attempt(pod) if self._traced else self._run(pod, None)

    def restart(self) -> None:
        """Forgets what an attempt to warm up has moved."""
        self._scheduler.algorithm_state.next_start = 0

    def settle(self, cycle: SchedulingCycle) -> None:
        """Apply the result of an attempt: assume the pod; for a preemptor, remove its victims first."""
        cache = self._scheduler.cache
        if cycle.chosen is not None:
            cache.assume(cycle.pod.bound_to(cycle.chosen))
            if self._reserves:  # its claims are allocated and written
                self._at(Point.RESERVE, run_reserve, cycle)
                self._at(Point.PRE_BIND, run_pre_bind, cycle)
        elif cycle.preemption is not None and cycle.nomination:
            for victim in cycle.preemption.victims:
                cache.remove_pod(victim)
            cache.assume(cycle.pod.bound_to(cycle.nomination))

    def _at(self, point: Point, run: Callable[[Plugin, Trial], PluginStep], cycle: SchedulingCycle) -> None:
        trial = Trial(cycle.pod, cycle.nodes, cycle.state, cycle.node)
        for plugin in self._scheduler.profiles[cycle.profile].at(point):
            step = run(plugin, trial)
            if not step.status.ok:
                raise ValueError(f"{cycle.pod.key}: {point.value}: {step.status.message}")

    def is_as_expected(self, cycle: SchedulingCycle) -> bool:
        """Return whether the attempt has the result that its workload measures."""
        if self._kind == "schedule":
            return cycle.chosen is not None
        if self._kind == "preemption":
            return cycle.preemption is not None and bool(cycle.nomination)
        return cycle.chosen is None and cycle.preemption is None

    def _run(self, pod: Pod, did: Callable[[SchedulingCycle], None] | None) -> SchedulingCycle:
        scheduler = self._scheduler
        framework = scheduler.profiles[pod.spec.scheduler_name]
        scheduler.snapshot = scheduler.cache.update_snapshot(scheduler.snapshot)
        self._number += 1
        cycle = SchedulingCycle(
            self._number, scheduler.name, framework.name, QueuedPod(pod, 0, 0), scheduler.snapshot, 0
        )
        begin(cycle, framework, scheduler.algorithm_state)
        while cycle.phase in IN_ALGORITHM and (self._post_filter or cycle.phase is not Phase.POST_FILTER):
            if advance(cycle, framework, scheduler.algorithm_state) is not None and did is not None:
                did(cycle)
        return cycle

    def _trace_attempt(self, pod: Pod) -> SchedulingCycle:
        """Every step is a transition with its record, the first of a point with one more."""
        world, name, key = self.simulation, self._scheduler.name, pod.key
        drain, first = self._recorder.drain, world.position
        trace = _Trace(self._recorder, world.now)
        span = trace.record(AttemptStarted(self._number, key, pod.spec.scheduler_name, 0, 0), name)

        def did(cycle: SchedulingCycle) -> None:
            world.position += 1
            cycle.span = span
            record_step(trace, name, cycle, cycle.steps[-1], cycle.nodes)
            world.last = tuple(drain())

        cycle = self._run(pod, did)
        ended = AttemptEnded(cycle.number, key, cycle.outcome, cycle.chosen or "", cycle.message, 0, 0, cycle.draw)
        trace.record(ended, name, span)
        world.last = tuple(drain())
        world.journal.attempt(self._summary(cycle, first))
        return cycle

    def _summary(self, cycle: SchedulingCycle, first: int) -> Attempt:
        world, search = self.simulation, cycle.search
        return Attempt(
            cycle.number,
            cycle.pod.key,
            self._scheduler.name,
            cycle.profile,
            cycle.started,
            world.now,
            first,
            world.position,
            cycle.outcome,
            cycle.chosen or "",
            cycle.message,
            0 if search is None else search.processed,
            0 if cycle.feasible is None else len(cycle.feasible),
            0 if cycle.tied_rows is None else len(cycle.tied_rows),
            (),
        )


class _Trace:
    """Writes records of one moment."""

    __slots__ = ("_now", "_recorder")

    def __init__(self, recorder: Recorder, now: int) -> None:
        self._recorder = recorder
        self._now = now

    def record(self, facts: Facts | LazyFacts, scheduler: str = "", parent: int = 0) -> int:
        return self._recorder.write(self._now, facts, scheduler, parent)


def variants(kind: str) -> tuple[bool, ...]:
    """Return whether to run PostFilter, for each variant in which a kind is measured."""
    return {"schedule": (False,), "unschedulable": (False, True), "preemption": (True,)}[kind]
