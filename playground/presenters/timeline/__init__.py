"""The timeline: the scheduler's attempts in a row, and below it one lane per pod over the same steps or the same virtual time.

Each segment is a place where the pod was, so a wait on Permit and a binding are seen beside the attempts that overlap with them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import replace
from functools import lru_cache
from typing import Any

from playground.presenters.amounts import clock, duration
from playground.presenters.look import ROWS, Look
from playground.presenters.panel import Panel
from playground.presenters.scene import short, subject
from playground.presenters.timeline.places import KIND
from playground.presenters.timeline.window import LONGEST, SHORTEST, STEPS, TIME, Window, ticks, window
from scheduler_core.world.readonly import Move, Place, WorldView

SEGMENTS = 80
SEARCHED = 600
ATTEMPTS = 120
MOST_FILTERED = 200  # at most so many pods that the filter matches are looked at
THIN = 0.12  # percent of the width; of a crowded lane only wider segments are drawn
CROWDED = 40


def present(sim: WorldView, look: Look) -> Panel:
    """The lanes of the pods that moved last in the window, the chosen one among them, then of those whose turn comes next.

    The last segment of a lane reaches to the window's end and the cursor's card hides what has not happened yet, so that a step
    changes no lane but those whose pod moved.
    """
    view = window(sim, look)
    pods, more = _pods(sim, look, view)
    still = replace(view, now=0)  # the same from step to step, and so is most of what is made of it
    cards: dict[str, dict[str, Any]] = {
        "lane-grid": {"id": "lane-grid", "kind": "grid", "ticks": ticks(still)}
    }
    cards["lane-axis"] = _axis(sim, view)
    chosen = subject(sim, look.pod)
    for pod in pods:
        cards[f"lane-{pod}"] = _lane(sim, pod, still) | {"chosen": pod == chosen}
    cards["lane-cursor"] = {"id": "lane-cursor", "kind": "cursor", "now": view.x(view.now)}
    context = {
        "axis": view.axis,
        "first": view.first,
        "last": view.last,
        "filter": look.lane,
        "rows": look.rows,
        "more": more,
        "empty": not pods,
        "own": look.start is not None or bool(look.span),
        "links": _links(look, still),
    }
    return Panel("timeline", context, cards)


# What the controls lead to


@lru_cache(maxsize=256)
def _links(look: Look, view: Window) -> dict[str, dict[str, Any]]:
    """Return for each control its changes to the look, with a link that makes them."""
    half, quarter = view.span // 2, max(view.span // 4, 1)
    follows = look.start is None
    changes: dict[str, dict[str, Any]] = {
        "closer": _at(view, half, follows),
        "wider": _at(view, view.span * 2, follows),
        "left": {"start": max(view.first - quarter, 0), "span": view.span},
        "right": {"start": view.first + quarter, "span": view.span},
        "all": {"start": None, "span": 0},
        "more": {"rows": ROWS[min(ROWS.index(look.rows) + 1, len(ROWS) - 1)]},
        "fewer": {"rows": ROWS[max(ROWS.index(look.rows) - 1, 0)]},
        "table": {},
        "axis": {"axis": TIME if view.axis == STEPS else STEPS, "start": None, "span": 0},
    }
    return {name: {**change, "href": look.href(**change)} for name, change in changes.items()}


def _at(view: Window, span: int, follows: bool) -> dict[str, Any]:
    """Zoomed: a window that follows goes on following; another one keeps its middle."""
    span = max(SHORTEST[view.axis], min(span, LONGEST[view.axis]))
    if follows:
        return {"start": None, "span": span}
    return {"start": max((view.first + view.last - span) // 2, 0), "span": span}


# Which pods have a lane


def _pods(sim: WorldView, look: Look, view: Window) -> tuple[list[str], int]:
    """At most `rows` pods, in the order of their turns, and how many more the filter finds."""
    if look.lane:
        every = [pod for pod in sim.journal.last_move if look.lane in pod][:MOST_FILTERED]
        here = [pod for pod in every if _began(sim, pod, view)]
        return _in_turn(sim, here[: look.rows]), max(len(here) - look.rows, 0)
    moves = sim.journal.moves
    chosen = subject(sim, look.pod)
    pods = dict.fromkeys([chosen] if chosen else [])
    for scheduler in sim.schedulers:
        pods.update((b.pod.key, None) for b in scheduler.bindings.values() if b.waiting and len(pods) < 3)
    low = bisect_left(moves, view.first, key=lambda move: view.of(move.position, move.t))
    high = bisect_right(moves, view.last, key=lambda move: view.of(move.position, move.t))
    for i in range(high - 1, max(low, high - SEARCHED) - 1, -1):
        if len(pods) >= look.rows:
            break
        if moves[i].place not in (Place.RUNNING, Place.ACTIVE):
            pods.setdefault(moves[i].pod)
    for scheduler in sim.schedulers:  # whose turn comes next
        for entry in scheduler.queue.active(look.rows):
            if len(pods) < look.rows:
                pods.setdefault(entry.key)
    return _in_turn(sim, list(pods)), 0


def _began(sim: WorldView, pod: str, view: Window) -> bool:
    first = sim.journal.lane(pod)[0]
    return view.of(first.position, first.t) <= view.last


def _in_turn(sim: WorldView, pods: list[str]) -> list[str]:
    """Sort pods by the position at which each first left the active queue; waiting ones come last, in the queue's order."""
    waiting = 1 << 62

    def turn(pod: str) -> int:
        return next((m.position for m in sim.journal.lane(pod) if m.place != Place.ACTIVE), waiting)

    return sorted(pods, key=turn)


