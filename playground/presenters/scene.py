"""Functions that several panels share: the cycle to show, and the positions of rows. Not a panel itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypedDict
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from playground.presenters.words import duration
from scheduler_core.base.trace import kinds
from scheduler_core.world import readonly


def scheduler_of(sim: readonly.WorldView) -> readonly.SchedulerView:
    """Return the scheduler whose cycle began last, else the first one; without any, a scheduler that has done nothing."""
    schedulers = sim.schedulers
    if not schedulers:
        return readonly.nobody()
    if len(schedulers) == 1:
        return schedulers[0]
    return max(schedulers, key=lambda s: -1 if s.cycle is None else s.cycle.number)


def queue_sort_of(scheduler: readonly.SchedulerView) -> str:
    """Return the QueueSort plugin, which all profiles share."""
    return str(next(iter(scheduler.profiles.values())).at(readonly.Point.QUEUE_SORT)[0].name)


def table_of(scheduler: readonly.SchedulerView) -> readonly.NodeTable:
    """Return the nodes of the scheduler's cache, built again only if the cache changed (few steps do). Callers must not change it."""
    cache = scheduler.cache
    known = _TABLES.get(cache)
    if known is None or known[0] != cache.generation:
        known = _TABLES[cache] = (cache.generation, cache.table())
    return known[1]


_TABLES: WeakKeyDictionary[readonly.CacheView, tuple[int, readonly.NodeTable]] = WeakKeyDictionary()


def cycle_of(sim: readonly.WorldView) -> readonly.SchedulingCycleView | None:
    """Return the running cycle, else the one that ended last."""
    return scheduler_of(sim).cycle


def stands_at(cycle: readonly.SchedulingCycleView) -> str:
    """Return the present extension point. A cycle whose plugins have all run stays at its last point until it ends."""
    over = cycle.phase in (readonly.Phase.FAILED, readonly.Phase.DONE) and cycle.steps
    return str(cycle.steps[-1].point if over else cycle.phase)


def framework_of(sim: readonly.WorldView) -> readonly.ProfileView:
    """Return the profile of the present cycle, or the scheduler's first one before any cycle."""
    return scheduler_of(sim).profiles[profile_of(sim)]


def profile_of(sim: readonly.WorldView) -> str:
    """Return the name of the present cycle's profile, the value of spec.schedulerName."""
    scheduler = scheduler_of(sim)
    cycle = scheduler.cycle
    if cycle is not None and cycle.profile in scheduler.profiles:
        return cycle.profile
    return next(iter(scheduler.profiles))


def binding_of(sim: readonly.WorldView, key: str) -> readonly.BindingCycleView | None:
    """Return the running binding cycle of a pod, or None."""
    return next((b for s in sim.schedulers for b in s.bindings.values() if b.pod.key == key), None)


def present_step(sim: readonly.WorldView) -> tuple[readonly.PluginStep, readonly.CycleView] | None:
    """Return the plugin that the last transition ran, and its cycle; None if it ran no plugin."""
    scheduler = scheduler_of(sim)
    cycles: list[readonly.CycleView] = [scheduler.cycle] if scheduler.cycle is not None else []
    for cycle in (*cycles, *scheduler.bindings.values()):
        if cycle.steps and cycle.steps[-1].position == sim.position:
            return cycle.steps[-1], cycle
    return None


def subject(sim: readonly.WorldView, pod_key: str) -> str:
    """Return the inspector's pod: the chosen one, else the pod of the last transition."""
    return pod_key or present_pod(sim)


_ABOUT_A_POD = (
    kinds.AttemptStarted,
    kinds.AttemptEnded,
    kinds.PodAssumed,
    kinds.PodForgotten,
    kinds.WaitEnded,
    kinds.BindingStarted,
    kinds.BindingEnded,
)
_KINDS_ABOUT_A_POD = frozenset(facts.KIND for facts in _ABOUT_A_POD)


def present_pod(sim: readonly.WorldView) -> str:
    """Return the pod of the last transition, else of the present cycle, else ""."""
    ran = present_step(sim)
    if ran is not None:
        return ran[1].pod.key
    for record in sim.last[-8:]:
        if record.kind in _KINDS_ABOUT_A_POD and isinstance(record.facts, _ABOUT_A_POD):
            return record.facts.pod
    cycle = cycle_of(sim)
    return cycle.pod.key if cycle is not None else ""


