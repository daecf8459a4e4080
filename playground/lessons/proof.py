"""The proof that a card describes its own step: its plugins, objects, and numbers are visible there."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from playground.lessons.evidence import is_known, refusals
from playground.lessons.facts import LessonObservations, signals_of
from playground.lessons.format import Card, Lesson
from playground.lessons.named import key_of
from playground.lessons.nodes import amount, used_of
from playground.lessons.play import Playthrough
from playground.lessons.texts import fill_placeholders, placeholders
from scheduler_core.scheduler.plugins import NAMES
from scheduler_core.world.readonly import BadQuantity, WorldView, parse_quantity

OF_STAGE = {
    "prefilter": ("PreFilter",),
    "filter": ("Filter", "PreFilter"),
    "prescore": ("PreScore",),
    "score": ("Score", "NormalizeScore"),
    "pending": ("PreFilter", "Filter", "PostFilter"),
    "preemption": ("PostFilter",),
    "binding": ("Reserve", "Permit", "WaitOnPermit", "PreBind", "Bind", "PostBind", "Unreserve"),
}
# Settings of kube's components by their names, as they are unless a world sets others.
DEFAULTS = {"leaseDuration": "15s", "renewDeadline": "10s", "retryPeriod": "2s", "node-monitor-grace-period": "50s"}
CONSTANTS = frozenset({"0", "100", "429", "500"})  # the bounds of NormalizeScore; what the Eviction API answers
_CODE = re.compile(r"`([^`]+)`")
_PARTS = re.compile(r"[\s:=,;\[\]{}()\"'/]+")
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")
_NUMBER = re.compile(r"(?<![\w.-])\d+(?:\.\d+)?(?:m|Ki|Mi|Gi|s)?(?![\w-])", re.ASCII)
_UNREAD = re.compile(r"^(uid|resourceVersion|.*Timestamp|.*Time)$")  # fields that no lesson counts
_NOTE = re.compile(r"\([A-Z][^()]*\.\)|（[^（）]*。）")  # a comparison with another text, in parentheses


@dataclass(frozen=True)
class _Sight:
    """The contents of the screen at a card: names and numbers as written, and messages in full."""

    words: frozenset[str]
    amounts: frozenset[float]
    messages: str

    def has_number(self, text: str) -> bool:
        return text in self.words or text in CONSTANTS or _amount(text.removesuffix("s")) in self.amounts


def find_unshown(lesson: Lesson, played: Playthrough) -> Iterator[str]:
    """Yield a sentence for each plugin, name, and number of a card's text that its step does not show."""
    assert played.seen is not None
    drawn = {name: value for name, value in lesson.drawn.items() if isinstance(value, str)}
    offered: list[Any] = [lesson.plan.settings, lesson.plan.configuration, *lesson.plan.commands]
    pods = {part for move in played.seen.end.journal.moves for part in _PARTS.split(move.pod)}
    for card in lesson.plan.cards:
        offered.append(msgspec.to_builtins(card.do))
        sight = _look(played.seen.at[card.id], played.seen, card.id, offered)
        for language, words in lesson.words.items():
            if (said := words.cards.get(card.id)) is None:
                continue
            yield from (
                f"{language}.yaml: card {card.id}: `{part}` of its question is not on the stage at this step"
                for code in _CODE.findall(fill_placeholders(said.ask, drawn))
                for part in _parts(code)
                if part not in pods and not _has(part, sight)
            )
            text = _NOTE.sub("", said.text)
            for what in _in_text(lesson, card, fill_placeholders(text, drawn), played, sight):
                yield f"{language}.yaml: card {card.id}: {what}"


def _in_text(lesson: Lesson, card: Card, text: str, played: Playthrough, sight: _Sight) -> Iterator[str]:
    assert played.seen is not None
    named = {name: played.facts[name] for name in placeholders(text) & lesson.plan.facts.keys()}
    for name in sorted(named):
        if not is_known(lesson.plan.facts[name], named[name], card.id, played.seen, played.positions):
            yield f"{{{name}}} is not known yet at this step"
    for plugin in sorted({*NAMES, *(ran.plugin for ran in played.seen.ran)} - {""}):
        if re.search(rf"\b{plugin}\b", text) and (why := _find_gap(card, plugin, played, sight)):
            yield why
    names = {name: value for name, value in named.items() if isinstance(value, str) and not value[:1].isdigit()}
    text = fill_placeholders(text, names)
    text = re.sub(r"\{[a-z_0-9]+\}", "…", text)
    for code in _CODE.findall(text):
        if code not in sight.messages:
            yield from (f"`{part}` is not on the stage at this step" for part in _parts(code) if not _has(part, sight))
    for number in _NUMBER.findall(_CODE.sub("…", text)):
        if not sight.has_number(number):
            yield f"the number {number} is not on the stage at this step"


