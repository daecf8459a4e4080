"""The goals of a lesson's task: what is wanted, whether it is so, and what stands in its way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypedDict

from playground.lessons.conditions import Condition, holds
from playground.lessons.named import key_of, object_of
from playground.presenters.scene import last_attempt
from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.world.readonly import WorldView


class Goal(TypedDict):
    """`wanted` and, until it is `done`, the state `now`."""

    wanted: Message
    done: bool
    now: Message | None


def list_goals(check: Condition, sim: WorldView) -> list[Goal]:
    """The goals of a task's check, one for each condition."""
    return [
        {"wanted": wanted, "done": done, "now": None if done else now(sim)}
        for condition in _conditions(check)
        for word, (wanted, now) in _describe(condition).items()
        for done in (holds({**condition, word: condition[word]}, sim),)
    ]


def _conditions(check: Condition) -> Iterator[Condition]:
    """Yield the conditions that all must hold; of alternatives, the first."""
    if "all" in check:
        for each in check["all"]:
            yield from _conditions(each)
    elif "any" in check:
        yield from _conditions(check["any"][0])
    else:
        yield check


def _describe(condition: Condition) -> Mapping[str, tuple[Message, Callable[[WorldView], Message]]]:
    """Return the words of a condition by its telling part: what is wanted, and a function that says what is so now."""
    pod = str(condition.get("pod", ""))
    known: dict[str, tuple[str, dict[str, Any], Callable[[WorldView], Message]]] = {
        "on": (gettext_noop("%(pod)s runs on %(node)s"), {"node": condition.get("on")}, _placing(pod)),
        "outcome": (gettext_noop("An attempt of %(pod)s ends: %(outcome)s"), {"outcome": condition.get("outcome")}, _placing(pod)),
        "place": (gettext_noop("%(pod)s comes to: %(place)s"), {"place": condition.get("place")}, _placing(pod)),
        "field": (gettext_noop("%(field)s of %(object)s is %(value)s"), _field(condition), _value(condition)),
        "exists": (gettext_noop("%(object)s exists"), {"object": condition.get("exists")}, _missing),
        "lacks": (gettext_noop("%(object)s is gone"), {"object": condition.get("lacks")}, _still_there),
        "event": (gettext_noop("The event %(event)s is recorded"), {"event": condition.get("event")}, _not_yet),
        "scheduler": (
            gettext_noop("The scheduler %(scheduler)s comes to: %(stage)s"),
            {"scheduler": condition.get("scheduler"), "stage": condition.get("stage")},
            _not_yet,
        ),
        "pod": (gettext_noop("%(pod)s comes as far as the task says"), {}, _placing(pod)),
    }  # fmt: skip
    word = next((word for word in known if word in condition), "")
    if not word:
        return {}
    text, values, now = known[word]
    if condition.get("outcome") == "scheduled" and word == "outcome":
        text, values = gettext_noop("%(pod)s gets a node"), {}
    return {word: (message(text, **({"pod": pod} if "%(pod)s" in text else {}), **values), now)}


def _placing(pod: str) -> Callable[[WorldView], Message]:
    """Say where a pod is, or why it has no node."""

    def now(sim: WorldView) -> Message:
        manifest = object_of("Pod", pod, sim)
        if manifest is None:
            return message(gettext_noop("%(pod)s does not exist yet"), pod=pod)
        if node := manifest["spec"].get("nodeName"):
            return message(gettext_noop("%(pod)s is on %(node)s"), pod=pod, node=node)
        attempt = last_attempt(sim, key_of(pod))
        if attempt is not None and attempt.message:
            return message(gettext_noop("Not yet, because: %(why)s"), why=attempt.message)
        return message(gettext_noop("%(pod)s waits for its turn: press Step or Run"), pod=pod)

    return now


def _field(condition: Condition) -> dict[str, Any]:
    kind, name, *path = condition.get("field", ("", ""))
    wanted = condition.get("is")
    value = gettext_noop("not set") if wanted is None else str(wanted).lower() if isinstance(wanted, bool) else wanted
    return {
        "field": ".".join(map(str, path)),
        "object": f"{kind} {name}",
        "value": message(value) if wanted is None else value,
    }


def _value(condition: Condition) -> Callable[[WorldView], Message]:
    kind, name, *path = condition.get("field", ("", ""))

    def now(sim: WorldView) -> Message:
        value = object_of(kind, name, sim)
        if value is None:
            return message(gettext_noop("%(pod)s does not exist yet"), pod=name)
        for key in path:
            try:
                value = value[key]
            except (KeyError, IndexError, TypeError):
                return message(gettext_noop("not set"))
        return message(gettext_noop("It is %(value)s"), value=str(value)[:80])

    return now


def _missing(sim: WorldView) -> Message:
    return message(gettext_noop("It does not exist yet"))


def _still_there(sim: WorldView) -> Message:
    return message(gettext_noop("It still exists"))


def _not_yet(sim: WorldView) -> Message:
    return message(gettext_noop("Not yet"))
