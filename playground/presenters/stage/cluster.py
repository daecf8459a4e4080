"""Cluster: the stage while no cycle runs: the cluster's state, the last change, and, after a run, its result.

The page requests the problems of the cluster itself (features/fixes), because their explanation takes longer than a stage may.
"""

from collections import Counter
from collections.abc import Iterable
from itertools import groupby
from statistics import median
from typing import Any, NamedTuple, TypedDict

from playground.presenters.cluster_map.node_cards import Capacity, capacities
from playground.presenters.look import Look
from playground.presenters.panel import Stage
from playground.presenters.queues.groups import waiting
from playground.presenters.scene import scheduler_of, table_of
from playground.presenters.stage.controller.owners import Evictions, ObjectChange, collect_changes, evictions
from playground.presenters.stage.filter.columns import asks
from playground.presenters.words import Message, duration, gettext_noop, message, thousands
from scheduler_core.base.trace.kinds import CommandApplied
from scheduler_core.world.readonly import Place, WorldView

NAMED = 5  # named objects of a kind
KINDS = 4  # kinds listed in the last change
BARS = 6  # nodes and reasons in the summary of a run
FEW, MOST = 6, 12  # nodes and waiting pods; up to these, the stage compares requests with free amounts

_YOURS = gettext_noop("Your cluster")
_PENDING = gettext_noop("%(n)s pods are Pending")
_SCHEDULED = gettext_noop("%(n)s pods were scheduled")
_OF = gettext_noop("%(k)s of %(n)s pods were scheduled")
_NODES = gettext_noop("%(n)s nodes")
_RUN = gettext_noop("run of %(n)s steps, %(time)s of virtual time")
_ON = gettext_noop("%(k)s of %(n)s pods are on nodes")
_WHAT = {
    "ADDED": gettext_noop("%(kind)s created: %(names)s"),
    "MODIFIED": gettext_noop("%(kind)s changed: %(names)s"),
    "DELETED": gettext_noop("%(kind)s deleted: %(names)s"),
}
_COUNTED = {
    "ADDED": gettext_noop("%(kind)s created: %(n)s"),
    "MODIFIED": gettext_noop("%(kind)s changed: %(n)s"),
    "DELETED": gettext_noop("%(kind)s deleted: %(n)s"),
}


class Figure(TypedDict):
    value: str
    unit: str
    title: str
    state: str


class Bar(TypedDict):
    """`percent` is relative to the longest bar."""

    name: str
    count: int
    percent: int


class Summary(TypedDict):
    """The summary of a run. `checks` counts all refusals, `bound` all pods that got a node, `more` the nodes without a bar."""

    figures: list[Figure]
    nodes: list[Bar]
    more: int
    bound: int
    refusals: list[Bar]
    checks: int


class WaitingPods(TypedDict):
    """Pods with the same requirements."""

    keys: list[str]
    priority: int
    asks: list[Message]


class ClusterBody(TypedDict, total=False):
    """`start`: the cluster is new. `changes`: the effects of the last command. `log`: the number of its records.

    `demand`: the requests of all waiting pods, compared with the free amounts of the nodes.
    """

    start: bool
    at: int
    waits: bool
    changes: list[Message]
    log: int
    evictions: Evictions
    summary: Summary | None
    pods: list[WaitingPods]
    demand: list[Capacity]


def present(sim: WorldView, look: Look, key: str) -> Stage[ClusterBody, Any]:
    """Return the stage of the whole cluster, with the map beneath."""
    waits, nodes = count_waiting(sim), sim.store.count("Node")
    if not (waits or nodes or sim.store.count("Pod")):
        return Stage(message("The cluster is empty"), {"start": True})
    commanded = any(record.kind == CommandApplied.KIND for record in sim.last[:1])
    ended = bool(sim.idle and sim.journal.attempts and not commanded)
    body: ClusterBody = {
        "at": sim.position,
        "waits": bool(sim.store.count("Pod")),
        "changes": list(_summarize(collect_changes(sim).objects, len(sim.last))) if commanded else [],
        "log": len(sim.last),
        "evictions": evictions(sim),
        "summary": summarize(sim, waits) if ended else None,
        **(_demand(sim) if nodes <= FEW and waits <= MOST and not ended else {}),
    }
    question, facts = (_end if ended else _situation)(sim, waits)
    return Stage(question, body, facts=facts, map=True)


