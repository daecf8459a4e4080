"""The entries of a journey, oldest first: moves between places, and attempts with what followed them up to the node or back to a queue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from playground.presenters.amounts import clock, duration
from playground.presenters.plain import in_plain_words
from playground.presenters.scene import count_evaluated_nodes, short
from playground.presenters.timeline import kind
from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.world.readonly import (
    ATTEMPT_FAILED,
    BACKOFF_COMPLETE,
    FORCE_ACTIVATE,
    Attempt,
    Move,
    Place,
    WorldView,
)
from scheduler_core.world.readonly import UNSCHEDULABLE_POD_ADD as CREATED
from scheduler_core.world.readonly import UNSCHEDULABLE_TIMEOUT as TIMEOUT

_OF_ATTEMPT = (Place.IN_FLIGHT, Place.WAITING, Place.BINDING)
_CAUSES: dict[str, str] = {
    CREATED.label: gettext_noop("It was created."),
    BACKOFF_COMPLETE: gettext_noop("Its backoff is over."),
    TIMEOUT.label: gettext_noop(
        "It had been unschedulable for longer than podMaxInUnschedulablePodsDuration allows."
    ),
    FORCE_ACTIVATE.label: gettext_noop("A plugin asked for it by name (Activate)."),
    "kubelet": gettext_noop("The kubelet of its node has started it."),
    "deleted": gettext_noop("It was deleted."),
}
_MISSED = gettext_noop("While it was in flight something happened that may help it.")
_NOTHING_HELPED = gettext_noop("Nothing that happened meanwhile helps it: it waits for an event.")
_AFTER_ERROR = gettext_noop("It failed by an error: it backs off, and no event can wake it earlier.")
_HINT = gettext_noop("The hint of the plugin that had refused it says that this event may help.")
_NO_HINT = gettext_noop(
    "The plugin that had refused it has no hint for this event, so any such event wakes it."
)
_BOUND = gettext_noop("The API server has bound it.")
_NOBODY = gettext_noop("No scheduler here is called %(name)s, so nobody tries it.")


def entries(sim: WorldView, key: str, moves: Sequence[Move]) -> list[dict[str, Any]]:
    """Each has `kind` (move or attempt), `at`, `t` and `stayed`, the time until the next one."""
    attempts = {attempt.first_position: attempt for attempt in sim.journal.attempts_of(key)}
    out: list[dict[str, Any]] = []
    for i, move in enumerate(moves):
        end = moves[i + 1].t if i + 1 < len(moves) else sim.now
        stage = {
            "place": move.place,
            "colour": kind(move.place),
            "at": move.position,
            "t": clock(move.t),
            "time": duration(end - move.t),
        }
        if move.place == Place.IN_FLIGHT:
            out.append(_attempt(move, attempts.get(move.position), stage))
        elif move.place in _OF_ATTEMPT and out and out[-1]["kind"] == "attempt":
            out[-1]["stages"].append(stage)
        else:
            out.append(_move(moves, i, stage))
    _number(out)
    return out


def _number(out: list[dict[str, Any]]) -> None:
    tries = 0
    for i, entry in enumerate(out):
        if entry["kind"] != "attempt":
            continue
        tries += 1
        entry["tries"] = tries
        following = out[i + 1] if i + 1 < len(out) else None
        if (
            entry["outcome"] == "scheduled"
            and following
            and following["place"]
            not in (
                Place.BOUND,
                Place.DELETED,
            )
        ):
            entry["undone"] = True


def _attempt(move: Move, attempt: Attempt | None, stage: dict[str, Any]) -> dict[str, Any]:
    entry = {"kind": "attempt", "at": move.position, "t": stage["t"], "ns": move.t, "stages": [stage]}
    if attempt is None:
        return {**entry, "outcome": "running", "number": None, "message": ""}
    return {
        **entry,
        "number": attempt.number,
        "profile": attempt.profile,
        "ended": attempt.last_position,
        "took": duration(attempt.ended - attempt.started),
        "outcome": attempt.outcome,
        "node": attempt.node,
        "message": attempt.message,
        "evaluated": count_evaluated_nodes(attempt),
        "feasible": attempt.feasible,
        "tied": attempt.tied,
        "refusals": [
            {"count": count, "text": text, "plain": in_plain_words(text)} for text, count in attempt.refusals
        ],
        "plugins": list(attempt.plugins),
        "nominated": attempt.nominated,
        "victims": [{"key": victim, "name": short(victim)} for victim in attempt.victims],
    }


def _move(moves: Sequence[Move], i: int, stage: dict[str, Any]) -> dict[str, Any]:
    move = moves[i]
    event, plugin, hint = move.why or ("", "", "")
    return {
        "kind": "move",
        **stage,
        "ns": move.t,
        "from": moves[i - 1].place if i else "",
        "cause": move.cause,
        "event": event,
        "plugin": plugin,
        "hint": hint,
        "until": clock(move.until) if move.until else "",
        "why": _why(move),
    }


def _why(move: Move) -> Message | None:
    if move.place == Place.BOUND:
        return message(_BOUND)
    if move.place == Place.IGNORED:
        return message(_NOBODY, name=move.cause)
    if move.cause == ATTEMPT_FAILED:
        if move.why:
            return message(_MISSED)
        return message(_NOTHING_HELPED if move.place == Place.UNSCHEDULABLE else _AFTER_ERROR)
    if move.cause in _CAUSES:
        return message(_CAUSES[move.cause])
    if move.why and move.why[1]:
        return message(_HINT if move.why[2] else _NO_HINT)
    return None
