"""A pod's journey: where it is and why, each move and each attempt, and its Kubernetes Events. Made of the journal alone.

What an attempt looked like from inside is added by who can replay it (`detail.worded`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from playground.presenters.amounts import clock, duration
from playground.presenters.devices.claims import claims_of
from playground.presenters.journey.entries import entries
from playground.presenters.journey.events import event_rows
from playground.presenters.journey.why import why
from playground.presenters.journey.wide import wide
from playground.presenters.scene import find_pod, short
from playground.presenters.timeline.places import kind
from scheduler_core.world.readonly import Move, Place, WorldView

_PLACES = (Place.DELETED, Place.IGNORED)


def journey(sim: WorldView, key: str) -> dict[str, Any]:
    """Plain data; times are clocks of virtual time, `at` are positions. `known` is false where no such pod was ever seen."""
    moves = sim.journal.lane(key)
    if not moves:
        return {"known": False, "key": key, "name": short(key)}
    pod = find_pod(sim, key)
    node = pod.node_name if pod is not None else ""
    story = entries(sim, key, moves)
    return {
        "known": True,
        "key": key,
        "name": short(key),
        "namespace": key.partition("/")[0],
        "bare": key.partition("/")[2],
        "place": moves[-1].place,
        "colour": kind(moves[-1].place),
        "why": why(sim, key, moves[-1]),
        "wide": wide(pod, key.partition("/")[2], _get_end_time(sim, moves) - moves[0].t),
        "node": node,
        "scheduler": pod.spec.scheduler_name if pod is not None else "",
        "attempts": sum(entry["kind"] == "attempt" for entry in story),
        "began": clock(moves[0].t),
        "now": clock(sim.now),
        "position": sim.position,
        "total": duration(_get_end_time(sim, moves) - moves[0].t),
        "places": _places(sim, moves),
        "entries": story,
        "events": event_rows(sim, key),
        "claims": claims_of(sim, key),
    }


def _get_end_time(sim: WorldView, moves: Sequence[Move]) -> int:
    return moves[-1].t if moves[-1].place == Place.DELETED else int(sim.now)


def _places(sim: WorldView, moves: Sequence[Move]) -> list[dict[str, Any]]:
    """Return the time that the pod spent in each place, in the order of its first arrivals."""
    spent: dict[str, int] = {}
    for i, move in enumerate(moves):
        if move.place in _PLACES:
            continue
        end = moves[i + 1].t if i + 1 < len(moves) else sim.now
        spent[move.place] = spent.get(move.place, 0) + end - move.t
    total, before = sum(spent.values()) or 1, 0
    out = []
    for place, time in spent.items():
        shares = {"from": round(100 * before / total, 2), "share": round(100 * time / total, 2)}
        out.append({"place": place, "colour": kind(place), "time": duration(time), **shares})
        before += time
    return out
