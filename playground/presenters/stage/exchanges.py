"""What extenders were asked about a pod, and what they answered: request and answer as JSON, the error, the effect."""

import json
from typing import Any, TypedDict

from playground.presenters.amounts import duration
from playground.presenters.scene import scheduler_of, without_scheme
from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.world.readonly import Exchange, Extender, SchedulingCycleView, Verb, WorldView

MOST = 20  # calls of an attempt that are shown
LONGEST = 6_000  # characters of a request or an answer
NAMED = 6  # nodes


def list_serving_extenders(sim: WorldView, cycle: SchedulingCycleView, verb: Verb) -> list[Extender]:
    """The extenders that are asked for something about the cycle's pod."""
    return [extender for extender in scheduler_of(sim).extenders if extender.serves(verb, cycle.pod)]


def exchanges(sim: WorldView, cycle: SchedulingCycleView) -> "list[ExchangeRow]":
    """The calls of a cycle and of its binding, in order."""
    binding = scheduler_of(sim).bindings.get(cycle.number)
    found: list[Exchange] = []
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


def _exchange(exchange: Exchange) -> ExchangeRow:
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


def _effect(exchange: Exchange) -> Message | None:
    """Summarize the effect of an exchange."""
    effect = exchange.effect
    if effect.kept is not None:
        return message(gettext_noop("keeps %(k)s of %(n)s nodes"), k=len(effect.kept), n=len(exchange.request.nodes))
    if effect.scores is not None:
        scores = ", ".join(f"{node} {score}" for node, score in effect.scores[:NAMED])
        return message(gettext_noop("adds to the totals: %(scores)s"), scores=scores or "–")
    if effect.candidates is not None:
        nodes = ", ".join(node for node, _, _ in effect.candidates[:NAMED])
        return message(gettext_noop("leaves these candidates: %(nodes)s"), nodes=nodes or "–")
    if effect.bound:
        return message(gettext_noop("has bound the pod"))
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
