"""Runs a scenario: one SchedulePod per attempt, with outcomes applied as in the corpus."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from scheduler_core.apimachinery.objects import Manifest, Pod
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.config import SchedulerConfiguration, load_configuration
from scheduler_core.scheduler.config.gates import resolve
from scheduler_core.scheduler.config.settings import WorldSettings
from scheduler_core.scheduler.core.algorithm.algorithm_state import AlgorithmState
from scheduler_core.scheduler.core.algorithm.schedule_pod import IN_ALGORITHM, advance, begin
from scheduler_core.scheduler.core.cycles.phases import Phase
from scheduler_core.scheduler.core.cycles.scheduling_cycle import SchedulingCycle
from scheduler_core.scheduler.extenders.extender import list_ignored_resources, without_ignored_resources
from scheduler_core.scheduler.framework.plugin import Failure, Point
from scheduler_core.scheduler.framework.runtime.filters import FilterRunner
from scheduler_core.scheduler.framework.runtime.framework import Framework, Trial
from scheduler_core.scheduler.framework.runtime.points import run_post_filter, run_pre_enqueue
from scheduler_core.scheduler.framework.status import Status
from scheduler_core.scheduler.plugins.defaultpreemption import DefaultPreemption
from scheduler_core.scheduler.plugins.registry import registry_of
from scheduler_core.scheduler.queue.types import QueuedPod
from scheduler_core.testing.conformance.corpus import compare, extenders, reading
from scheduler_core.testing.conformance.corpus.devices import Claims, has_devices, node_allocations, order_dependent
from scheduler_core.testing.conformance.corpus.large import Watch, run_large
from scheduler_core.testing.conformance.corpus.observe import (
    Observed,
    observe,
    observe_all,
    preemption,
    status_json,
    without_empty,
)
from scheduler_core.testing.conformance.corpus.world import CorpusWorld, bind_claims, release_claims
from scheduler_core.testing.conformance.timelines import is_of_entities, run_entities, run_timeline
from scheduler_core.testing.conformance.worlds import NotSupported, run_world
from scheduler_core.testing.differences import Difference, judge_object


class Verdict(enum.StrEnum):
    PASSES = "passes"
    DIFFERS = "differs"
    NOT_SUPPORTED = "not supported yet"


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one scenario. `reason` names an unsupported feature, or the error that stopped the run."""

    scenario: reading.Scenario
    verdict: Verdict
    difference: Difference | None = None
    reason: str = ""

    @property
    def text(self) -> str:
        return self.reason if self.difference is None else str(self.difference)


def judge(scenario: reading.Scenario) -> Result:
    """Run a scenario; an exception counts as a difference, so that one scenario never hides the others."""
    try:
        return run_scenario(scenario)
    except Exception as problem:
        return Result(scenario, Verdict.DIFFERS, reason=f"stopped with {type(problem).__name__}: {problem}")


def run_scenario(scenario: reading.Scenario, watch: Watch | None = None) -> Result:
    """Run a scenario up to its first difference. `watch` receives each finished cycle before its outcome is applied."""
    reason = reading.not_supported(scenario)
    if reason:
        return Result(scenario, Verdict.NOT_SUPPORTED, reason=reason)
    try:
        difference = _find_difference(scenario, watch)
    except NotSupported as missing:
        return Result(scenario, Verdict.NOT_SUPPORTED, reason=str(missing))
    return Result(scenario, Verdict.PASSES if difference is None else Verdict.DIFFERS, difference)


def _find_difference(scenario: reading.Scenario, watch: Watch | None) -> Difference | None:
    data, release = scenario.data, scenario.release
    if reading.is_world(scenario):
        return run_world(data)
    if reading.is_object(scenario):
        return judge_object(data)
    if "steps" in data:
        return run_entities(data, release) if is_of_entities(data) else run_timeline(data, release)
    if "objectsFile" in data:
        return run_large(scenario, watch)
    settings = WorldSettings(release=release)
    settings = settings.changed(resolve(data.get("featureGates") or data.get("gates") or {}, release).settings)
    configuration = load_configuration(data.get("config"), settings.features)
    return Run(scenario, configuration, settings, watch).difference()


