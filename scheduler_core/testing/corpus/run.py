"""Running a scenario: one SchedulePod per attempt, outcomes applied as the corpus applies them."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_core.cluster.cache import Cache
from scheduler_core.cluster.table import NodeTable
from scheduler_core.config import SchedulerConfiguration, load_configuration
from scheduler_core.framework.plugin import Point
from scheduler_core.framework.runtime import Framework
from scheduler_core.framework.status import SUCCESS, Status
from scheduler_core.objects.node import Node
from scheduler_core.objects.pod import Pod
from scheduler_core.plugins import REGISTRY
from scheduler_core.queue.types import QueuedPod
from scheduler_core.scheduler.algorithm import IN_ALGORITHM, Sampling, advance, begin
from scheduler_core.scheduler.cycle import SchedulingCycle
from scheduler_core.testing.corpus.compare import (
    UNTOLD_IN_ERRORS,
    Difference,
    comparable,
    first_difference,
    without_empty,
)
from scheduler_core.testing.corpus.observe import Observed, observe, status_json
from scheduler_core.testing.corpus.reading import Scenario
from scheduler_core.testing.corpus.support import format_not_supported, not_supported

Manifest = Mapping[str, Any]


class Verdict(enum.StrEnum):
    PASSES = "passes"
    DIFFERS = "differs"
    NOT_SUPPORTED = "not supported yet"


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one scenario; `reason` says what is not supported yet, or what stopped the run."""

    scenario: Scenario
    verdict: Verdict
    difference: Difference | None = None
    reason: str = ""

    @property
    def text(self) -> str:
        return self.reason if self.difference is None else str(self.difference)


def judge(scenario: Scenario) -> Result:
    """As run_scenario, but what can't be run at all differs too, so that one scenario never hides the others."""
    try:
        return run_scenario(scenario)
    except Exception as problem:
        return Result(scenario, Verdict.DIFFERS, reason=f"stopped with {type(problem).__name__}: {problem}")


def run_scenario(scenario: Scenario) -> Result:
    """Runs a scenario up to its first difference."""
    reason = format_not_supported(scenario)
    if reason:
        return Result(scenario, Verdict.NOT_SUPPORTED, reason=reason)
    configuration = load_configuration(scenario.data.get("config"))
    reason = not_supported(scenario, configuration)
    if reason:
        return Result(scenario, Verdict.NOT_SUPPORTED, reason=reason)
    difference = _Run(scenario, configuration).difference()
    return Result(scenario, Verdict.PASSES if difference is None else Verdict.DIFFERS, difference)


class _Listers:
    """The scenario's objects as plugins may ask for them; nothing is bound through here."""

    def __init__(self, objects: list[Manifest]) -> None:
        self._objects = objects

    def get(self, kind: str, namespace: str, name: str) -> Manifest | None:
        return next((o for o in self.list(kind) if _key(o) == (namespace, name)), None)

    def list(self, kind: str) -> list[Manifest]:
        return sorted((o for o in self._objects if o.get("kind") == kind), key=_key)

    def patch(self, kind: str, namespace: str, name: str, patch: Mapping[str, Any]) -> Status:
        return SUCCESS

    def bind(self, pod: Pod, node_name: str) -> Status:
        return SUCCESS


def _key(manifest: Manifest) -> tuple[str, str]:
    metadata = manifest.get("metadata") or {}
    return metadata.get("namespace", ""), metadata.get("name", "")


