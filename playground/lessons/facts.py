"""What the engine says of a played lesson: the values in its texts, and the keys of its questions.

A fact is a mapping with one of the words below; `pod` names are of the namespace `default` unless written as ns/name, `attempt` counts
a pod's attempts from 1 (the default), `card` names the card at whose step something is looked at (default: where it is asked).

    node_of: web-1                 the node that an attempt chose; empty where none was
    outcome_of: web-1              scheduled, unschedulable or error
    scheduled: web-1               whether an attempt chose a node
    nominated_for: urgent          the node that preemption nominated
    preempts: urgent               whether an attempt ended with a nominated node
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
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scheduler_core.view import Attempt, WorldView
from scheduler_core.whatif import Room

SECOND = 1_000_000_000
Fact = Mapping[str, Any]
Value = str | int | float | bool | tuple[str, ...]
Points = Mapping[str, Mapping[str, Mapping[str, float]]]
"""Of one attempt: stage -> node -> plugin -> points; `total` stands for a plugin in stage weighted."""
PARAMETERS = frozenset({"attempt", "card", "domain", "node", "plugin", "stage", "reason"})
NAMESPACELESS = frozenset(
    {"Node", "Namespace", "PriorityClass", "PersistentVolume", "StorageClass", "DeviceClass", "ResourceSlice"}
)


class BadFact(ValueError):
    """A fact that the played lesson has no answer to."""


@dataclass
class Seen:
    """What was seen as a lesson was played to its end: the world at each card, and each attempt's points by its number.

    `room` says how many more pods like a manifest a world has room for.
    """

    end: WorldView
    room: Callable[[WorldView, Mapping[str, Any]], Room]
    at: dict[str, WorldView] = field(default_factory=dict)
    points: dict[int, Points] = field(default_factory=dict)


def value_of(fact: Fact, seen: Seen, card: str) -> Value:
    """A fact's value; BadFact says what is wrong with it."""
    words = [word for word in fact if word not in PARAMETERS]
    if len(words) != 1 or words[0] not in FACTS:
        raise BadFact(f"a fact has one of {', '.join(FACTS)}, and this has {', '.join(words) or 'none'}")
    where = fact.get("card", card)
    if where not in seen.at:
        raise BadFact(f"there is no card {where}")
    return FACTS[words[0]](fact[words[0]], fact, seen, seen.at[where])


def key_of(name: str) -> str:
    """A pod's key."""
    return name if "/" in name else f"default/{name}"


def short(key: str) -> str:
    """A pod's name as lessons write it."""
    return key.removeprefix("default/")


def attempt_of(pod: str, fact: Fact, seen: Seen) -> Attempt:
    """The attempt that a fact is about."""
    attempts = [each for each in seen.end.journal.attempts if each.pod == key_of(pod)]
    number = int(fact.get("attempt", 1))
    if not 1 <= number <= len(attempts):
        raise BadFact(f"{pod} has {len(attempts)} attempts, and the fact asks for number {number}")
    return attempts[number - 1]


def _of_attempt(read: Callable[[Attempt], Value]) -> Callable[[Any, Fact, Seen, WorldView], Value]:
    return lambda pod, fact, seen, world: read(attempt_of(pod, fact, seen))


def _refused(pod: Any, fact: Fact, seen: Seen, world: WorldView) -> Value:
    refusals = attempt_of(pod, fact, seen).refusals
    return sum(count for reason, count in refusals if reason.startswith(fact["reason"]))


def _waited(pod: Any, fact: Fact, seen: Seen, world: WorldView) -> Value:
    now = attempt_of(pod, fact, seen)
    before = attempt_of(pod, {"attempt": int(fact.get("attempt", 1)) - 1}, seen)
    return (now.started - before.ended) / SECOND


def _points(pod: Any, fact: Fact, seen: Seen, world: WorldView) -> Value:
    return _scored(pod, fact, seen, fact.get("stage", "normalized"), fact["plugin"])


def _total(pod: Any, fact: Fact, seen: Seen, world: WorldView) -> Value:
    return _scored(pod, fact, seen, "weighted", "total")


def _scored(pod: str, fact: Fact, seen: Seen, stage: str, plugin: str) -> float:
    try:
        return seen.points[attempt_of(pod, fact, seen).number][stage][fact["node"]][plugin]
    except KeyError as missing:
        raise BadFact(f"{pod} has no points of that kind: {missing}") from None


