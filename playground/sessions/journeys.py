"""A pod's journey inside a worker: the journal's story, and for its latest attempts what they looked like, seen by running them again."""

from __future__ import annotations

import time
from typing import Any

from playground.presenters.cycle_state import keys_of
from playground.presenters.journey import journey
from playground.presenters.journey.detail import worded
from playground.presenters.journey.stranding import stranded_told
from playground.sessions.engine import Engine, Steps
from scheduler_core.inspection.attempt_observer import AttemptObserver
from scheduler_core.inspection.cycle_state_observer import CycleStateObserver
from scheduler_core.inspection.stranding import stranded

SHOWN = 40  # entries on one page
MOST_STEPS = 4_000  # of one attempt; one that waits on Permit for long takes more


def told(engine: Engine, at: int, pod: str, page: int | None, seconds: float) -> Steps:
    """The journey's newest entries, or those of a page (0: the oldest); attempts from the latest back get a `detail` within the time."""
    world = yield from engine.at(at)
    story = journey(world, pod)
    if not story["known"]:
        return story
    found = stranded(world, pod)
    story["stranded"] = None if found is None else stranded_told(found)
    _cut(story, page)
    deadline = time.perf_counter() + seconds
    for entry in reversed(story["entries"]):
        if entry["kind"] == "attempt" and time.perf_counter() < deadline:
            entry["detail"] = yield from _detail(engine, entry["at"], at, pod, deadline)
    return story


def _cut(story: dict[str, Any], page: int | None) -> None:
    pages = max(-(-len(story["entries"]) // SHOWN), 1)
    page = pages - 1 if page is None else min(page, pages - 1)
    last = len(story["entries"]) - (pages - 1 - page) * SHOWN  # the newest page is full
    story["entries"] = story["entries"][max(last - SHOWN, 0) : last]
    story |= {"page": page, "pages": pages}


def cycle_state(engine: Engine, at: int, pod: str) -> Steps:
    """The CycleState of the cycle that the pod is in, or was in last, as it is at a position; None where it had none."""
    world = yield from engine.at(at)
    first = _cycle_began(world, pod)
    if first is None:
        return None
    world = yield from _before(engine, first)
    observer = CycleStateObserver(world, pod)
    end = min(at, first + MOST_STEPS)
    while world.position < end:
        engine.replay(world)
        observer.see(world)
        if engine.slice.over():
            yield
    return keys_of(observer)


def _cycle_began(world: Any, pod: str) -> int | None:
    for scheduler in world.schedulers:
        if scheduler.cycle is not None and scheduler.cycle.pod.key == pod:
            return int(scheduler.cycle.first_position)
    attempts = world.journal.attempts_of(pod)
    return attempts[-1].first_position if attempts else None


def _before(engine: Engine, first: int) -> Steps:
    """A world of one's own at a position."""
    world = engine.history.nearest(first)
    while world.position < first:
        engine.replay(world)
        if engine.slice.over():
            yield
    return world


def _detail(engine: Engine, first: int, at: int, pod: str, deadline: float) -> Steps:
    """What the attempt that began at position `first` looked like up to `at`."""
    world = yield from _before(engine, first)
    observer = AttemptObserver(world, pod)
    observer.see(world, world.last)
    end = min(at, first + MOST_STEPS)
    while world.position < end and not observer.over and time.perf_counter() < deadline:
        engine.replay(world)
        observer.see(world, world.last)
        if engine.slice.over():
            yield
    return worded(observer.to_json())
