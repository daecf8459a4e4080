"""Runs a timeline: applies its operations to a Simulation in order, and compares the world after each."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from scheduler_core.apimachinery.objects.times import parse_time
from scheduler_core.apiserver.faults import Fault
from scheduler_core.apiserver.kinds import kind_of
from scheduler_core.base.clock.agenda import MILLISECOND, SECOND
from scheduler_core.base.releases import OLDEST, Release
from scheduler_core.base.trace.records import Record
from scheduler_core.scheduler.config.cluster import ClusterSettings
from scheduler_core.scheduler.config.gates import gates_of, resolve
from scheduler_core.scheduler.config.load import load_configuration
from scheduler_core.scheduler.config.settings import WorldSettings
from scheduler_core.scheduler.core.actions import AdvanceCycle
from scheduler_core.scheduler.core.algorithm.post_filter import fit_error
from scheduler_core.scheduler.core.algorithm.schedule_pod import IN_ALGORITHM
from scheduler_core.scheduler.core.cycles.phases import Phase
from scheduler_core.scheduler.core.cycles.scheduling_cycle import SchedulingCycle
from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.scheduler.core.steps import permit, scheduling
from scheduler_core.scheduler.queue.types import QueuedPod
from scheduler_core.testing.conformance.timelines import elections, oracle
from scheduler_core.testing.conformance.timelines.compare import difference
from scheduler_core.testing.conformance.timelines.observe import Observer, Shown
from scheduler_core.testing.differences import Difference
from scheduler_core.world.commands import DEFAULT_SCHEDULER_NAME
from scheduler_core.world.simulation import Simulation

Op = Mapping[str, Any]

MICROSECOND = 1_000
START = parse_time("2000-01-01T00:00:00Z")


def run_timeline(timeline: Mapping[str, Any], release: Release = OLDEST) -> Difference | None:
    """Run a timeline up to its first difference."""
    if _is_election(timeline):
        return elections.run_election(timeline)
    with oracle.oracle():
        return Run(timeline, release).difference()


def unknown_operation(timeline: Mapping[str, Any]) -> str:
    """Return the operation of a timeline that is not modeled; "" if the timeline can run."""
    known = elections.OPERATIONS if _is_election(timeline) else _OPERATIONS
    strange = next((step["op"] for step in timeline["steps"] if step["op"] not in known), "")
    return strange and f"operation {strange}"


def _is_election(timeline: Mapping[str, Any]) -> bool:
    """Return whether the timeline is about candidates for a Lease instead of pods."""
    return any(step["op"] in elections.OWN_OPERATIONS for step in timeline["steps"])


def settings_of(timeline: Mapping[str, Any], release: Release = OLDEST) -> WorldSettings:
    """Return the settings of a timeline, with its gates and options."""
    free = {name for name, gate in gates_of(release).items() if not gate.locked}
    wanted = timeline.get("featureGates") or {}
    gates = resolve({name: on for name, on in wanted.items() if name in free}, release).settings
    longest = (timeline.get("options") or {}).get("podMaxInUnschedulablePodsSeconds", 300)
    return quiet_settings(release).changed({"max_in_unschedulable": round(longest * SECOND), **gates})


def quiet_settings(release: Release) -> WorldSettings:
    """Return the settings of a world in which API calls take as long as in the corpus, and only the scheduler acts."""
    return WorldSettings(
        release=release,
        cycle_cost=0,
        bind_cost=10 * MICROSECOND,
        patch_cost=10 * MICROSECOND,
        evict_cost=37 * MICROSECOND,
        cluster=ClusterSettings(controllers=(), provisioners=(), run_kubelets=False),
        manual=True,
    )


class Run:
    """The world of one timeline. `unticked`: the operations after which no time passes."""

    unticked: ClassVar[tuple[str, ...]] = ("advance", "failNextBind")

    def __init__(self, timeline: Mapping[str, Any], release: Release, settings: WorldSettings | None = None) -> None:
        self.steps: Sequence[Op] = timeline["steps"]
        self.sim = Simulation(settings=settings or settings_of(timeline, release))
        self.sim.store.epoch = START
        configuration = load_configuration(timeline.get("config"), self.sim.settings.features)
        self.sim.start_scheduler(DEFAULT_SCHEDULER_NAME, configuration)
        self.scheduler: Scheduler = self.sim.schedulers[0]
        self.scheduler.calls.limit = 1
        self.observer: Observer = Observer(self.sim, release != OLDEST)
        self.records: list[Record] = []
        self.forgets_faults = "random" in timeline["name"]
        self.result: Shown | None = None

    def difference(self) -> Difference | None:
        for number, step in enumerate(self.steps):
            self.records, self.result = [], None
            self._apply(step)
            if step["op"] not in self.unticked:
                self._pass(MILLISECOND)
            if self.forgets_faults and step["op"] == "scheduleOne":
                self.sim.faults.clear()
            first = difference(number, step["op"], self.expected(step), self.look(step))
            if first is not None:
                return first
        return None

    def expected(self, step: Op) -> Op:
        """Return the expectation of a step."""
        expected: Op = step["expect"]
        return expected

    def look(self, step: Op) -> Shown:
        """Return the observed state after a step."""
        return self.observer.look(self.records, self.result)

    def _apply(self, op: Op) -> None:
        _OPERATIONS[op["op"]](self, op)

    def _change(self, happen: Callable[[], Any]) -> None:
        def once() -> None:
            happen()

        self.records += self.sim.change(once)

    def _pass(self, time: int) -> None:
        end = self.sim.now + time
        while self.sim.due(end):
            self.records += self.sim.advance()
        self.sim.agenda.now = end

    # Operations on objects and time

    def create(self, op: Op) -> None:
        self._change(
            lambda: self.sim.store.create(_with_scheduler_name(op["object"]), _kind(op["object"]), self.sim.now)
        )

    def update(self, op: Op) -> None:
        manifest = self._with_emptied_maps(_with_scheduler_name(op["object"]))
        self._change(lambda: self.sim.store.overwrite(manifest, _kind(manifest)))

    def _with_emptied_maps(self, manifest: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the manifest with an empty map if all annotations were removed; the corpus' JSON omits such a map."""
        metadata = manifest["metadata"]
        old = self.sim.store.get(_kind(manifest), metadata.get("namespace") or "", metadata["name"])
        if old is None or "annotations" in metadata or "annotations" not in old["metadata"]:
            return manifest
        return {**manifest, "metadata": {**metadata, "annotations": {}}}

    def delete(self, op: Op) -> None:
        place = (op["kind"], op.get("namespace") or "", op["name"])
        faults = dict(self.sim.faults)  # the corpus' API server knows them by the pod's name alone
        if op.get("graceful"):
            self._change(lambda: self.sim.api.delete(place))
        else:
            self._change(lambda: self.sim.store.remove(*place))
        self.sim.faults.update(faults)

    def advance(self, op: Op) -> None:
        self._pass(round(op["seconds"] * SECOND))

    def fail_next_bind(self, op: Op) -> None:
        fault = Fault("bind", op["pod"], 500, after_write=bool(op.get("afterBound")), message=op["message"])
        self.sim.faults[fault.key] = fault

    def permit_allow(self, op: Op) -> None:
        for waiting in self.scheduler.pods_waiting():
            if waiting.pod.key == op["pod"] and oracle.NAME in waiting.waiting:
                self._change(partial(permit.allow, self.scheduler, waiting, oracle.NAME))

    def permit_reject(self, op: Op) -> None:
        for waiting in self.scheduler.pods_waiting():
            if waiting.pod.key == op["pod"]:
                self._change(partial(permit.reject, self.scheduler, waiting, oracle.NAME, "oracle rejected"))

    # One scheduling cycle

    def schedule_one(self, op: Op) -> None:
        entry = self._pop() if self.scheduler.queue.ready else None
        if entry is None:
            self.result = {"popped": None}
        else:
            self.result = {"popped": entry.key, "attempt": entry.attempts}
            self._schedule(entry, op.get("during") or {})

    def _pop(self) -> QueuedPod | None:
        popped: list[QueuedPod | None] = []
        self._change(lambda: popped.append(self.scheduler.queue.pop(self.sim.now)))
        return popped[0]

    def _schedule(self, entry: QueuedPod, during: Op) -> None:
        admitted: list[bool] = []
        self._change(lambda: admitted.append(scheduling.admit(self.scheduler, entry)))
        if not admitted[0]:
            return
        assert self.result is not None
        self.result["profile"] = entry.pod.spec.scheduler_name
        if during.get("point") == "beforeSnapshot":
            self._during(during)
        self._change(lambda: scheduling.open_cycle(self.scheduler, entry))
        cycle = self.scheduler.cycle
        assert cycle is not None
        while cycle.phase in IN_ALGORITHM and cycle.phase is not Phase.POST_FILTER:
            self.records += self.sim.advance()
        self.result |= _outcome(cycle)
        if during.get("point") == "afterFilter":
            self._during(during)

    def _during(self, during: Op) -> None:
        """Apply operations, and let the other threads react at once, before the cycle continues."""
        agenda, turn = self.sim.agenda, AdvanceCycle(self.scheduler.name)
        waits = any(entry.action == turn for entry in agenda.entries())
        agenda.discard(lambda action: action == turn)
        for op in during["ops"]:
            self._apply(op)
            self._pass(0)
        if waits:
            self.scheduler.push_cycle(0)


