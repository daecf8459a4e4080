"""Meanings of wrong numbers: the mistake behind each, computed by the engine like the right number."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from playground.lessons.facts import FACTS, BadFact, Fact, LessonObservations, Value, attempt_of, value_of
from playground.lessons.format import Mistake, Plan, Question
from playground.lessons.named import key_of, object_of
from playground.lessons.nodes import used_of
from scheduler_core.world.readonly import WorldView, parse_duration, pod_requests

Found = Iterator[tuple[str, float, Mapping[str, str]]]
RESOURCES = ("cpu", "memory", "ephemeral-storage", "pods")
# kube's default durations, by the names that lessons give them, for worlds in which this command is given.
DEFAULTS = {
    b"StartScheduler": {"leaseDuration": 15, "renewDeadline": 10, "retryPeriod": 2},
    b"SetKubelet": {"node-monitor-grace-period": 50},
}


def find_meanings(
    card: str, question: Question, key: Value, seen: LessonObservations, plan: Plan
) -> tuple[Mistake, ...]:
    """Return the meanings of wrong numbers, one for each number: the most significant if several lead to the same."""
    if question.kind != "number" or isinstance(key, str | tuple):
        return ()
    found: dict[float, Mistake] = {}
    word = next(word for word in question.answer if word in FACTS)
    for how, value, names in (
        *_misread(word, question.answer, seen, card, key),
        *_displace(word, question, seen, card),
    ):
        if value >= 0 and abs(value - key) > question.tolerance:
            found.setdefault(value, Mistake(value, how, dict(names)))
    if word == "elapsed":
        for name, value in _find_durations(plan):
            if abs(value - key) > question.tolerance:
                found.setdefault(value, Mistake(value, "duration", {"name": name}))
    return tuple(found.values())


def _misread(word: str, fact: Fact, seen: LessonObservations, card: str, key: float) -> Found:
    """Yield mistakes about the fact's own count."""
    world = seen.at[fact.get("card", card)]
    if word in ("feasible_for", "refused_for", "evaluated_for", "tied_for"):
        yield from _misread_nodes(word, fact, seen, card)
    elif word == "fits":
        yield from _misread_room(fact, world, key)
    elif word == "pods_on" and (row := world.schedulers[0].cache.table().row(fact[word])) is not None:
        yield "cache", len(world.schedulers[0].cache.table().pods[row]), {}
    elif word == "attempts_of":
        ended = [each.outcome for each in seen.end.journal.attempts if each.pod == key_of(fact[word])]
        yield "failed", sum(outcome != "scheduled" for outcome in ended) or -1, {}


def _displace(word: str, question: Question, seen: LessonObservations, card: str) -> Found:
    """Yield the values of the same fact elsewhere: now, on all nodes, at another stage or node, or in another attempt."""
    fact = question.answer
    others: list[tuple[str, dict[str, Any]]] = [("now", {"card": card})] if fact.get("card", card) != card else []
    others += [("everywhere", {"domain": {}})] if "domain" in fact else []
    if word == "points":
        others += [(stage, {"stage": stage}) for stage in ("raw", "normalized", "weighted")]
        others += [("node", {"node": node["metadata"]["name"]}) for node in seen.end.store.list("Node")]
    if word in ("feasible_for", "backoff_of", "waited"):
        others += [("attempt", {"attempt": each}) for each in range(1, 9) if each != fact.get("attempt", 1)]
    for how, change in others:
        try:
            value = value_of({**fact, **change}, seen, card)
        except BadFact:
            continue
        if isinstance(value, int | float):
            yield how, value, {name: str(each) for name, each in change.items()}


