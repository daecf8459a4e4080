"""The answers as data: one for each pod, in the shape that docs/explain.md promises."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext

from playground.presenters.fixes import worded
from playground.presenters.why import sentence
from playground.presenters.words import Message
from playground.presenters.words import worded as in_words
from scheduler_core.explain import Explanation, State, explain, uncreated
from scheduler_core.fixes import Budget, Findings, find_fixes
from scheduler_core.simulation import Simulation

Answer = dict[str, Any]
_HOPELESS = (State.SCHEDULED, State.BINDING)


def answer(world: Simulation, key: str, with_fixes: bool) -> Answer | None:
    """About one pod; None where there is none."""
    explanation = explain(world, key)
    return None if explanation is None else _answered(world, explanation, with_fixes)


def missing_pods(world: Simulation, with_fixes: bool) -> list[Answer]:
    """About pods that their controllers were not let create."""
    return [_answered(world, explanation, with_fixes) for explanation in uncreated(world)]


def _answered(world: Simulation, explanation: Explanation, with_fixes: bool) -> Answer:
    data = explanation.to_json()
    state = State.SCHEDULED if explanation.state is State.BINDING else explanation.state
    searched = with_fixes and explanation.state not in _HOPELESS
    return {
        **data,
        "state": state.value,
        "sentence": plain(sentence(explanation)),
        "fixes": _fixes(world, explanation.pod) if searched else [],
    }


def _fixes(world: Simulation, key: str) -> list[Answer]:
    found = Findings(key, "searched", tuple(find_fixes(world, key, Budget())))
    return [
        {
            "kind": fix.kind,
            "text": "; ".join(plain(line) for line in said["lines"]),
            "proven": fix.proven,
            "command": fix.kubectl,
            "effects": [plain(effect) for effect in said["effects"]],
            "node": fix.node,
            "harm": fix.harm,
        }
        for fix, said in zip(found.fixes, worded(found.to_json())["fixes"], strict=True)
    ]


def plain(said: Message) -> str:
    """A message as text."""
    return in_words(said, gettext)


def is_pending(answered: Answer) -> bool:
    return str(answered["state"]) != State.SCHEDULED.value
