"""The group stage: the placements of a pod group side by side, the members tried in each, and the missing members of the quorum."""

import json
from typing import Any, TypedDict

from playground.presenters.look import Look
from playground.presenters.panel import Stage
from playground.presenters.scene import scheduler_of, short, without_scheme
from playground.presenters.words import Message, duration, gettext_noop, message
from scheduler_core.world import readonly

MOST = 20  # calls of an attempt shown
LONGEST = 6_000  # characters of a request or an answer
NAMED = 6  # nodes


def list_serving_extenders(
    sim: readonly.WorldView, cycle: readonly.SchedulingCycleView, verb: readonly.Verb
) -> list[readonly.Extender]:
    """Return the extenders that handle a verb for the cycle's pod."""
    return [extender for extender in scheduler_of(sim).extenders if extender.serves(verb, cycle.pod)]


def exchanges(sim: readonly.WorldView, cycle: readonly.SchedulingCycleView) -> "list[ExchangeRow]":
    """Return the calls of a cycle and of its binding, in order."""
    binding = scheduler_of(sim).bindings.get(cycle.number)
    found: list[readonly.Exchange] = []
    for each in (cycle, binding):
        if each is not None and each.extension is not None:
            found += each.extension.exchanges
    return [_exchange(exchange) for exchange in found[:MOST]]


class ExchangeRow(TypedDict):
    verb: str
    url: str
    name: str
    nominated: bool
    request: str
    status: int | None
    answer: str
    took: str
    error: str
    ignored: bool
    effect: Message | None


def _exchange(exchange: readonly.Exchange) -> ExchangeRow:
    answer = exchange.answer
    return {
        "verb": exchange.verb.value,
        "url": exchange.url,
        "name": without_scheme(exchange.extender.url_prefix),
        "nominated": exchange.nominated,
        "request": _cut(_pretty(exchange.request_json)),
        "status": None if answer is None else answer.status,
        "answer": "" if answer is None else _cut(_readable(answer.body)),
        "took": "" if answer is None else duration(answer.latency),
        "error": exchange.error,
        "ignored": exchange.effect.ignored,
        "effect": _effect(exchange),
    }


def _effect(exchange: readonly.Exchange) -> Message | None:
    effect = exchange.effect
    if effect.kept is not None:
        return message("keeps %(k)s of %(n)s nodes", k=len(effect.kept), n=len(exchange.request.nodes))
    if effect.scores is not None:
        scores = ", ".join(f"{node} {score}" for node, score in effect.scores[:NAMED])
        return message("adds to the totals: %(scores)s", scores=scores or "–")
    if effect.candidates is not None:
        nodes = ", ".join(node for node, _, _ in effect.candidates[:NAMED])
        return message("leaves these candidates: %(nodes)s", nodes=nodes or "–")
    if effect.bound:
        return message("has bound the pod")
    return None


def _readable(body: str) -> str:
    try:
        return _pretty(json.loads(body))
    except ValueError:
        return body


def _pretty(data: Any) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}\n…"


NODES = 6


class TriedMember(TypedDict):
    """`state`: placed, refused, trying, or untried. `text` is kube's. `own`: the pod shown on the page."""

    key: str
    name: str
    own: bool
    state: str
    node: str
    text: str


class TriedPlacement(TypedDict):
    """`state`: feasible, infeasible, trying, or open. `slots` are the members that the quorum needs, true if placed."""

    name: str
    nodes: list[str]
    left: int
    state: str
    chosen: bool
    text: str
    placed: int
    missing: int
    slots: list[bool]
    members: list[TriedMember]
    scores: list[tuple[str, int]]
    total: int


class GroupBody(TypedDict):
    group: str
    needed: int
    before: int
    outcome: str
    text: str
    victims: list[str]
    placements: list[TriedPlacement]


def present(sim: readonly.WorldView, look: Look, key: str) -> Stage[GroupBody | None, Any]:
    """Return the group whose cycle runs, or ran last."""
    cycle = scheduler_of(sim).group
    if cycle is None:
        return Stage(message("Which pod group is placed?"), None)
    needed = readonly.min_count(cycle.group)
    one, several = (
        gettext_noop("Where does a pod of %(group)s fit?"),
        gettext_noop("Where do at least %(needed)s pods of %(group)s fit at once?"),
    )
    name = cycle.queued.pod.name
    detail = gettext_noop("Placements: %(placements)s. Members in the queue: %(members)s")
    return Stage(
        message(one, group=name) if needed == 1 else message(several, needed=needed, group=name),
        {
            "group": cycle.queued.pod.name,
            "needed": needed,
            "before": cycle.before,
            "outcome": _outcome(cycle),
            "text": cycle.status.message,
            "victims": [short(victim) for victim in cycle.victims],
            "placements": [_placement(cycle, i, needed, key) for i in range(len(cycle.trials))],
        },
        detail=message(detail, placements=len(cycle.trials), members=len(cycle.queued.members)),
    )


def _outcome(cycle: readonly.GroupCycle) -> str:
    if cycle.stage.value == "trying":
        return "trying"
    if cycle.status.ok:
        return "placed"
    return "preempts" if cycle.preempts else "refused"


def _placement(cycle: readonly.GroupCycle, place: int, needed: int, key: str) -> TriedPlacement:
    trial = cycle.trials[place]
    trying = cycle.stage.value == "trying" and place == cycle.at
    state = "trying" if trying else "open" if not trial.quorum else "feasible" if trial.status.ok else "infeasible"
    placed = sum(each.found for each in trial.tried)
    nodes = list(trial.nodes or ())
    return {
        "name": trial.name,
        "nodes": nodes[:NODES],
        "left": max(len(nodes) - NODES, 0),
        "state": state,
        "chosen": cycle.chosen == place and cycle.status.ok,
        "text": trial.quorum[-1].message if trial.quorum else "",
        "placed": placed,
        "missing": max(needed - placed - cycle.before, 0),
        "slots": [i < placed + cycle.before for i in range(needed)],
        "members": _list_members(cycle, trial, trying, key),
        "scores": [(each.plugin, each.score) for each in trial.scores],
        "total": trial.total,
    }


def _list_members(cycle: readonly.GroupCycle, trial: readonly.Trial, trying: bool, key: str) -> list[TriedMember]:
    members: list[TriedMember] = []
    for i, queued in enumerate(cycle.queued.members):
        node, text, state = "", "", "untried"
        if i < len(trial.tried):
            node, text = trial.tried[i].node, trial.tried[i].text
            state = "placed" if node else "refused"
        elif trying and i == len(trial.tried):
            state = "trying"
        own, name = queued.key == key, short(queued.key)
        members.append({"key": queued.key, "name": name, "own": own, "state": state, "node": node, "text": text})
    return members
