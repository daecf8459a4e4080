"""What the engine says of a played lesson: the values in its texts, and the keys of its questions.

A fact is a mapping with one of the words below; `pod` names are of the namespace `default` unless written as ns/name, `attempt` counts
a pod's attempts from 1 (the default), `card` names the card at whose step something is looked at (default: where it is asked).

    node_of: web-1                 the node that an attempt chose; empty where none was
    outcome_of: web-1              scheduled, unschedulable or error
    scheduled: web-1               whether an attempt chose a node
    nominated_for: urgent          the node that preemption nominated
    victims_of: urgent             the pods that have to go for it, by name
    feasible_for, evaluated_for    how many nodes were feasible, how many were looked at
    refused_for: web-1, reason: R  how many nodes were refused for a reason that begins so
    plugins_against: web-1         the plugins that refused it
    attempts_of: web-1             how many attempts it had in all
    waited: web-1, attempt: 2      seconds between the end of the attempt before and this one's start
    points: web-1, node, plugin    a plugin's points after NormalizeScore; `stage: raw` or `weighted` for others
    total_of: web-1, node          the sum of all weighted points
    order: [a, b, c]               these pods by their first attempt
    next_pod: true                 the pod that is popped next
    place_of: web-1                where the pod stands: gated, active, backoff, unschedulable ...
    tied_for: web-1                how many nodes had the highest total
    pods_on: node-1                how many pods the API server holds on the node
    pods_with: {app: web}          how many pods on nodes have these labels, and are not ending; `domain`: on nodes with those labels
    fits: web-1                    how many more pods like this one find a node; `node`: how many of them on that node
    exists: [Pod, web-1]           whether the API server holds the object
    field: [Node, n-1, spec, ...]  a field of an object, as it is written; namespace/name where it has one
    seconds: true                  virtual time
    preempts: web-1                whether an attempt ended with a nomination
    count: {leaders: true}         how many names another fact has
    elapsed: [card, card]          seconds from one card's step to another's
    message_of: web-1              what an attempt ended with, in kube's words
    woken_by, hint_of: web-1       the event that woke the pod before an attempt (2, unless `attempt` says which), and whose hint it was
    woken: NodeAdd                 the pods that an event of this name has moved to the active or the backoff queue, by name
    backoff_of: web-1              for how many seconds the pod backs off after an attempt
    heard: true                    how many events the queue keeps for the pods in flight
    ran: [Score, Filter], of: web-1    these extension points in the order in which they have run for a pod
    asked_for: web-1               the nodes in the order in which the pod's present cycle asks them
    leads: a                       whether a scheduler believes that it leads
    leaders: true                  the schedulers that believe that they lead
    entered: a, stage: leading     at how many seconds a scheduler's process came to a stage; with `times: 2`, the second time
    devices_of: gpu                the devices that are allocated to a ResourceClaim
    evicted: true                  the pods that were evicted for node pressure, in this order
    can_go: true                   the nodes that can be drained and deleted, each alone; go_together: true   the largest set of them
    restarted: true                the pods whose containers were restarted, by name
    waiting: unschedulable         the pods that stand there now: gated, active, backoff, unschedulable ...
    ranking: node-1                the pods of a node in the order in which its kubelet would evict them, as it ranked them first
    free_on: node-1, resource: cpu     how much of a resource is not requested, as its scheduler counts it
    share_on: node-1, resource: cpu    how many percent are requested; `with: web-1` counts that pod, too
    left_on: node-1, signal: S     how much the node's kubelet measures of a signal (nodefs.available)
    beyond_on: node-1, signal: S   the same, over the threshold below which it evicts
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from playground.lessons.cycles import nodes_of_search, points_run
from playground.lessons.named import key_of, object_of, pod_key, short
from playground.lessons.nodes import SignalRemainder, amount, measure_signal, used_of
from playground.lessons.processes import entries, leaders
from playground.lessons.waking import backoff_after, woken_before, woken_by
from scheduler_core.analysis.capacity import Going, find_going
from scheduler_core.analysis.status import read_node
from scheduler_core.analysis.whatif import finish, room_for
from scheduler_core.world.readonly import Attempt, Pod, WorldView

SECOND = 1_000_000_000
Fact = Mapping[str, Any]
Value = str | int | float | bool | tuple[str, ...]
Points = Mapping[str, Mapping[str, Mapping[str, float]]]
"""Of one attempt: stage -> node -> plugin -> points; `total` stands for a plugin in stage weighted."""
PARAMETERS = frozenset(
    {"attempt", "card", "domain", "node", "of", "plugin", "reason", "resource", "signal", "stage", "times", "with"}
)


class BadFact(ValueError):
    """A fact that the played lesson can't answer."""


