"""Preempted: the preemptions that a pod is the reason of, or the victim of, each with the way to its theatre."""

from __future__ import annotations

from typing import TypedDict

from playground.presenters.scene import short
from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.world.readonly import Attempt, WorldView

ATTEMPTS = 1_000  # of all pods, the last ones, looked through for a victim's preemptor
NAMED = 4


def preemptions(sim: WorldView, key: str) -> list[PreemptionNote]:
    """The pod's own last preemption, and the one that it has to go for; `at` is where the theatre shows it."""
    own = next((a for a in reversed(sim.journal.attempts_of(key)) if a.nominated and a.victims), None)
    out = [] if own is None else [_row(own, _own(own))]
    other = _of_victim(sim, key)
    if other is not None:
        text = gettext_noop("Preempted on %(node)s to make room for %(pod)s in cycle %(n)s.")
        out.append(_row(other, message(text, node=other.nominated, pod=short(other.pod), n=other.number)))
    return out


def _own(attempt: Attempt) -> Message:
    names = [short(victim) for victim in attempt.victims]
    rest = len(names) - NAMED
    listed = ", ".join(names[:NAMED]) + (f" +{rest}" if rest > 0 else "")
    text = gettext_noop("Preempts %(victims)s on %(node)s in cycle %(n)s.")
    return message(text, victims=listed, node=attempt.nominated, n=attempt.number)


class PreemptionNote(TypedDict):
    said: Message
    pod: str
    at: int


def _row(attempt: Attempt, said: Message) -> PreemptionNote:
    return {"said": said, "pod": attempt.pod, "at": attempt.last_position}


def _of_victim(sim: WorldView, key: str) -> Attempt | None:
    """The attempt that chose the pod as a victim."""
    attempts = reversed(sim.journal.attempts[-ATTEMPTS:])
    return next((attempt for attempt in attempts if key in attempt.victims), None)