# Lanes


def _lane(sim: WorldView, pod: str, view: Window) -> dict[str, Any]:
    segments = _segments(tuple(sim.journal.lane(pod)), view)
    return {"id": f"lane-{pod}", "kind": "lane", "pod": pod, "name": short(pod), "segments": segments}


@lru_cache(maxsize=256)
def _segments(moves: tuple[Move, ...], view: Window) -> list[dict[str, Any]]:
    segments = []
    for i, move in enumerate(moves):
        following = moves[i + 1] if i + 1 < len(moves) else None
        begins = view.of(move.position, move.t)
        ends = view.last if following is None else view.of(following.position, following.t)
        if ends < view.first or begins > view.last or move.place not in KIND:
            continue
        segments.append(_segment(move, following, max(begins, view.first), min(ends, view.last), view))
    if len(segments) > CROWDED:
        segments = [segment for segment in segments if segment["width"] > THIN] or segments
    return segments[-SEGMENTS:]


def _segment(move: Move, following: Move | None, begins: int, ends: int, view: Window) -> dict[str, Any]:
    kind = KIND[move.place]
    back = following is not None and following.place in (Place.UNSCHEDULABLE, Place.BACKOFF, Place.GATED)
    left = view.x(begins)
    segment = {
        "kind": {"cycle": "failed", "binding": "undone", "permit": "permit undone"}.get(kind, kind)
        if back
        else kind,
        "x": left,
        "width": max(round(view.x(ends) - left, 2), 0.3),
        "at": move.position,
        "t": clock(move.t),
        "place": move.place,
        "cause": " · ".join(text for text in move.why if text) or move.cause,
    }
    if following is not None:
        segment["time"] = duration(following.t - move.t)
    return segment


def _axis(sim: WorldView, view: Window) -> dict[str, Any]:
    """The attempts as the scheduling threads make them, one after the other; the newest ones of the window."""
    attempts = sim.journal.attempts
    high = bisect_right(attempts, view.last, key=lambda a: view.of(a.first_position, a.started))
    shown: list[dict[str, Any]] = []
    for i in range(high - 1, max(-1, high - 1 - ATTEMPTS), -1):
        attempt = attempts[i]
        ends = view.of(attempt.last_position, attempt.ended)
        if ends < view.first:
            break
        left = view.x(max(view.of(attempt.first_position, attempt.started), view.first))
        width = max(round(view.x(min(ends, view.last)) - left, 2), 0.3)
        shown.append(
            {
                "x": left,
                "width": width,
                "number": attempt.number,
                "pod": short(attempt.pod),
                "outcome": attempt.outcome,
                "at": attempt.first_position,
                "said": width > 2.4,
                "middle": round(left + width / 2, 2),
            }
        )
    return {"id": "lane-axis", "kind": "axis", "attempts": shown[::-1]}