class PluginRun(NamedTuple):
    """A plugin's record: at which step of the world it ran for a pod, and at which extension point."""

    position: int
    pod: str
    point: str
    plugin: str


@dataclass
class LessonObservations:
    """The observations of a played lesson: the world at each card, its records, each attempt's points and refusals by its number."""

    end: WorldView
    at: dict[str, WorldView] = field(default_factory=dict)
    ran: list[PluginRun] = field(default_factory=list)
    board: dict[str, Points] = field(default_factory=dict)  # the points of the present cycle, at each card
    points: dict[int, Points] = field(default_factory=dict)
    refused: dict[int, Mapping[str, str]] = field(default_factory=dict)


def value_of(fact: Fact, seen: LessonObservations, card: str) -> Value:
    """Return a fact's value. Raise BadFact."""
    where = fact.get("card", card)
    if where not in seen.at:
        raise BadFact(f"there is no card {where}")
    return _value_in(seen.at[where], fact, seen)


def _value_in(world: WorldView, fact: Fact, seen: LessonObservations) -> Value:
    words = [word for word in fact if word not in PARAMETERS]
    if len(words) != 1 or words[0] not in FACTS:
        raise BadFact(f"a fact has one of {', '.join(FACTS)}, and this has {', '.join(words) or 'none'}")
    return FACTS[words[0]](fact[words[0]], fact, seen, world)


def attempt_of(pod: str, fact: Fact, seen: LessonObservations) -> Attempt:
    attempts = [each for each in seen.end.journal.attempts if each.pod == key_of(pod)]
    number = int(fact.get("attempt", 1))
    if not 1 <= number <= len(attempts):
        raise BadFact(f"{pod} has {len(attempts)} attempts, and the fact asks for number {number}")
    return attempts[number - 1]


def _of_attempt(read: Callable[[Attempt], Value]) -> Callable[[Any, Fact, LessonObservations, WorldView], Value]:
    return lambda pod, fact, seen, world: read(attempt_of(pod, fact, seen))


def _count_refusals(pod: Any, fact: Fact, seen: LessonObservations, world: WorldView) -> Value:
    refusals = attempt_of(pod, fact, seen).refusals
    return sum(count for reason, count in refusals if reason.startswith(fact["reason"]))


def _measure_wait(pod: Any, fact: Fact, seen: LessonObservations, world: WorldView) -> Value:
    now = attempt_of(pod, fact, seen)
    before = attempt_of(pod, {"attempt": int(fact.get("attempt", 1)) - 1}, seen)
    return (now.started - before.ended) / SECOND


def _get_score(pod: str, fact: Fact, seen: LessonObservations, stage: str, plugin: str) -> float:
    try:
        return seen.points[attempt_of(pod, fact, seen).number][stage][fact["node"]][plugin]
    except KeyError as missing:
        raise BadFact(f"{pod} has no points of that kind: {missing}") from None


def _tied(pod: Any, fact: Fact, seen: LessonObservations, world: WorldView) -> Value:
    nodes = seen.points.get(attempt_of(pod, fact, seen).number, {}).get("weighted", {})
    totals = [points["total"] for points in nodes.values() if "total" in points]
    if not totals:
        raise BadFact(f"{pod} has no totals: at most one node was feasible")
    return totals.count(max(totals))


def _next_pod(_true: Any, fact: Fact, seen: LessonObservations, world: WorldView) -> Value:
    later = [each for each in seen.end.journal.attempts if each.first_position > world.position]
    if not later:
        raise BadFact("no pod is popped after that card")
    return short(later[0].pod)


def _pods_with(labels: Any, fact: Fact, seen: LessonObservations, world: WorldView) -> Value:
    inside = {node["metadata"]["name"] for node in world.store.list("Node") if _has(node, fact.get("domain", {}))}
    running = [pod for pod in world.store.list("Pod") if "deletionTimestamp" not in pod["metadata"]]
    return sum(1 for pod in running if _has(pod, labels) and pod["spec"].get("nodeName") in inside)


