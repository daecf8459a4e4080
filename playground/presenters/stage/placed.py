"""Placed: why a pod is on its node, by the plugins' present view: the filters' results, differing scores, the decision, and traps."""

from typing import Any, TypedDict

from playground.presenters.look import Look
from playground.presenters.panel import Stage
from playground.presenters.scene import cycle_of, last_attempt, scheduler_of, short
from playground.presenters.stage.binding import CacheBelief, believes
from playground.presenters.story.goals import format_deciding, split_fields
from playground.presenters.why.facts import describe_fact
from playground.presenters.why.panel import SURPRISING, get_explanation
from playground.presenters.why.reasons import about
from playground.presenters.why.sentence import sentence
from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.analysis.explain import Explanation, Fact, State
from scheduler_core.world.readonly import Point, WorldView

ROWS, FACTS, NODES = 6, 6, 8
_LEADS = gettext_noop("Yes: %(node)s is still feasible and leads by %(points)s points.")
_ONLY = gettext_noop("Yes: %(node)s is still the only feasible node.")
_TIES = gettext_noop("Perhaps: the scheduler picks one at random among nodes with the same score (%(count)s more).")
_OTHER = gettext_noop("No: %(other)s would score %(otherScore)s now, and %(node)s %(score)s.")
_DECIDED = ("DecidingPlugin", "AgainstIt", "OnlyNode", "Tie", "BypassedScheduler", "IsStatic")
_SHOWN = (*_DECIDED, "FiltersLeft", "HighestScore", "OtherScoresHigher")


class RemainingNodes(TypedDict):
    plugin: str
    left: int
    percent: int
    why: Message
    names: list[str]
    more: int


class Part(TypedDict):
    plugin: str
    points: int
    shade: int
    percent: float


class Total(TypedDict):
    node: str
    here: bool
    total: int
    parts: list[Part]


class PlacedBody(TypedDict):
    """`at` is the step shown, `attempt` the step in which the pod's attempt ended. `cache` is evidence if no scores decide."""

    key: str
    pod: str
    node: str
    at: int
    attempt: int | None
    said: Message | None
    filters: list[RemainingNodes]
    left: int
    nodes: int
    totals: list[Total]
    same: int
    decided: list[Message]
    again: Message | None
    traps: list[Message]
    notes: list[Message]
    cache: CacheBelief | None
    spec: list[str]


def present(sim: WorldView, _look: Look, key: str) -> Stage[PlacedBody, Any]:
    """Return the place of a pod. The stage of a deleted pod reports that."""
    found, attempt = get_explanation(sim, key) or Explanation(key, State.GONE), last_attempt(sim, key)
    facts, node = {fact.code: fact for fact in found.facts}, found.node
    rest = [fact for fact in found.facts if fact.code not in _SHOWN]
    decided = [describe_fact(fact) for fact in found.facts if fact.code in _DECIDED]
    pod, (totals, same) = sim.store.get("Pod", *key.partition("/")[::2]), _compare(facts.get("HighestScore"))
    body: PlacedBody = {
        "key": key,
        "pod": short(key),
        "node": node,
        "at": sim.position,
        "attempt": attempt.last_position if attempt is not None and attempt.node == node else None,
        "said": None if decided or found.total else sentence(found),
        "filters": _list_filters(sim, found),
        "left": found.total - sum(each.count for each in found.reasons),
        "nodes": found.total,
        "totals": totals,
        "same": same,
        "decided": decided,
        "again": _foresee(facts, node),
        "traps": [describe_fact(fact) for fact in rest if fact.code in SURPRISING][:FACTS],
        "notes": [describe_fact(fact) for fact in rest if fact.code not in SURPRISING][:FACTS],
        "cache": None if totals else believes(sim, scheduler_of(sim), node),
        "spec": [] if pod is None else split_fields(format_deciding({**pod, "spec": {**pod["spec"], "nodeName": ""}})),
    }
    asked = message("Why does %(pod)s run on %(node)s?", pod=short(key), node=node or "…")
    cycle = cycle_of(sim)
    return Stage(asked, body, map=cycle is not None and cycle.pod.key == key)


def _list_filters(sim: WorldView, found: Explanation) -> list[RemainingNodes]:
    """Return the plugins that refuse other nodes in the order of Filter, each with the nodes left after it."""
    pod = sim.store.pod_at(found.pod)
    profile = scheduler_of(sim).profiles.get(pod.spec.scheduler_name) if pod is not None else None
    order = {plugin.name: at for at, plugin in enumerate(profile.at(Point.FILTER) if profile is not None else ())}
    left, rows = found.total, list[RemainingNodes]()
    for each in sorted(found.reasons, key=lambda one: order.get(one.plugin, len(order)))[:ROWS]:
        left = max(left - each.count, 0)
        why = about(each, short(found.pod), found.total)
        named = each.nodes[:NODES] if each.count > 2 else each.nodes[:0]  # the sentence names one or two
        rows.append(
            {"plugin": each.plugin, "left": left, "percent": 100 * left // max(found.total, 1), "why": why,
             "names": list(named), "more": max(each.count - NODES, 0)}
        )  # fmt: skip
    return rows


def _compare(highest: Fact | None) -> tuple[list[Total], int]:
    """Return the points of the plugins that differ between the node and the second best, and the sum of equal points."""
    if highest is None:
        return [], 0
    values = highest.values
    differ = [each for each in values["scores"] if each["points"] != each["otherPoints"]]
    same = sum(each["points"] for each in values["scores"] if each not in differ)
    most = max(values["score"] - same, 1)
    rows = list[Total]()
    for node, score, field in (("node", "score", "points"), ("other", "otherScore", "otherPoints")):
        parts: list[Part] = [
            {"plugin": each["plugin"].removeprefix("NodeResources"), "points": each[field], "shade": at % 7 + 1,
             "percent": 100 * each[field] / most}
            for at, each in enumerate(differ) if each[field] > 0
        ]  # fmt: skip
        rows.append({"node": values[node], "here": node == "node", "total": values[score], "parts": parts})
    return rows, same


def _foresee(facts: dict[str, Fact], node: str) -> Message | None:
    """Return whether the pod would be placed there again, or None."""
    if facts.keys() & {"RuleNotAsked", "RuleOfNewPods"}:
        return message("No: a plugin would refuse %(node)s now.", node=node)
    if highest := facts.get("HighestScore"):
        return message(_LEADS, node=node, points=highest.values["score"] - highest.values["otherScore"])
    for code, text in (("OnlyNode", _ONLY), ("Tie", _TIES), ("OtherScoresHigher", _OTHER)):
        if fact := facts.get(code):
            return message(text, **{name: value for name, value in fact.values.items() if f"%({name})s" in text})
    return None
