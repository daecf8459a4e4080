"""The timeline: one lane per pod over the steps, so that overlapping cycles are seen; each segment is a place where the pod was.

The lanes show a window of steps that moves on in blocks, so that the bars don't creep with every step.
"""

from __future__ import annotations

import math
from typing import Any

from playground.presenters.amounts import clock
from playground.presenters.look import Look
from playground.presenters.panel import Panel
from playground.presenters.places import KIND
from playground.presenters.scene import short, subject
from scheduler_core.trace.journal import Move, Place

LANES = 6
SPAN = 320
BLOCK = 80
SEGMENTS = 40
SEARCHED = 400


def present(sim: Any, look: Look) -> Panel:
    """The lanes of the pods that moved last, the chosen one among them, then of those whose turn comes next.

    The last segment of a lane reaches to the window's end and the cursor's card hides what has not happened yet, so that a step
    changes no lane but those whose pod moved.
    """
    last = max(BLOCK, -(-sim.position // BLOCK) * BLOCK)
    first = max(0, last - SPAN)
    cards: dict[str, dict[str, Any]] = {"lane-axis": _axis(sim, first, last)}
    for pod in _pods(sim, look):
        cards[f"lane-{pod}"] = _lane(sim, pod, first, last)
    cards["lane-cursor"] = {"id": "lane-cursor", "kind": "cursor", "now": _x(sim.position, first, last)}
    return Panel("timeline", {"first": first, "last": last, "empty": len(cards) == 2}, cards)


def _pods(sim: Any, look: Look) -> list[str]:
    moves = sim.journal.moves
    found = dict.fromkeys([subject(sim, look.pod)] if subject(sim, look.pod) else [])
    for i in range(len(moves) - 1, max(-1, len(moves) - 1 - SEARCHED), -1):
        if len(found) >= LANES:
            break
        if moves[i].place not in (Place.RUNNING, Place.ACTIVE):
            found.setdefault(moves[i].pod)
    for scheduler in sim.schedulers:  # whose turn comes next
        for entry in scheduler.queue.active(LANES):
            if len(found) < LANES:
                found.setdefault(entry.key)
    return sorted(found, key=lambda pod: _first_turn(sim, pod))


def _first_turn(sim: Any, pod: str) -> float:
    """The position at which the pod first left the active queue; those that still wait come last, in the queue's order."""
    return next((move.position for move in sim.journal.lane(pod) if move.place != Place.ACTIVE), math.inf)


def _lane(sim: Any, pod: str, first: int, last: int) -> dict[str, Any]:
    moves = sim.journal.lane(pod)
    segments = []
    for i, move in enumerate(moves):
        end = moves[i + 1].position if i + 1 < len(moves) else last
        if end < first or move.place not in KIND:
            continue
        segments.append(_segment(moves, i, end, first, last))
    return {
        "id": f"lane-{pod}",
        "kind": "lane",
        "pod": pod,
        "name": short(pod),
        "segments": segments[-SEGMENTS:],
    }


def _segment(moves: list[Move], i: int, end: int, first: int, last: int) -> dict[str, Any]:
    move = moves[i]
    kind = KIND[move.place]
    left = _x(max(move.position, first), first, last)
    width = round(_x(end, first, last) - left, 2)
    failed = (
        kind == "cycle" and i + 1 < len(moves) and moves[i + 1].place in (Place.UNSCHEDULABLE, Place.BACKOFF)
    )
    return {
        "kind": "failed" if failed else kind,
        "x": left,
        "width": max(width, 0.35),
        "at": move.position,
        "t": clock(move.t),
        "place": move.place,
        "cause": move.cause,
    }


def _x(position: int, first: int, last: int) -> float:
    return round(100 * (position - first) / (last - first), 2)


def _axis(sim: Any, first: int, last: int) -> dict[str, Any]:
    """Where attempts began, the newest ones."""
    ticks: list[dict[str, Any]] = []
    attempts = sim.journal.attempts
    for i in range(len(attempts) - 1, max(-1, len(attempts) - 1 - BLOCK), -1):
        attempt = attempts[i]
        if attempt.first_position < first:
            break
        x = _x(attempt.first_position, first, last)
        ticks.append({"x": x, "number": attempt.number, "ok": attempt.outcome == "scheduled"})
    return {"id": "lane-axis", "kind": "axis", "ticks": ticks[::-1]}