def _demand(sim: WorldView) -> ClusterBody:
    """Return the waiting pods, those with equal requirements together, and the sum of their requests."""
    table = table_of(scheduler_of(sim))
    found = (sim.store.pod_at("/".join(key)) for key in sim.store.keys("Pod"))
    pods = [pod for pod in found if pod and not pod.node_name and pod.phase == "Pending"]
    alike: dict[str, WaitingPods] = {}
    for pod in pods:
        requests = asks(pod)
        row: WaitingPods = {"keys": [], "priority": pod.priority, "asks": requests}
        alike.setdefault(f"{pod.priority} {requests}", row)["keys"].append(pod.key)
    names = table.resources.names
    free = (table.allocatable - table.requested).sum(axis=0)
    asked = (sum(pod.requests.get(name) for pod in pods) for name in names)
    return {"pods": list(alike.values()), "demand": capacities(tuple(names), tuple(free.tolist()), tuple(asked))}


def count_waiting(sim: WorldView) -> int:
    """Return the number of pods that wait for a node, including pods without a matching scheduler."""
    flying = sum(s.cycle is not None and s.cycle.ended is None for s in sim.schedulers)
    grouped = sim.store.count("PodGroup") > 0
    return sum(waiting(each, grouped) for each in sim.schedulers) + flying + sum(1 for _ in sim.journal.ignored)


def _situation(sim: WorldView, waits: int) -> tuple[Message, list[Message]]:
    placed = int(table_of(scheduler_of(sim)).pod_count.sum())
    question = message(_PENDING, n=thousands(waits)) if waits else message(_YOURS)
    facts = [message(_NODES, n=thousands(sim.store.count("Node")))]
    if placed + waits:
        facts.append(message(_ON, k=thousands(placed), n=thousands(placed + waits)))
    return question, facts


def _end(sim: WorldView, waits: int) -> tuple[Message, list[Message]]:
    bound = len(_list_bound_pods(sim))
    return message(_OF if waits else _SCHEDULED, k=thousands(bound), n=thousands(bound + waits)), [
        message(_RUN, n=thousands(sim.position), time=duration(sim.now))
    ]


def _summarize(objects: Iterable[ObjectChange], records: int) -> Iterable[Message]:
    """Yield one line for each kind with the created, changed, and deleted objects."""
    kinds = sorted(objects, key=lambda each: (each.what != "ADDED", each.kind != "Node", each.kind))
    groups = [
        (kind, what, [o.name for o in found]) for (kind, what), found in groupby(kinds, lambda o: (o.kind, o.what))
    ]
    for kind, what, names in groups[:KINDS]:
        if what in _WHAT and len(names) <= NAMED:
            yield message(_WHAT[what], kind=kind, names=", ".join(names))
        elif what in _WHAT and records <= 200:
            yield message(_COUNTED[what], kind=kind, n=thousands(len(names)))


class BoundPlace(NamedTuple):
    node: str
    waited: int  # ns from the pod's first place in the queue


def _list_bound_pods(sim: WorldView) -> dict[str, BoundPlace]:
    """Return the pods whose binding has ended, each with its node."""
    first: dict[str, int] = {}
    found: dict[str, BoundPlace] = {}
    for move in sim.journal.moves:
        if move.place in (Place.ACTIVE, Place.GATED):
            first.setdefault(move.pod, move.t)
        elif move.place == Place.BOUND and move.pod in first:
            index = sim.journal.last_attempt.get(move.pod)
            node = "" if index is None else sim.journal.attempts[index].node
            found[move.pod] = BoundPlace(node, move.t - first[move.pod])
    return found


def summarize(sim: WorldView, waits: int) -> Summary:
    """Summarize all attempts: pods with and without a node, victims, the median time until binding, and reasons of refusals."""
    bound, attempts = _list_bound_pods(sim), sim.journal.attempts
    victims = {victim for attempt in attempts for victim in attempt.victims}
    refusals: Counter[str] = Counter()
    for attempt in attempts:
        for reason, count in attempt.refusals:
            refusals[reason] += count
    figures = [
        _figure(len(bound), gettext_noop("scheduled"), "ok"),
        _figure(waits, gettext_noop("Pending"), "no" if waits else ""),
        _figure(len(victims), gettext_noop("preempted"), ""),
    ]
    if bound:
        value, _, unit = duration(int(median(each.waited for each in bound.values()))).partition(" ")
        figures.append({"value": value, "unit": unit, "title": gettext_noop("median from queue to bound"), "state": ""})
    nodes = Counter(each.node for each in bound.values() if each.node)
    return {
        "figures": figures,
        "nodes": _bars(nodes),
        "more": max(0, len(nodes) - BARS),
        "bound": len(bound),
        "refusals": _bars(refusals),
        "checks": refusals.total(),
    }


def _figure(value: int, title: str, state: str) -> Figure:
    return {"value": thousands(value), "unit": "", "title": title, "state": state}


def _bars(counts: Counter[str]) -> list[Bar]:
    top = counts.most_common(BARS)
    return [{"name": name, "count": n, "percent": round(100 * n / top[0][1])} for name, n in top]