class Run:
    """The world of one scenario: a cache, the snapshot, one framework per profile."""

    def __init__(
        self,
        scenario: reading.Scenario,
        configuration: SchedulerConfiguration,
        settings: WorldSettings,
        watch: Watch | None,
    ) -> None:
        self.scenario = scenario
        self.watch = watch
        # Where node sampling is not the subject, the corpus shows every node; so the search never stops early.
        self.sampled = any("sampling" in attempt for attempt in scenario.attempts)
        self.world = CorpusWorld(scenario.data["objects"], scenario.data["pending"], settings)
        self.extenders = extenders.ScriptedExtenders(scenario, configuration.manifest)
        ignored = list_ignored_resources(configuration.manifest)
        self.frameworks = {
            profile.scheduler_name: Framework(
                without_ignored_resources(reading.with_all_candidates(profile), ignored),
                registry_of(settings.features),
                self.world,
            )
            for profile in configuration.profiles
        }
        self.algorithm_state = AlgorithmState(
            configuration.percentage_of_nodes_to_score,
            extenders=self.extenders.extenders,
            nominator=self.world.nominator,
        )
        self.of_devices = has_devices(scenario.data)
        self.claims = Claims(self.world)
        self.world.note_timestamps()
        self.world.device_conditions = scenario.data.get("deviceConditions") or {}
        self.world.nominate_from_the_start(
            key
            for key, pod in self.world.pods.items()
            if (framework := self.frameworks.get(pod.spec.scheduler_name)) and _pre_enqueue(pod, framework)
        )

    def difference(self) -> Difference | None:
        order: list[str] | None = None
        for number, expected in enumerate(self.scenario.attempts, 1):
            order = expected.get("nodeOrder", order)
            framework = self.frameworks.get(expected["profile"])
            received = self.attempt(self.world.pods[expected["pod"]], framework, expected)
            wanted = compare.comparable(expected)
            # The corpus repeats the order only where it changed.
            if order is not None and "nodeOrder" in received:
                wanted["nodeOrder"] = order
            untold = ["nodeOrder", "message"]
            if wanted.get("errorKind") == "Error":
                untold += compare.LEFT_OUT_IN_ERRORS
            for field in untold:
                if field not in wanted:
                    received.pop(field, None)
            difference = compare.first_difference(number, expected["pod"], wanted, without_empty(received))
            if difference is not None:
                return difference
        return None

    def attempt(self, pod: Pod, framework: Framework | None, expected: Manifest) -> Observed:
        known: Observed = {"profile": pod.spec.scheduler_name}
        if framework is None:
            kept = {"nominatedNodeAfter": pod.nominated_node_name}
            return {**known, **kept, "errorKind": "NoProfile", "scored": False}
        refused = _pre_enqueue(pod, framework)
        if refused is not None:
            kept = {"nominatedNodeAfter": pod.nominated_node_name}
            return {**known, **kept, "preEnqueue": status_json(refused), "scored": False}
        snapshot = self.world.take_snapshot()
        cycle, sampling, plugins = self._schedule_pod(pod, framework, snapshot, expected)
        if self.watch is not None:
            self.watch(framework, cycle)
        ranks = framework.has(Point.SCORE) or bool(self.extenders)
        seen = {**known, **observe(cycle, ranks=ranks, sampled=self.sampled and not self.extenders)}
        if self.of_devices and not cycle.pre_filter_status.ok:
            seen["preFilter"]["skippedFilters"] = []  # as kube's CycleState has them then
        if len(snapshot):
            seen["nodeOrder"] = list(snapshot.names)
        if self.sampled and sampling is not None:
            seen["sampling"] = sampling
            if cycle.chosen is not None and not self.extenders:
                seen["evaluatedNodes"] = _count_evaluated(cycle)
        else:
            seen.pop("feasibleNodes", None)
        by_nomination = cycle.search is not None and cycle.search.own_nomination
        cut_short = seen.get("errorKind") == "Error" and "filter" in seen
        if self.extenders and cycle.search is not None:
            seen |= {**extenders.observe_extended(cycle, plugins), "extenders": self.extenders.calls(cycle)}
            if sampling is not None and not cycle.search.own_nomination:
                found = plugins.feasible
                sampling["feasibleOrder"] = sorted(found) if "unordered" in sampling else found
                seen["sampling"] = sampling
            if cycle.scores is not None and cycle.scores.total is not None:
                seen["bestTotal"] = int(cycle.scores.total.max())
        elif (by_nomination or cut_short) and not self.sampled:
            runner = FilterRunner(framework, self.world.nominator)
            seen["filter"] = observe_all(cycle, runner)
            if cut_short:
                seen["feasible"] = [node for node, verdict in seen["filter"].items() if verdict is None]
        if seen.get("errorKind") == "FitError" and seen.get("preemption") is None:
            seen["preemption"] = self._try_preemption(cycle, framework)
        if cycle.chosen is not None:
            seen["volumeEffects"] = bind_claims(self.world, framework, cycle)
        if self.extenders and cycle.chosen is not None:
            seen["binding"] = self.extenders.bind(cycle)
            seen["extenders"] = self.extenders.calls(cycle)
            seen["message"] = seen["binding"].get("error")
        if self.extenders and seen.get("preemption"):
            extenders.observe_extended_preemption(cycle, seen)
        if self.of_devices:
            seen |= self._devices(framework, cycle, seen)
        unbound = bool(seen.get("bindError")) or bool(seen.get("binding", {}).get("error"))
        released = self._apply(pod, cycle, unbound)
        seen["claimsReleased"] = self.claims.released(released)
        live = self.world.pods[pod.key]
        return {**seen, "nominatedNodeAfter": live.nominated_node_name}

    def _try_preemption(self, cycle: SchedulingCycle, framework: Framework) -> Observed | None:
        """Return the result of DefaultPreemption, which the corpus has even if an earlier PostFilter plugin failed."""
        plugin = next((p for p in framework.at(Point.POST_FILTER) if isinstance(p, DefaultPreemption)), None)
        if plugin is None:
            return None
        runner, nominator = FilterRunner(framework, self.world.nominator), self.world.nominator
        failure = Failure(
            cycle.node_to_status.codes(len(cycle.nodes)),
            runner,
            nominator.on,
            nominator.nodes,
            self.algorithm_state.draw_preemption,
        )
        step, _ = run_post_filter(plugin, Trial(cycle.pod, cycle.nodes, cycle.state), failure)
        return preemption(cycle, step.evidence)

    def _devices(self, framework: Framework, cycle: SchedulingCycle, seen: Observed) -> Observed:
        """Reserve and write the claims of a scheduled pod, or return the deallocation for a pod that fits no node."""
        out: Observed = {"orderDependent": order_dependent(framework, cycle, seen.get("filter") or {})}
        if cycle.chosen is not None or seen.get("errorKind") == "Error":
            passing = [node for node, status in seen.get("filter", {}).items() if status is None]
            out["nodeAllocations"] = node_allocations(cycle, passing)
        if cycle.chosen is not None:
            out |= self.claims.bind(framework, cycle)
            if out["bindError"]:
                out["message"] = out["bindError"]["reasons"][0]
        elif seen.get("errorKind") == "FitError":
            out |= self.claims.after_post_filter(cycle)
        return out

    def _apply(self, pod: Pod, cycle: SchedulingCycle, failed: bool = False) -> Mapping[str, Manifest | None]:
        """Apply the outcome of a cycle and return the claims of the preempted pods."""
        released: Mapping[str, Manifest | None] = {}
        if failed:
            self.world.fail(pod, "")
            return released
        if cycle.chosen is not None:
            self.world.bind_pod(pod, cycle.chosen)
            return released
        if cycle.preemption is not None:
            self.world.preempt(cycle.preemption)
            released = release_claims(self.world, cycle.preemption.victims)
        self.world.fail(pod, cycle.nomination)
        return released

    def _schedule_pod(
        self, pod: Pod, framework: Framework, snapshot: NodeTable, expected: Manifest
    ) -> tuple[SchedulingCycle, Observed | None, extenders.AfterPlugins]:
        cycle = SchedulingCycle(0, "corpus", framework.name, QueuedPod(pod, 0, 0), snapshot, 0)
        start = self.algorithm_state.next_start
        chosen = expected.get("chosen")  # among tied nodes; 0 where the corpus chose another node
        self.algorithm_state.draw = lambda n: cycle.tied.index(chosen) if chosen in cycle.tied else 0
        begin(cycle, framework, self.algorithm_state)
        plugins = extenders.AfterPlugins.of(cycle)
        while cycle.phase in IN_ALGORITHM:
            if not self.sampled and cycle.search is not None and not cycle.search.own_nomination:
                cycle.search.wanted = len(cycle.search.order)
            if self.of_devices and cycle.phase is Phase.POST_FILTER and not cycle.index:
                self._try_preemption(cycle, framework)  # the recording tried every node first, in the same state
            before, feasible = cycle.phase, cycle.feasible
            advance(cycle, framework, self.algorithm_state)
            asks = Phase.EXTENDER_FILTER
            if cycle.feasible is not feasible and (before is not asks or cycle.phase is asks):
                plugins = extenders.AfterPlugins.of(cycle)
            self.extenders.answer(cycle.extension)
        sampling = _sampling(cycle, start, self.algorithm_state.next_start, expected.get("sampling") or {})
        if sampling is not None and not framework.has(Point.FILTER):
            sampling["filterCalls"] = 0
        if not self.sampled:
            self.algorithm_state.next_start = 0
        return cycle, sampling, plugins


