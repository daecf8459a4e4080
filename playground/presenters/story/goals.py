"""The goals of a lesson's task: what is wanted, whether it is so, and what stands in its way."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypedDict

from playground.lessons import Card, Played
from playground.lessons.conditions import Condition, holds
from playground.lessons.facts import Value
from playground.lessons.named import key_of, object_of
from playground.presenters.scene import last_attempt
from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.world.readonly import WorldView

# Hints for a wrong answer, made from that answer: what the engine says of it, and never the answer itself.


def list_hints(card: Card, played: Played, given: Sequence[str]) -> list[Message]:
    """Return the hints for an answer that was judged wrong."""
    assert card.question is not None
    key, kind = played.keys[card.id], card.question.kind
    given = [text.strip() for text in given if text.strip()]
    evidence = played.evidence.get(card.id)
    said = evidence.said if evidence is not None else {}
    if kind == "number":
        return [*_compare(given, key), *_count(card, given, key, said)]
    if isinstance(key, tuple) and kind == "order":
        right = next(
            (place for place, pair in enumerate(zip(given, key, strict=False)) if pair[0] != pair[1]), len(given)
        )
        return [message(gettext_noop("Right up to place %(places)s. Look at the next one again."), places=right)]
    if isinstance(key, tuple):
        return _count_names(given, key)
    refusals = [_describe_hint(name, said[name]) for name in given if name in said]
    return refusals or [message(gettext_noop("Not %(name)s. Compare it with the others once more."), name=given[0])]


def _compare(given: Sequence[str], key: Value) -> list[Message]:
    over = isinstance(key, int | float) and float(given[0]) > key
    return [message(gettext_noop("Your number is too high.") if over else gettext_noop("Your number is too low."))]


def _count(card: Card, given: Sequence[str], key: Value, said: Mapping[str, str]) -> list[Message]:
    """Hints for nodes that were counted wrong: an overlooked refusal, or the number of conditions to look at again."""
    assert card.question is not None and isinstance(key, int | float)
    if "feasible_for" not in card.question.answer:
        return []
    if float(given[0]) < key:
        return [message(gettext_noop("You left out a node that no plugin refuses."))]
    refused = {name: text for name, text in said.items() if not text.isdecimal()}
    return [_describe_hint(name, text) for name, text in list(refused.items())[:1]]


def _count_names(given: Sequence[str], key: tuple[str, ...]) -> list[Message]:
    wrong, missing = len(set(given) - set(key)), len(set(key) - set(given))
    texts = {
        gettext_noop("Names that do not belong: %(count)s."): wrong,
        gettext_noop("Names that are missing: %(count)s."): missing,
    }
    return [message(text, count=count) for text, count in texts.items() if count]


def _describe_hint(name: str, text: str) -> Message:
    if not text.isdecimal():
        return message(gettext_noop("Look at %(name)s again. %(why)s"), name=name, why=text)
    return message(gettext_noop("%(name)s has %(points)s points. Another node has more."), name=name, points=text)


SCHEDULED = gettext_noop("%(pod)s gets a node")
# The goal of a condition by its telling part; the first that a condition has names it.
WANTED = {
    "on": gettext_noop("%(pod)s runs on %(on)s"),
    "outcome": gettext_noop("An attempt of %(pod)s ends: %(outcome)s"),
    "place": gettext_noop("%(pod)s reaches: %(place)s"),
    "field": gettext_noop("%(field)s of %(object)s is %(is)s"),
    "exists": gettext_noop("%(exists)s exists"),
    "lacks": gettext_noop("%(lacks)s is gone"),
    "event": gettext_noop("The event %(event)s is recorded"),
    "seconds": gettext_noop("%(seconds)s seconds have passed"),
    "scheduler": gettext_noop("The scheduler %(scheduler)s reaches: %(stage)s"),
    "pod": gettext_noop("%(pod)s gets as far as the task says"),
}


class Goal(TypedDict):
    """`wanted` and, until it is `done`, the state `now`."""

    wanted: Message
    done: bool
    now: Message | None


def list_goals(check: Condition, sim: WorldView) -> list[Goal]:
    """The goals of a task's check, one for each condition."""
    goals: list[Goal] = []
    for condition in _conditions(check):
        if any(word in condition for word in WANTED):
            done = holds(condition, sim)
            goals.append({"wanted": _want(condition), "done": done, "now": None if done else _describe(condition, sim)})
    return goals


def _conditions(check: Condition) -> Iterator[Condition]:
    """Yield the conditions that all must hold; of alternatives, the first."""
    for each in check.get("all", check.get("any", ())[:1]):
        yield from _conditions(each)
    if rest := {word: value for word, value in check.items() if word not in ("all", "any")}:
        yield rest


def _want(condition: Condition) -> Message:
    text = next(text for word, text in WANTED.items() if word in condition)
    if text == WANTED["outcome"] and condition["outcome"] == "scheduled":
        text = SCHEDULED
    kind, name, *path = condition.get("field", ("", ""))
    known: dict[str, Any] = {**condition, "field": ".".join(map(str, path)), "object": f"{kind} {name}"}
    known["is"] = _write(condition.get("is"))
    return message(text, **{name: value for name, value in known.items() if f"%({name})s" in text})


def _describe(condition: Condition, sim: WorldView) -> Message:
    if "field" in condition:
        return _describe_field(condition, sim)
    if "pod" in condition:
        return _describe_pod(str(condition["pod"]), sim)
    return message(gettext_noop("It still exists") if "lacks" in condition else gettext_noop("Not yet"))


def _describe_pod(pod: str, sim: WorldView) -> Message:
    """Say where a pod is, or why it has no node."""
    manifest = object_of("Pod", pod, sim)
    if manifest is None:
        return message(gettext_noop("%(pod)s does not exist yet"), pod=pod)
    if node := manifest["spec"].get("nodeName"):
        return message(gettext_noop("%(pod)s is on %(node)s"), pod=pod, node=node)
    attempt = last_attempt(sim, key_of(pod))
    if attempt is not None and attempt.message:
        return message(gettext_noop("Not yet, because: %(why)s"), why=attempt.message)
    return message(gettext_noop("%(pod)s waits for its turn: press Step or Run"), pod=pod)


def _describe_field(condition: Condition, sim: WorldView) -> Message:
    kind, name, *path = condition["field"]
    value = object_of(kind, name, sim)
    if value is None:
        return message(gettext_noop("%(pod)s does not exist yet"), pod=name)
    for key in path:
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            value = None
    return message(gettext_noop("It is %(value)s"), value=_write(value))


def _write(value: object) -> object:
    """A field's value as manifests have it."""
    if value is None:
        return message(gettext_noop("not set"))
    return str(value).lower() if isinstance(value, bool) else str(value)[:80]
