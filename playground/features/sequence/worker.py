"""A sequence diagram inside a worker: history is run again where its subject had a part in it; what lies between is left out.

Where that is, the journal knows; the records that follow a move closely (API calls, the kubelet) are found by looking on for some steps.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from typing import Any

from playground.features.sequence.arrows import arrows, in_causal_order
from playground.features.sequence.query import Sequence
from playground.features.sequence.subjects import OfPod, OfScheduler
from playground.presenters.sequence.lifelines import BINDING
from playground.presenters.sequence.lines import Standing
from playground.presenters.words import gettext_noop, message
from playground.sessions.protocol.base import Data
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.registry import answers
from playground.sessions.worker.time_sharing import Steps

MOST = 200  # arrows on one page
QUIET = 1_000  # steps without a word of the subject, after which its next move is gone to
LAGGING = 300
OFFERED = 12


@answers(Sequence)
def sequence(engine: Engine, request: Sequence) -> Steps[Data]:
    """The arrows from a step on, at most some 200; `next` is where to go on, None where all was seen. `still`: no move follows there."""
    world = yield from engine.at(request.position)
    subject = _subject(world, request)
    answer = _head(world, request, subject)
    if not subject.landmarks:
        return answer
    begin = max(subject.landmarks[0] - 1 - _before(world), min(request.first, request.position), 0)
    rows, following = yield from _walk(engine, subject, begin, request)
    still = following is not None and following > subject.landmarks[-1]
    return {
        **answer,
        "still": still,
        "first": begin,
        "later": begin >= subject.landmarks[0],
        "rows": rows,
        "next": following,
    }


def _before(world: Any) -> int:
    """Return how many steps may lie between a change and the move that it led to: 0 without informer lag."""
    return LAGGING if world.settings.informer_lag else 0


def _subject(world: Any, request: Sequence) -> OfPod | OfScheduler:
    if request.pod:
        return OfPod(world, request.pod)
    return OfScheduler(world, request.scheduler)


def _head(world: Any, request: Sequence, subject: Any) -> Data:
    chosen = request.pod or request.scheduler
    return {
        "position": world.position,
        "now": world.now,
        "pod": request.pod,
        "scheduler": request.scheduler,
        "known": bool(subject.landmarks) or request.scheduler in [one.name for one in world.schedulers],
        "parts": subject.parts,
        "pods": [] if chosen else list(reversed(world.journal.last_move))[:OFFERED],
        "schedulers": [] if chosen else [one.name for one in world.schedulers],
        "first": 0,
        "later": False,
        "still": False,
        "rows": [],
        "next": None,
    }


def _walk(
    engine: Engine, subject: Any, begin: int, request: Sequence
) -> Steps[tuple[list[Data], int | None]]:
    """Replays from one position on; yields where its slice is over."""
    world = yield from engine.own(begin)
    standing = _standing(world, request)
    over, heard, gap = time.perf_counter() + request.seconds, begin, None
    looks_on = begin > subject.landmarks[-1]  # somebody has asked for what follows the last move
    rows: list[Data] = []
    while world.position < request.position:
        if len(rows) >= MOST or time.perf_counter() > over:
            return rows, world.position
        if world.position - heard > QUIET:
            ahead = subject.landmarks[bisect_right(subject.landmarks, world.position) :]
            if not ahead and not looks_on:
                return rows, world.position
            if ahead and ahead[0] - 1 > world.position:
                gap = message(
                    gettext_noop("%(n)s steps without a move of its own"), n=f"{ahead[0] - 1 - heard:,}"
                )
                world = yield from engine.own(ahead[0] - 1)
            heard = world.position
        engine.replay(world)
        found, standing = arrows(in_causal_order(subject.of(world)), world.position, standing)
        if found:
            if gap is not None:
                found[0]["gap"], gap = gap, None
            rows, heard = rows + found, world.position
        if engine.slice.over():
            yield
    return rows, None


def _standing(world: Any, request: Sequence) -> Standing:
    if request.scheduler:
        return Standing(start_up=True)
    binds = any(b.pod.key == request.pod for s in world.schedulers for b in s.bindings.values())
    return Standing(cycle=BINDING) if binds else Standing()