def _count_evaluated(cycle: SchedulingCycle) -> int:
    """Feasible nodes and nodes with a status of their own."""
    assert cycle.feasible is not None
    return len(cycle.feasible) + len(cycle.node_to_status.refused)


def _pre_enqueue(pod: Pod, framework: Framework) -> Status | None:
    for plugin in framework.at(Point.PRE_ENQUEUE):
        step = run_pre_enqueue(plugin, pod)
        if not step.status.ok:
            return step.status
    return None


def _sampling(cycle: SchedulingCycle, start: int, after: int, expected: Manifest) -> Observed | None:
    search = cycle.search
    if search is None:
        return None
    if search.own_nomination:
        return {
            "startIndex": start,
            "numNodesToFind": 1,
            "processedNodes": 0,
            "filterCalls": 0,
            "feasibleOrder": [cycle.nodes.names[int(search.order[0])]],
            "byNominatedNode": True,
            "nextStartIndex": after,
        }
    names = cycle.nodes.names
    feasible = [names[int(row)] for row in (cycle.feasible if cycle.feasible is not None else ())]
    out: Observed = {
        "startIndex": start,
        "numNodesToFind": search.wanted,
        "processedNodes": search.processed,
        "filterCalls": search.seen,
        "feasibleOrder": feasible,
        "nextStartIndex": after,
    }
    if search.beyond is not None:
        out["beyond"] = names[search.beyond]
    if expected.get("unordered"):  # kube takes the nodes of a PreFilter result in the random order of a Go map
        out |= {"feasibleOrder": sorted(feasible), "unordered": True}
    return out