def count_attempts(sim: readonly.WorldView, key: str) -> int:
    """Return the number of a pod's latest attempt among its own, as kube counts them; 0 before its first."""
    cycle, ended = cycle_of(sim), len(sim.journal.attempts_of(key))
    return ended + (cycle is not None and cycle.pod.key == key and cycle.ended is None)


def find_latest_number(sim: readonly.WorldView, key: str) -> int:
    """Return the cycle number of a pod's latest attempt, or 0 before its first."""
    cycle, attempt = cycle_of(sim), last_attempt(sim, key)
    if cycle is not None and cycle.pod.key == key:
        return cycle.number
    return 0 if attempt is None else attempt.number


def find_pod(sim: readonly.WorldView, key: str) -> readonly.Pod | None:
    """Return a pod as stored in the API server. If it was deleted, return the pod of the present cycle, or None."""
    pod = sim.store.pod_at(key)
    if pod is not None:
        return pod
    cycle = cycle_of(sim)
    return cycle.pod if cycle is not None and cycle.pod.key == key else None


def last_attempt(sim: readonly.WorldView, key: str) -> readonly.Attempt | None:
    """Return the last finished attempt to schedule a pod, or None."""
    index = sim.journal.last_attempt.get(key)
    return None if index is None else sim.journal.attempts[index]


def count_evaluated_nodes(attempt: readonly.Attempt) -> int:
    """Return the number of nodes that an attempt evaluated: those of the search, or only the nominated node if it was enough."""
    return max(attempt.evaluated, attempt.feasible)


def family_of(pod: readonly.Pod) -> str:
    """Return the name that the pods of a workload share: the app label, else the pod's name without its ordinal."""
    label = pod.labels.get("app") or pod.labels.get("app.kubernetes.io/name")
    return label or pod.name.rstrip("0123456789").rstrip("-") or pod.name


def short(key: str) -> str:
    """Shorten a pod's key for display: omit the namespace `default`."""
    return key.removeprefix("default/")


def utilisation(table: readonly.NodeTable) -> NDArray[np.float64]:
    """Return the higher utilization of cpu and memory for each node, 0 to 1 (more if a node is overcommitted)."""
    allocatable = np.maximum(table.allocatable[:, :2], 1)
    used: NDArray[np.float64] = (table.requested[:, :2] / allocatable).max(axis=1)
    return used


FORWARD_POINTS = (
    readonly.Point.PRE_ENQUEUE,
    readonly.Point.QUEUE_SORT,
    readonly.Point.PRE_FILTER,
    readonly.Point.FILTER,
    readonly.Point.POST_FILTER,
    readonly.Point.PRE_SCORE,
    readonly.Point.SCORE,
    readonly.Point.NORMALIZE_SCORE,
    readonly.Point.RESERVE,
    readonly.Point.PERMIT,
)
BINDING_POINTS = (readonly.Point.WAIT_ON_PERMIT, readonly.Point.PRE_BIND, readonly.Point.BIND, readonly.Point.POST_BIND)
EXTENDER_VERBS = {
    readonly.Point.EXTENDER_FILTER: readonly.Verb.FILTER,
    readonly.Point.EXTENDER_PREEMPT: readonly.Verb.PREEMPT,
    readonly.Point.EXTENDER_PRIORITIZE: readonly.Verb.PRIORITIZE,
    readonly.Point.EXTENDER_BIND: readonly.Verb.BIND,
}
_BEHIND = {
    readonly.Point.FILTER: readonly.Point.EXTENDER_FILTER,
    readonly.Point.POST_FILTER: readonly.Point.EXTENDER_PREEMPT,
    readonly.Point.NORMALIZE_SCORE: readonly.Point.EXTENDER_PRIORITIZE,
    readonly.Point.PRE_BIND: readonly.Point.EXTENDER_BIND,
}


def with_extenders(points: Sequence[readonly.Point], extenders: Sequence[readonly.Extender]) -> list[readonly.Point]:
    """Return the points with those at which an extender is called."""
    out = []
    for point in points:
        out.append(point)
        place = _BEHIND.get(point)
        if place is not None and any(extender.has(EXTENDER_VERBS[place]) for extender in extenders):
            out.append(place)
    return out


class NoSubject(TypedDict):
    """The body of a tab whose subject does not exist."""

    kind: str


class PodRef(TypedDict):
    key: str
    name: str


def pod_ref(key: str) -> PodRef:
    return {"key": key, "name": short(key)}


def without_scheme(url: str) -> str:
    """Shorten an extender's urlPrefix for display."""
    return url.partition("://")[2] or url


FEASIBLE, UNSEEN = readonly.PASSED, readonly.NOT_EVALUATED


