"""Facts beside the reasons, as sentences, and the facts that belong to the answer itself."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from pathlib import Path

from playground.common.catalogs import read_yaml
from playground.presenters.scene import short
from playground.presenters.why.reasons import format_resource_amount
from playground.presenters.words import SECOND, Message, amount, clock, duration, exactly, list_nodes, message
from scheduler_core.analysis.explain import TIMES, Explanation, Fact, State

# The sentences of facts by code, and the parts of a sum.
WORDS, MEANINGS = Path(__file__).with_suffix(".yaml"), Path(__file__).with_name("meanings.yaml")
_AMOUNTS = ("allocated", "amount", "freed", "from", "short", "to")
_SPANS = ("grace", "left", "seconds")
_PODS = ("holder", "pod")


# Facts that belong to the answer itself, most important first. Those of the second block are about the pod's place; they don't
# matter until the pod runs there.
_FIRST, PLACEMENT, _LAST = (
    block.split() for block in Path(__file__).with_name("headlines.txt").read_text(encoding="utf-8").split("\n\n")
)
HEADLINES = (*_FIRST, *PLACEMENT, *_LAST)
MOST, MOST_OF_KIND = 3, 2


def describe_fact(fact: Fact) -> Message:
    values = {name: _format_value(name, value, fact.values) for name, value in fact.values.items()}
    means = fact.values.get("meaning")
    text = read_yaml(WORDS)["facts"][fact.code] if means is None else read_yaml(MEANINGS)["meanings"][means]
    return message(text, **values)


def list_headlines(explanation: Explanation) -> Iterator[Message]:
    """Yield the facts that belong to the answer itself, most important first."""
    chosen: list[Fact] = []
    placed = PLACEMENT if explanation.state is State.NOT_RUNNING else []
    for code in (each for each in HEADLINES if each not in placed):
        facts = [fact for fact in explanation.facts if fact.code == code and not _is_plain(fact)]
        facts = [] if code == "IsItsPartner" and any(each.code == "PartnersAreOf" for each in chosen) else facts
        known = {(fact.code, *map(fact.values.get, _DISTINCT)): fact for fact in facts}
        chosen += [*known.values()][: 1 if code in _ONCE else MOST_OF_KIND]
    yield from (describe_fact(fact) for fact in chosen[:MOST])


_DISTINCT = ("pod", "node", "meaning", "name", "container")
_ONCE = ("HoldsCapacity", "HoldsSlot", "HoldsPort", "Tolerates", "DaemonLeavesOut")


def _is_plain(fact: Fact) -> bool:
    """Return whether a fact repeats the reasons: the request of a single container."""
    if fact.code == "NoLowerPriority":
        return int(fact.values["priority"]) == 0
    parts: list[Mapping[str, object]] = fact.values["parts"] if fact.code == "Containers" else []
    return [part["kind"] for part in parts] == ["container"]


def join(sentences: Iterable[Message]) -> Message:
    return reduce(lambda first, second: message("%(first)s %(second)s", first=first, second=second), sentences)


def _format_value(name: str, value: object, values: Mapping[str, object]) -> object:
    if name in _AMOUNTS and isinstance(value, int):
        return format_resource_amount(str(values.get("resource") or ""), value)
    if name in TIMES and isinstance(value, int):
        return format_moment(value) if value >= 0 else message("%(span)s ago", span=format_span(-value))
    if name in _SPANS and isinstance(value, int):
        return format_span(value)
    if name in _PODS and isinstance(value, str):
        return short(value)
    if name == "parts" and isinstance(value, list):
        return _format_parts(value, str(values["resource"]))
    if name == "other" and values.keys() & {"otherScore", "otherPoints"}:
        return list_nodes([str(value)])
    if name == "nodes" and isinstance(value, list):
        shown = list_nodes(value)
        return {**shown, "text": shown["text"] + _count_more(name, value, values)}
    if isinstance(value, list):
        return exactly(_list(name, value, values))
    return value


def format_moment(at: int | str) -> str:
    """Format a time of a world's clock, or of its calendar as in manifests."""
    if isinstance(at, str):
        return at
    return clock(at) if at >= 0 else f"-{format_span(-at)}"


def format_span(ns: int) -> str:
    """Format a duration in its largest suitable unit: 48 h, 10 min, 30 s."""
    for unit, size in (("h", 3600), ("min", 60)):
        if ns >= 2 * size * SECOND:
            return f"{round(ns / size / SECOND)} {unit}"
    return duration(ns)


def _list(name: str, items: list[object], values: Mapping[str, object]) -> str:
    texts = [short(str(each)) if name in ("holders", "pods") else str(each) for each in items]
    return ", ".join(texts) + _count_more(name, items, values)


def _count_more(name: str, items: Sequence[object], values: Mapping[str, object]) -> str:
    count = values.get("count")
    counted = "pods" if "pods" in values else "nodes"
    more = count - len(items) if isinstance(count, int) and name == counted else 0
    return f" +{more}" if more > 0 else ""


def _format_parts(parts: list[Mapping[str, object]], resource: str) -> Message:
    words = read_yaml(WORDS)["parts"]
    texts = [
        message(words[str(part["kind"])], amount=amount(resource, int(str(part["amount"]))), name=part["name"])
        for part in parts
    ]
    return reduce(lambda rest, first: message("%(first)s + %(rest)s", first=first, rest=rest), texts[-2::-1], texts[-1])
