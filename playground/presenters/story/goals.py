"""The goals of a lesson's task: what is wanted, whether it is so, and what stands in its way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypedDict

from playground.lessons.conditions import Condition, holds
from playground.lessons.named import key_of, object_of
from playground.presenters.scene import last_attempt
from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.world.readonly import WorldView

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