@dataclass(frozen=True, slots=True)
class Refusals:
    """`group[i]` of node i: -1 passes so far, -2 not evaluated, else an index into `statuses`. `step` is the refusing step or -1."""

    group: NDArray[np.int32]
    step: NDArray[np.int32]
    statuses: tuple[readonly.Status, ...]
    counts: tuple[int, ...]

    def text(self, row: int) -> str:
        """Return kube's text for a refused node, else ""."""
        group = int(self.group[row])
        return self.statuses[group].message if group >= 0 else ""

    @property
    def feasible(self) -> int:
        return int(np.count_nonzero(self.group == FEASIBLE))

    @property
    def unseen(self) -> int:
        return int(np.count_nonzero(self.group == UNSEEN))


def is_filter_over(cycle: readonly.SchedulingCycleView) -> bool:
    """Return whether Filter has ended, extenders included. Before that, a node that passes is not feasible yet."""
    if cycle.phase is readonly.Phase.EXTENDER_FILTER:
        return False
    return cycle.feasible is not None or cycle.phase not in (readonly.Phase.PRE_FILTER, readonly.Phase.FILTER)


def refusals(sim: readonly.WorldView, names: list[str]) -> Refusals:
    """Return the present cycle's refusals for each node in `names`, in their order. Verdicts are counted again if new ones arrived."""
    cycle = cycle_of(sim)
    said = (names,) if cycle is None else (names, cycle.number, cycle.node_to_status.fingerprint(), _count_asked(cycle))
    cache = scheduler_of(sim).cache
    known = _LATEST.get(cache)
    if known is None or known[0] != said:
        known = _LATEST[cache] = (said, _refusals(cycle, names))
    return known[1]


_LATEST: WeakKeyDictionary[readonly.CacheView, tuple[tuple[Any, ...], Refusals]] = WeakKeyDictionary()


def unasked(names: list[str]) -> Refusals:
    """Return refusals for the state before any cycle."""
    nobody = np.full(len(names), UNSEEN, np.int32)
    return Refusals(nobody, nobody, (), ())


def _refusals(cycle: readonly.SchedulingCycleView | None, names: list[str]) -> Refusals:
    if cycle is None:
        return unasked(names)
    if not cycle.pre_filter_status.ok:
        everyone = np.zeros(len(names), np.int32)
        return Refusals(everyone, everyone - 1, (cycle.pre_filter_status,), (len(names),))
    groups = node_to_status(cycle, names).groups()
    group, search, asked = groups.group, cycle.search, _count_asked(cycle)
    if search is not None and not is_filter_over(cycle) and asked < search.stop:  # no plugin has evaluated these yet
        ahead = np.zeros(len(cycle.nodes.names) + 1, np.bool_)
        ahead[search.order[asked : search.stop]] = True
        rows = verdict_rows(cycle, names)
        ahead = ahead[:-1] if rows is None else ahead[rows]
        group = np.where(ahead & (group == FEASIBLE), np.int32(UNSEEN), group)
    return Refusals(group, groups.step, groups.statuses, groups.counts)


def _count_asked(cycle: readonly.SchedulingCycleView) -> int:
    """Return the number of nodes that the first Filter plugin evaluated."""
    steps = [step for step in cycle.steps if step.point is readonly.Point.FILTER]
    return sum(step.evaluated for step in steps if step.plugin == steps[0].plugin)


def verdict_rows(cycle: readonly.SchedulingCycleView, names: Sequence[str]) -> NDArray[np.intp] | None:
    """Return the row in the cycle's snapshot for each of `names` (-1: no such row), or None if both lists are equal."""
    theirs = cycle.nodes
    if theirs.names is names or theirs.names == names:
        return None
    return np.fromiter((theirs.rows.get(name, -1) for name in names), np.intp, len(names))


def node_to_status(cycle: readonly.SchedulingCycleView, names: Sequence[str]) -> readonly.NodeToStatus:
    """Return Filter's verdicts so far on the nodes in `names`."""
    rows = verdict_rows(cycle, names)
    return cycle.node_to_status.at(np.arange(len(names), dtype=np.intp) if rows is None else rows)


def faults_of(sim: readonly.WorldView) -> dict[str, list[str]]:
    """Return by pod the calls that are configured to fail, with the response, or to be slow, with the latency."""
    faults: dict[str, list[str]] = {}
    for (call, pod), fault in sorted(sim.faults.items()):
        faults.setdefault(pod, []).append(f"{call} {fault.code or duration(fault.latency or 0)}")
    return faults