def _parts(code: str) -> Sequence[str]:
    """The names and amounts of a piece of code; of a formula, the numbers alone."""
    parts = [part.rstrip(".") for part in _PARTS.split(code)]
    formula = re.search(r" [-/*+] ", code) is not None
    return [part for part in parts if _NAME.fullmatch(part) and (not formula or part[:1].isdigit())]


def _has(part: str, sight: _Sight) -> bool:
    if part[0].isdigit():
        return sight.has_number(part)
    return part in sight.words or ("." in part and all(each in sight.words for each in part.split(".")))


def _find_gap(card: Card, plugin: str, played: Playthrough, sight: _Sight) -> str:
    """Return the reason why a plugin named in the text is not visible; "" if its record is on the stage."""
    assert played.seen is not None
    here, pod = played.positions[card.id], _pod_of(card)
    records = [ran for ran in played.seen.ran if ran.plugin == plugin and pod in ("", ran.pod)]
    done = [ran for ran in records if ran.position <= here]
    if not done:
        return "" if plugin in sight.words else f"{plugin} has no record yet at this step"
    points = OF_STAGE.get(card.stage, ())
    if points and not any(ran.point in points for ran in done):
        return f"{plugin} has no record on the stage {card.stage}"
    point = next((ran.point for ran in reversed(played.seen.ran) if ran.position == here and pod in ("", ran.pod)), "")
    ahead = [ran for ran in records if ran.position > here and ran.point == point]
    begun = _begin(played.seen, pod, here)
    if point and ahead and not any(ran.point == point and ran.position >= begun for ran in done):
        return f"{plugin} is still ahead in {point}: its record comes at step {ahead[0].position}, this card at step {here}"
    return ""


def _pod_of(card: Card) -> str:
    """Return the card's pod: its own, or that of its condition, or ""."""
    name = card.pod or card.when.get("pod", "")
    return key_of(str(name)) if name else ""


def _begin(seen: LessonObservations, pod: str, here: int) -> int:
    """Return the first step of the attempt at a position."""
    attempts = [each.first_position for each in seen.end.journal.attempts if pod in ("", each.pod)]
    return max((first for first in attempts if first <= here), default=0)


def _look(world: WorldView, seen: LessonObservations, card: str, offered: Sequence[Any]) -> _Sight:
    words: set[str] = set()
    for kind in world.store.kinds():
        objects = world.store.list(kind)
        words |= {kind, str(len(objects))}
        _gather(objects, words)
    attempts = world.journal.attempts
    said = [attempt.message for attempt in attempts] + [event.message for event in world.store.events]
    said += [text for attempt in attempts for text in seen.refused.get(attempt.number, {}).values()]
    for scheduler in world.schedulers:
        words |= {
            scheduler.name,
            *(plugin for pod in scheduler.queue.gated_pods.values() for plugin in pod.unschedulable_plugins),
        }
        said += refusals(scheduler.cycle).values() if scheduler.cycle is not None else ()
    _gather([*offered, world.surroundings.inputs.rules, world.surroundings.inputs.entries, seen.board.get(card)], words)
    _gather(DEFAULTS, words)
    for node in world.store.list("Node"):
        name = node["metadata"]["name"]
        _gather(signals_of(world, name), words)
        for resource in node.get("status", {}).get("allocatable", {}):
            if found := used_of(name, resource, world):
                words |= {amount(each, resource) for each in (found[0], found[1] - found[0])}
    for attempt in attempts:
        words |= {str(attempt.evaluated), str(attempt.feasible), *(str(count) for _reason, count in attempt.refusals)}
    words |= {f"{world.now / 1e9:g}"}
    for move in world.journal.moves:
        words |= {move.place, *move.why, *_PARTS.split(move.pod)}
    amounts = {_amount(word.removesuffix("s")) for word in words}
    nodes = [pod["spec"].get("nodeName", "") for pod in world.store.list("Pod")]
    amounts |= {float(nodes.count(node)) for node in nodes}
    return _Sight(frozenset(words), frozenset(each for each in amounts if each is not None), "\n".join(said))


def _gather(value: Any, words: set[str]) -> None:
    """Collect the names and scalars of nested data, texts also by their parts."""
    if isinstance(value, Mapping):
        for name, each in value.items():
            _gather([name, "" if _UNREAD.search(str(name)) else each], words)
    elif isinstance(value, list | tuple):
        for each in value:
            _gather(each, words)
    elif value is not None:
        words |= {str(value), *_PARTS.split(str(value))}


def _amount(text: str) -> float | None:
    try:
        return float(parse_quantity(text)) if text[:1].isdigit() else None
    except BadQuantity:
        return None