def _misread_nodes(word: str, fact: Fact, seen: LessonObservations, card: str) -> Found:
    attempt = attempt_of(fact[word], fact, seen)
    refused = seen.refused.get(attempt.number, {})
    if word == "feasible_for":
        lacking = [node for node, text in refused.items() if text.startswith("NodeResourcesFit: Insufficient")]
        worlds = (seen.end, *seen.at.values())
        manifest = next((found for world in worlds if (found := object_of("Pod", attempt.pod, world))), None)
        if lacking and manifest is not None:
            yield from _misread_requests(manifest["spec"], attempt.feasible, lacking, seen.at[card])
        for plugin, count in Counter(text.partition(":")[0] for text in refused.values()).items():
            yield "without", attempt.feasible + count, {"plugin": plugin}
        if not refused:
            return
        yield "looked", attempt.evaluated, {}
    elif word == "refused_for":
        yield from (("reason", count, {"reason": reason}) for reason, count in attempt.refusals)
    if word != "evaluated_for":
        yield "refused", len(refused) or -1, {}
    yield "feasible", attempt.feasible, {}
    yield "nodes", len(seen.at[card].store.list("Node")), {}


def _misread_requests(spec: Mapping[str, Any], feasible: int, nodes: Iterable[str], world: WorldView) -> Found:
    """Yield the number of nodes on which a pod seems to fit if parts of its own or others' requests are forgotten."""
    amounts = [_list_amounts(node, world) for node in nodes]
    if any(_count(spec, each) for each in amounts):
        return  # the nodes have changed between the question and the attempt
    less = {"overhead": {}, "initContainers": [], "containers": spec["containers"][:1]}
    for field, rest in less.items():
        yield field, feasible + sum(_count({**spec, field: rest}, each) >= 1 for each in amounts), {}
    yield "allocatable", feasible + sum(_count(spec, each, whole=True) >= 1 for each in amounts), {}


def _misread_room(fact: Fact, world: WorldView, key: float) -> Found:
    spec = (object_of("Pod", fact["fits"], world) or {}).get("spec", {"containers": []})
    nodes = {
        node["metadata"]["name"]: _list_amounts(node["metadata"]["name"], world) for node in world.store.list("Node")
    }
    each_node = nodes.values()
    if sum(_count(spec, each) for each in each_node) != key:
        return  # something else than requests decides
    names = [name for name in RESOURCES[:3] if all(name in each for each in each_node)]
    together = {name: tuple(map(sum, zip(*(each[name] for each in each_node), strict=True))) for name in names}
    yield "pieces", _count(spec, together), {}
    yield "limit", sum(_count(spec, {name: each[name] for name in names}) for each in each_node), {}
    yield "whole", sum(_count(spec, each, whole=True) for each in each_node), {}
    yield from (("alone", _count(spec, each), {"node": node}) for node, each in nodes.items() if len(nodes) > 1)


def _list_amounts(node: str, world: WorldView) -> Mapping[str, tuple[int, ...]]:
    """The requested and the allocatable amount of each resource of a node, and of its pods."""
    table, manifest = world.schedulers[0].cache.table(), object_of("Node", node, world)
    found = {name: each for name in RESOURCES[:3] if (each := used_of(node, name, world)) is not None}
    if manifest is not None and (row := table.row(node)) is not None:
        found["pods"] = (len(table.pods[row]), int(manifest["status"]["allocatable"].get("pods", 0)))
    return found


def _count(spec: Mapping[str, Any], amounts: Mapping[str, tuple[int, ...]], whole: bool = False) -> float:
    """Count the pods like this one that fit into the free amounts, or into the `whole`."""
    requests = pod_requests(spec)
    asked = {name: 1 if name == "pods" else requests.get(name) for name in amounts}
    free = {name: has - (0 if whole else used) for name, (used, has) in amounts.items()}
    return min((free[name] // asked[name] for name in amounts if asked[name]), default=0)


def _find_durations(plan: Plan) -> Iterator[tuple[str, float]]:
    """Yield the durations of a lesson's world by name, in seconds: its own, and kube's that its commands involve."""
    pending: list[Any] = [plan.settings, plan.configuration, plan.objects, plan.commands]
    while pending:
        each = pending.pop()
        pending += each.values() if isinstance(each, Mapping) else each if isinstance(each, list | tuple) else ()
        for name, value in each.items() if isinstance(each, Mapping) else ():
            if name.lower().endswith(("duration", "deadline", "period", "seconds")) and isinstance(value, int | str):
                yield name, value if isinstance(value, int) else parse_duration(value) / 1_000_000_000
    text = msgspec.json.encode(plan)
    yield from (item for command, defaults in DEFAULTS.items() if command in text for item in defaults.items())