class _Run:
    """The world of one scenario: a cache, the snapshot, one framework per profile."""

    def __init__(self, scenario: Scenario, configuration: SchedulerConfiguration) -> None:
        self.scenario = scenario
        # Where node sampling is not the subject, the corpus shows every node; so the search never stops early.
        self.sampled = any("sampling" in attempt for attempt in scenario.attempts)
        self.pending = {pod.key: pod for pod in map(Pod.from_manifest, scenario.data["pending"])}
        self.bound = 0
        handle = _Listers(list(scenario.data["objects"]))
        self.frameworks = {p.scheduler_name: Framework(p, REGISTRY, handle) for p in configuration.profiles}
        self.sampling = Sampling(configuration.percentage_of_nodes_to_score)
        self.cache = Cache()
        self.snapshot = NodeTable()
        for manifest in scenario.data["objects"]:
            if manifest["kind"] == "Node":
                self.cache.add_node(Node.from_manifest(manifest))
            elif manifest["kind"] == "Pod":
                self.cache.add_pod(Pod.from_manifest(manifest))

    def difference(self) -> Difference | None:
        order: list[str] | None = None
        for number, expected in enumerate(self.scenario.attempts, 1):
            order = expected.get("nodeOrder", order)
            framework = self.frameworks.get(expected["profile"])
            received = self._attempt(self.pending[expected["pod"]], framework, expected)
            wanted = comparable(expected, message=framework is None or _message_is_ours(framework))
            # The corpus repeats the order only where it changed.
            if order is not None and "nodeOrder" in received:
                wanted["nodeOrder"] = order
            untold = ["nodeOrder", "message"]
            if wanted.get("errorKind") == "Error":
                untold += UNTOLD_IN_ERRORS
            for field in untold:
                if field not in wanted:
                    received.pop(field, None)
            found = first_difference(number, expected["pod"], without_empty(wanted), without_empty(received))
            if found is not None:
                return found
        return None

    def _attempt(self, pod: Pod, framework: Framework | None, expected: Manifest) -> Observed:
        known: Observed = {"profile": pod.spec.scheduler_name, "nominatedNodeAfter": pod.nominated_node_name}
        if framework is None:
            return {**known, "errorKind": "NoProfile", "scored": False}
        refused = _pre_enqueue(pod, framework)
        if refused is not None:
            return {**known, "preEnqueue": status_json(refused), "scored": False}
        self.snapshot = self.cache.update_snapshot(self.snapshot)
        cycle, sampling = self._schedule_pod(pod, framework, expected)
        seen = {**known, **observe(cycle, ranks=framework.has(Point.SCORE), sampled=self.sampled)}
        if len(self.snapshot):
            seen["nodeOrder"] = list(self.snapshot.names)
        if self.sampled and sampling is not None:
            seen["sampling"] = sampling
            if cycle.chosen is not None:
                seen["evaluatedNodes"] = sampling["processedNodes"]
        else:
            seen.pop("feasibleNodes", None)
        if cycle.chosen is not None:
            self._bind(pod, cycle.chosen)
        return seen

    def _schedule_pod(
        self, pod: Pod, framework: Framework, expected: Manifest
    ) -> tuple[SchedulingCycle, Observed | None]:
        cycle = SchedulingCycle(0, "corpus", framework.name, QueuedPod(pod, 0, 0), self.snapshot, 0)
        start = self.sampling.next_start
        self.sampling.draw = lambda n: _index(cycle.tied, expected.get("chosen"))
        begin(cycle, framework, self.sampling)
        while cycle.phase in IN_ALGORITHM:
            if not self.sampled and cycle.search is not None:
                cycle.search.wanted = len(cycle.search.order)
            advance(cycle, framework, self.sampling)
        sampling = _sampling(cycle, start, self.sampling.next_start, expected.get("sampling") or {})
        if sampling is not None and not framework.has(Point.FILTER):
            sampling["filterCalls"] = 0
        if not self.sampled:
            self.sampling.next_start = 0
        return cycle, sampling

    def _bind(self, pod: Pod, node: str) -> None:
        """The pod as the API server has it afterwards: bound, running, started one minute later than the one before."""
        self.bound += 1
        manifest = dict(pod.manifest)
        manifest["spec"] = {**manifest["spec"], "nodeName": node}
        hours, minutes = divmod(self.bound, 60)
        days, hours = divmod(hours, 24)
        started = f"2026-06-{1 + days:02}T{hours:02}:{minutes:02}:00Z"
        manifest["status"] = {**(manifest.get("status") or {}), "phase": "Running", "startTime": started}
        self.cache.assume(pod.bound_to(node))
        self.cache.add_pod(Pod.from_manifest(manifest))


def _pre_enqueue(pod: Pod, framework: Framework) -> Status | None:
    for plugin in framework.at(Point.PRE_ENQUEUE):
        status = plugin.pre_enqueue(pod)
        if not status.ok:
            return status.by(plugin.name)
    return None


def _message_is_ours(framework: Framework) -> bool:
    """Whether every PostFilter plugin of the profile is built, so that nothing is missing behind the error."""
    return all(name in REGISTRY for name, _ in framework.profile.plugins[Point.POST_FILTER])


def _index(tied: tuple[str, ...], chosen: str | None) -> int:
    """Which of the tied nodes the corpus chose; the first where it chose another node altogether."""
    return tied.index(chosen) if chosen in tied else 0


def _sampling(cycle: SchedulingCycle, start: int, after: int, expected: Manifest) -> Observed | None:
    search = cycle.search
    if search is None:
        return None
    names = cycle.nodes.names
    found = [names[int(row)] for row in (cycle.feasible if cycle.feasible is not None else ())]
    out: Observed = {
        "startIndex": start,
        "numNodesToFind": search.wanted,
        "processedNodes": search.processed,
        "filterCalls": search.processed + (search.beyond is not None),
        "feasibleOrder": found,
        "nextStartIndex": after,
    }
    if search.beyond is not None:
        out["beyond"] = names[search.beyond]
    if expected.get(
        "unordered"
    ):  # kube takes the nodes of a PreFilter result in the random order of a Go map
        out |= {"feasibleOrder": sorted(found), "unordered": True}
    return out
