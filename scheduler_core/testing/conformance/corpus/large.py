"""Running the corpus of a real cluster: thousands of attempts one after another, compared by counts.

README-large.md has the format.
"""

from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver import APIServerOptions, Store, with_section
from scheduler_core.apiserver.server import APIServer, make_standing_objects
from scheduler_core.scheduler.config import load_configuration
from scheduler_core.scheduler.core.algorithm.algorithm_state import AlgorithmState
from scheduler_core.scheduler.core.algorithm.schedule_pod import IN_ALGORITHM, advance, begin
from scheduler_core.scheduler.core.cycles.scheduling_cycle import SchedulingCycle
from scheduler_core.scheduler.framework.plugin import Point
from scheduler_core.scheduler.framework.runtime.filters import FilterRunner
from scheduler_core.scheduler.framework.runtime.framework import Framework
from scheduler_core.scheduler.plugins.registry import registry
from scheduler_core.scheduler.queue.types import QueuedPod
from scheduler_core.testing.conformance.corpus import observe
from scheduler_core.testing.conformance.corpus.compare import differ
from scheduler_core.testing.conformance.corpus.reading import CorpusError, Scenario, load_json, with_all_candidates
from scheduler_core.testing.conformance.corpus.world import CorpusWorld
from scheduler_core.testing.differences import Difference, first_place

Watch = Callable[[Framework, SchedulingCycle], None]

_OF_PREEMPTION = ("eligible", "acceptable", "nominated", "victims", "clearedNominations", "statusCode", "statusMessage")
_SUFFIXES = ("", ".xz", ".gz")


def run_large(scenario: Scenario, watch: Watch | None = None) -> Difference | None:
    """Return the first difference of a scenario of a real cluster. `watch` receives each finished cycle."""
    objects, pending = _objects(scenario)
    world = CorpusWorld(objects, pending)
    configuration = load_configuration(scenario.data.get("config"))
    frameworks = {
        profile.scheduler_name: Framework(with_all_candidates(profile), registry(), world)
        for profile in configuration.profiles
    }
    algorithm_state = AlgorithmState(100, nominator=world.nominator)
    for number, expected in enumerate(scenario.attempts, 1):
        pod = world.pods[expected["pod"]]
        framework = frameworks[pod.spec.scheduler_name]
        cycle = SchedulingCycle(number, "corpus", framework.name, QueuedPod(pod, 0, 0), world.take_snapshot(), 0)
        algorithm_state.next_start = 0
        algorithm_state.draw = partial(_find_drawn, cycle, expected.get("chosen"))
        begin(cycle, framework, algorithm_state)
        while cycle.phase in IN_ALGORITHM:
            advance(cycle, framework, algorithm_state)
        if watch is not None:
            watch(framework, cycle)
        received = _observe_cycle(cycle, framework)
        if cycle.search is not None and cycle.search.own_nomination:
            received["refused"] = _count_refusals(observe.observe_all(cycle, FilterRunner(framework, world.nominator)))
        if cycle.chosen is not None:
            world.bind_pod(pod, cycle.chosen)
        else:
            if cycle.preemption is not None:
                world.preempt(cycle.preemption)
            world.fail(pod, cycle.nomination)
        received["nominatedNodeAfter"] = world.pods[pod.key].nominated_node_name
        difference = _difference(number, expected, received)
        if difference is not None:
            return difference
    return None


def _find_drawn(cycle: SchedulingCycle, wanted: str | None, ties: int) -> int:
    """The place of the corpus' choice among the tied rows; the first where it chose another node altogether."""
    row = cycle.nodes.row(wanted) if wanted else None
    assert cycle.tied_rows is not None
    at = [] if row is None else np.flatnonzero(cycle.tied_rows == row).tolist()
    return at[0] if at else 0


def _observe_cycle(cycle: SchedulingCycle, framework: Framework) -> observe.Observed:
    out: observe.Observed = {
        "scored": cycle.scores is not None and framework.has(Point.SCORE),
        "nFeasible": 0 if cycle.feasible is None else len(cycle.feasible),
    }
    out["nominatedNode"] = observe.observe_nominated_node(cycle)
    counts: Counter[str] = Counter()
    for status, number in cycle.node_to_status.counted():
        counts[f"{status.plugin}: {', '.join(status.reasons)}"] += number
    out["refused"] = dict(counts)
    if cycle.tied_rows is not None:
        out["nTop"] = len(cycle.tied_rows)
    if cycle.scores is not None and cycle.scores.total is not None:
        out["bestTotal"] = int(cycle.scores.total.max())
    if cycle.chosen is not None:
        out["chosen"] = cycle.chosen
        return out
    observe.observe_failure(cycle, out)
    preempted = observe.preemption(cycle)
    if preempted is not None:
        out["nCandidates"] = len(preempted.get("candidates", ())) or None
        out["preemption"] = {name: preempted[name] for name in _OF_PREEMPTION if name in preempted}
    return out


def _count_refusals(verdicts: observe.Observed) -> dict[str, int]:
    counts = Counter(f"{status['plugin']}: {', '.join(status['reasons'])}" for status in verdicts.values() if status)
    return dict(counts)


def _difference(number: int, expected: Manifest, received: observe.Observed) -> Difference | None:
    wanted = observe.without_empty({k: v for k, v in expected.items() if k not in ("pod", "n", "profile")})
    if "preemption" in wanted:
        wanted["preemption"] = observe.without_empty(wanted["preemption"])
    got = observe.without_empty(received)
    place = first_place(wanted, got)
    if place is None:
        return None
    return differ(number, expected["pod"], (place[0].removeprefix("."), *place[1:]))


def _objects(scenario: Scenario) -> tuple[list[Manifest], list[Manifest]]:
    """The cluster's nodes and classes, and its pods as the API server admits them, in the scenario's order."""
    others = _items(scenario, "objectsFile")
    api = APIServer(Store(), APIServerOptions(disable_admission_plugins=("NamespaceLifecycle",)), 0)
    make_standing_objects(api)
    for each in others:
        if each["kind"] == "PriorityClass":
            api.create(each, imported=True)
    pods: dict[str, Manifest] = {}
    for manifest in _items(scenario, "pendingFile"):
        admitted = api.create(manifest, imported=True)
        meta = admitted["metadata"]
        pods[meta["name"]] = with_section(admitted, "metadata", {"uid": f"{meta['namespace']}-{meta['name']}"})
    order = scenario.data.get("order") or list(pods)
    return sorted(others, key=lambda o: (o["kind"] != "Node", o["metadata"]["name"])), [pods[name] for name in order]


def _items(scenario: Scenario, field: str) -> list[Manifest]:
    """A file that the scenario names relative to a folder above its own, plain or compressed."""
    name = scenario.data[field]
    folders = scenario.file.resolve().parents if scenario.file is not None else [Path.cwd()]
    for folder in folders:
        for suffix in _SUFFIXES:
            file = folder / f"{name}{suffix}"
            if file.is_file():
                items: list[Manifest] = load_json(file)["items"]
                return items
    raise CorpusError(f"{scenario.name}: {name} is in no folder above {scenario.file}")