def _tied(pod: Any, fact: Fact, seen: Seen, world: WorldView) -> Value:
    nodes = seen.points.get(attempt_of(pod, fact, seen).number, {}).get("weighted", {})
    totals = [points["total"] for points in nodes.values() if "total" in points]
    if not totals:
        raise BadFact(f"{pod} has no totals: at most one node was feasible")
    return totals.count(max(totals))


def _order(pods: Any, fact: Fact, seen: Seen, world: WorldView) -> Value:
    return tuple(sorted(pods, key=lambda pod: attempt_of(pod, {}, seen).number))


def _next_pod(_true: Any, fact: Fact, seen: Seen, world: WorldView) -> Value:
    later = [each for each in seen.end.journal.attempts if each.first_position > world.position]
    if not later:
        raise BadFact("no pod is popped after that card")
    return short(later[0].pod)


def _pods_on(node: Any, fact: Fact, seen: Seen, world: WorldView) -> Value:
    return sum(1 for pod in world.store.list("Pod") if pod["spec"].get("nodeName") == node)


def _pods_with(labels: Any, fact: Fact, seen: Seen, world: WorldView) -> Value:
    inside = {
        node["metadata"]["name"] for node in world.store.list("Node") if _has(node, fact.get("domain", {}))
    }
    running = [pod for pod in world.store.list("Pod") if "deletionTimestamp" not in pod["metadata"]]
    return sum(1 for pod in running if _has(pod, labels) and pod["spec"].get("nodeName") in inside)


def _has(manifest: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    own = manifest["metadata"].get("labels", {})
    return all(own.get(key) == value for key, value in labels.items())


def _fits(pod: Any, fact: Fact, seen: Seen, world: WorldView) -> Value:
    manifest = _object("Pod", pod, world)
    if manifest is None:
        raise BadFact(f"there is no pod {pod} at that card")
    room = seen.room(world, manifest)
    return dict(room.nodes).get(fact["node"], 0) if "node" in fact else room.count


def _object(kind: str, name: str, world: WorldView) -> Any:
    namespace, _slash, name = ("", "", name) if kind in NAMESPACELESS else key_of(name).partition("/")
    return world.store.get(kind, namespace, name)


def _field(path: Sequence[Any], fact: Fact, seen: Seen, world: WorldView) -> Value:
    kind, name, *keys = path
    value = _object(kind, name, world)
    try:
        for key in keys:
            value = value[key]
    except (KeyError, IndexError, TypeError):
        raise BadFact(f"{kind} {name} has no {'.'.join(map(str, keys))} there") from None
    if not isinstance(value, str | int | float | bool):
        raise BadFact(f"{kind} {name}: {'.'.join(map(str, keys))} is not a single value")
    return value


FACTS: dict[str, Callable[[Any, Fact, Seen, WorldView], Value]] = {
    "node_of": _of_attempt(lambda attempt: attempt.node),
    "outcome_of": _of_attempt(lambda attempt: attempt.outcome),
    "scheduled": _of_attempt(lambda attempt: attempt.outcome == "scheduled"),
    "nominated_for": _of_attempt(lambda attempt: attempt.nominated),
    "preempts": _of_attempt(lambda attempt: bool(attempt.nominated)),
    "victims_of": _of_attempt(lambda attempt: tuple(sorted(map(short, attempt.victims)))),
    "feasible_for": _of_attempt(lambda attempt: attempt.feasible),
    "evaluated_for": _of_attempt(lambda attempt: attempt.evaluated),
    "plugins_against": _of_attempt(lambda attempt: tuple(sorted(attempt.plugins))),
    "refused_for": _refused,
    "attempts_of": lambda pod, fact, seen, world: sum(
        each.pod == key_of(pod) for each in seen.end.journal.attempts
    ),
    "waited": _waited,
    "points": _points,
    "total_of": _total,
    "order": _order,
    "next_pod": _next_pod,
    "place_of": lambda pod, fact, seen, world: world.journal.place(key_of(pod)),
    "tied_for": _tied,
    "pods_on": _pods_on,
    "pods_with": _pods_with,
    "fits": _fits,
    "exists": lambda path, fact, seen, world: _object(path[0], path[1], world) is not None,
    "field": _field,
    "seconds": lambda _true, fact, seen, world: world.now / SECOND,
}
