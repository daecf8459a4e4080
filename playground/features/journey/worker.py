"""A pod's journey inside a worker: the journal's entries, and details of the latest attempts from a replay."""

import time
from typing import Any

from playground.features.journey.presenter import CycleStateKeys, describe_attempt, describe_stranded, keys_of
from playground.features.journey.query import CycleState, Journey
from playground.presenters.journey import Story
from playground.presenters.journey import journey as story_of
from playground.presenters.journey.entries import AttemptDetail
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.time_sharing import Steps, answers
from scheduler_core.analysis.inspection import AttemptObserver, CycleStateObserver, find_stranding

SHOWN = 40  # entries on one page
MOST_STEPS = 4_000  # steps of one attempt; a long wait on Permit may exceed them


@answers(Journey)
def journey(engine: Engine, request: Journey) -> Steps[Story | None]:
    """Return the newest entries, or those of a page (0: the oldest). The latest attempts get a `detail`, as the time permits."""
    world = yield from engine.at(request.position)
    story = story_of(world, request.pod)
    if story is None:
        return None
    stranding = find_stranding(world, request.pod)
    story["stranded"] = None if stranding is None else describe_stranded(stranding)
    _cut(story, request.page)
    deadline = time.perf_counter() + request.seconds
    for entry in reversed(story["entries"]):
        if entry["kind"] == "attempt" and time.perf_counter() < deadline:
            entry["detail"] = yield from _detail(engine, entry["at"], request, deadline)
    return story


def _cut(story: Story, page: int | None) -> None:
    pages = max(-(-len(story["entries"]) // SHOWN), 1)
    page = pages - 1 if page is None else min(page, pages - 1)
    last = len(story["entries"]) - (pages - 1 - page) * SHOWN  # the newest page is full
    story["entries"] = story["entries"][max(last - SHOWN, 0) : last]
    story["page"], story["pages"] = page, pages


@answers(CycleState)
def cycle_state(engine: Engine, request: CycleState) -> Steps[CycleStateKeys | None]:
    """Return the CycleState of the pod's current or last cycle at a position, or None."""
    world = yield from engine.at(request.position)
    first = _cycle_began(world, request.pod)
    if first is None:
        return None
    world = yield from engine.own(first)
    observer = CycleStateObserver(world, request.pod)
    end = min(request.position, first + MOST_STEPS)
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


def _detail(engine: Engine, first: int, request: Journey, deadline: float) -> Steps[AttemptDetail]:
    """Return the details of the attempt that began at position `first`, up to the journey's end."""
    world = yield from engine.own(first)
    observer = AttemptObserver(world, request.pod)
    observer.see(world, world.last)
    end = min(request.position, first + MOST_STEPS)
    while world.position < end and not observer.over and time.perf_counter() < deadline:
        engine.replay(world)
        observer.see(world, world.last)
        if engine.slice.over():
            yield
    return describe_attempt(observer.to_json())