def _has(manifest: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    own = manifest["metadata"].get("labels", {})
    return all(own.get(key) == value for key, value in labels.items())


def _fits(pod: Any, fact: Fact, seen: LessonObservations, world: WorldView) -> Value:
    manifest = object_of("Pod", pod, world)
    if manifest is None:
        raise BadFact(f"there is no pod {pod} at that card")
    room = room_for(world.itself, [manifest])
    return dict(room.nodes).get(fact["node"], 0) if "node" in fact else room.count


def signals_of(world: WorldView, node: str) -> object:
    """The eviction signals of a node's kubelet, as the cluster page shows them."""
    return (read_node(world.itself, node) or {}).get("signals")


def _field(path: Sequence[Any], fact: Fact, seen: LessonObservations, world: WorldView) -> Value:
    kind, name, *keys = path
    value = object_of(kind, name, world)
    try:
        for key in keys:
            value = value[key]
    except (KeyError, IndexError, TypeError):
        raise BadFact(f"{kind} {name} has no {'.'.join(map(str, keys))} there") from None
    if not isinstance(value, str | int | float | bool):
        raise BadFact(f"{kind} {name}: {'.'.join(map(str, keys))} is not a single value")
    return value


def _count(other: Any, fact: Fact, seen: LessonObservations, world: WorldView) -> Value:
    names = _value_in(world, other, seen)
    if not isinstance(names, tuple):
        raise BadFact(f"{dict(other)} is no list of names")
    return len(names)


def _measure_elapsed(cards: Any, fact: Fact, seen: LessonObservations, world: WorldView) -> Value:
    for card in cards:
        if card not in seen.at:
            raise BadFact(f"there is no card {card}")
    return round((seen.at[cards[1]].now - seen.at[cards[0]].now) / SECOND, 2)


def _why_woken(part: int) -> Callable[[Any, Fact, LessonObservations, WorldView], Value]:
    def read(pod: Any, fact: Fact, seen: LessonObservations, world: WorldView) -> Value:
        number = int(fact.get("attempt", 2))
        now, before = (attempt_of(pod, {"attempt": each}, seen) for each in (number, number - 1))
        move = woken_before(now, before, seen.end)
        if move is None:
            raise BadFact(f"no event woke {pod} before attempt {number}")
        return str(move.why[part]) if move.why else ""

    return read


def _backoff(pod: Any, fact: Fact, seen: LessonObservations, world: WorldView) -> Value:
    backoff = backoff_after(attempt_of(pod, fact, seen), seen.end)
    if not backoff:
        raise BadFact(f"{pod} does not back off after that attempt")
    return round(backoff / SECOND, 2)


def _ran(points: Any, fact: Fact, seen: LessonObservations, world: WorldView) -> Value:
    run = points_run(key_of(fact["of"]), world)
    if missing := [point for point in points if point not in run]:
        raise BadFact(f"{', '.join(missing)} has not run for {fact['of']} at that card")
    return tuple(point for point in run if point in points)


def _list_asked_nodes(pod: Any, fact: Fact, seen: LessonObservations, world: WorldView) -> Value:
    if not (names := nodes_of_search(key_of(pod), world)):
        raise BadFact(f"no cycle of {pod} asks nodes at that card")
    return names


def _find_entry_time(name: Any, fact: Fact, seen: LessonObservations, world: WorldView) -> Value:
    times, found = int(fact.get("times", 1)), list(entries(name, fact["stage"], seen.end))
    if len(found) < times:
        raise BadFact(f"{name} was {fact['stage']} {len(found)} times, and the fact asks for time {times}")
    return round(found[times - 1] / SECOND, 2)


def _devices(claim: Any, fact: Fact, seen: LessonObservations, world: WorldView) -> Value:
    status = (object_of("ResourceClaim", claim, world) or {}).get("status", {})
    results = status.get("allocation", {}).get("devices", {}).get("results", ())
    return tuple(result["device"] for result in results)


def _ranking(node: Any, fact: Fact, seen: LessonObservations, world: WorldView) -> Value:
    evictions = seen.end.surroundings.kubelet.evictions.get(node, ())
    if not evictions:
        raise BadFact(f"the kubelet of {node} has evicted nobody")
    return tuple(short(ranked.pod) for ranked in evictions[0].ranking)


def _free(node: Any, fact: Fact, seen: LessonObservations, world: WorldView) -> Value:
    used, has = _get_requested(node, fact, world)
    return amount(has - used, fact["resource"])


def _share(node: Any, fact: Fact, seen: LessonObservations, world: WorldView) -> Value:
    used, has = _get_requested(node, fact, world)
    return round(100 * used / has, 1)


def _get_requested(node: Any, fact: Fact, world: WorldView) -> tuple[int, int]:
    found = used_of(node, fact["resource"], world, key_of(fact["with"]) if "with" in fact else "")
    if found is None or not found[1]:
        raise BadFact(f"{node} has no {fact['resource']}")
    return found


def _require_signal(node: Any, fact: Fact, world: WorldView) -> SignalRemainder:
    left = measure_signal(node, fact["signal"], world)
    if left is None:
        raise BadFact(f"the kubelet of {node} does not measure {fact['signal']}")
    return left


def _list_evicted_pods(_true: Any, fact: Fact, seen: LessonObservations, world: WorldView) -> Value:
    return tuple(
        short(f"{event.namespace}/{event.name}")
        for event in world.store.events
        if event.reason == "Evicted" and event.kind == "Pod"
    )


def _find_going(world: WorldView) -> Going:
    return finish(find_going(world.itself.fork(), {}))


def _list_restarted_pods(_true: Any, fact: Fact, seen: LessonObservations, world: WorldView) -> Value:
    pods = [
        pod
        for pod in world.store.list("Pod")
        if any(each.get("restartCount") for each in pod["status"].get("containerStatuses", ()))
    ]
    return tuple(sorted(short(pod_key(pod["metadata"])) for pod in pods))


def _list_waiting_pods(place: Any, fact: Fact, seen: LessonObservations, world: WorldView) -> Value:
    keys = [pod_key(pod["metadata"]) for pod in world.store.list("Pod")]
    return tuple(sorted(short(key) for key in keys if world.journal.place(key) == place))


FACTS: dict[str, Callable[[Any, Fact, LessonObservations, WorldView], Value]] = {
    "node_of": _of_attempt(lambda attempt: attempt.node),
    "outcome_of": _of_attempt(lambda attempt: attempt.outcome),
    "scheduled": _of_attempt(lambda attempt: attempt.outcome == "scheduled"),
    "nominated_for": _of_attempt(lambda attempt: attempt.nominated),
    "victims_of": _of_attempt(lambda attempt: tuple(sorted(map(short, attempt.victims)))),
    "feasible_for": _of_attempt(lambda attempt: attempt.feasible),
    "evaluated_for": _of_attempt(lambda attempt: attempt.evaluated),
    "plugins_against": _of_attempt(lambda attempt: tuple(sorted(attempt.plugins))),
    "refused_for": _count_refusals,
    "attempts_of": lambda pod, fact, seen, world: sum(each.pod == key_of(pod) for each in seen.end.journal.attempts),
    "waited": _measure_wait,
    "points": lambda pod, fact, seen, world: _get_score(
        pod, fact, seen, fact.get("stage", "normalized"), fact["plugin"]
    ),
    "total_of": lambda pod, fact, seen, world: _get_score(pod, fact, seen, "weighted", "total"),
    "order": lambda pods, fact, seen, world: tuple(sorted(pods, key=lambda pod: attempt_of(pod, {}, seen).number)),
    "next_pod": _next_pod,
    "place_of": lambda pod, fact, seen, world: world.journal.place(key_of(pod)),
    "tied_for": _tied,
    "pods_on": lambda node, fact, seen, world: sum(
        pod["spec"].get("nodeName") == node for pod in world.store.list("Pod")
    ),
    "pods_with": _pods_with,
    "fits": _fits,
    "exists": lambda path, fact, seen, world: object_of(path[0], path[1], world) is not None,
    "field": _field,
    "seconds": lambda _true, fact, seen, world: world.now / SECOND,
    "elapsed": _measure_elapsed,
    "preempts": _of_attempt(lambda attempt: bool(attempt.nominated)),
    "count": _count,
    "leads": lambda name, fact, seen, world: name in leaders(world),
    "message_of": _of_attempt(lambda attempt: attempt.message),
    "woken_by": _why_woken(0),
    "hint_of": _why_woken(1),
    "woken": lambda event, fact, seen, world: tuple(map(short, woken_by(event, world))),
    "backoff_of": _backoff,
    "heard": lambda _true, fact, seen, world: sum(
        not isinstance(item, Pod) for scheduler in world.schedulers for item in scheduler.queue.flight.items()
    ),
    "leaders": lambda _true, fact, seen, world: leaders(world),
    "entered": _find_entry_time,
    "ran": _ran,
    "asked_for": _list_asked_nodes,
    "devices_of": _devices,
    "evicted": _list_evicted_pods,
    "can_go": lambda _true, fact, seen, world: tuple(each.node for each in _find_going(world).nodes if each.goes),
    "go_together": lambda _true, fact, seen, world: _find_going(world).order,
    "restarted": _list_restarted_pods,
    "waiting": _list_waiting_pods,
    "ranking": _ranking,
    "free_on": _free,
    "share_on": _share,
    "left_on": lambda node, fact, seen, world: amount(_require_signal(node, fact, world).available),
    "beyond_on": lambda node, fact, seen, world: amount(_require_signal(node, fact, world).beyond),
}