_OPERATIONS: dict[str, Callable[[Run, Op], None]] = {
    "create": Run.create,
    "update": Run.update,
    "delete": Run.delete,
    "advance": Run.advance,
    "scheduleOne": lambda run, op: run.schedule_one(op),  # of an EntityRun its own
    "failNextBind": Run.fail_next_bind,
    "permitAllow": Run.permit_allow,
    "permitReject": Run.permit_reject,
}


def _kind(manifest: Mapping[str, Any]) -> str:
    kind = kind_of(manifest)
    assert kind is not None, manifest.get("kind")
    return kind.key


def _with_scheduler_name(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the object with an explicit "no scheduler" if it names none. Nothing is defaulted in the corpus."""
    if manifest["kind"] != "Pod" or manifest["spec"].get("schedulerName"):
        return manifest
    return {**manifest, "spec": {**manifest["spec"], "schedulerName": "(none)"}}


def _outcome(cycle: SchedulingCycle) -> Shown:
    """Return the result of SchedulePod."""
    if cycle.chosen is None:
        return {"error": fit_error(cycle) if cycle.phase is Phase.POST_FILTER else cycle.message}
    assert cycle.feasible is not None
    feasible = len(cycle.feasible)
    evaluated = feasible + len(cycle.node_to_status.refused)
    return {"node": cycle.chosen, "evaluatedNodes": evaluated, "feasibleNodes": feasible}
