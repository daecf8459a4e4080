"""The search for fixes inside a worker: on a copy of the world at a position, in slices, within a time."""

from __future__ import annotations

import time
from typing import Any

from playground.sessions.worker.engine import Engine, Steps
from scheduler_core.fixes import Budget, Findings, search


def fixes(engine: Engine, at: int, pod: str, seconds: float) -> Steps:
    """Findings as JSON data; "late" where the time was over before the search was."""
    world = (yield from engine.at(at)).fork()
    deadline = time.perf_counter() + seconds
    late = False

    def should_stop() -> bool:
        nonlocal late
        late = late or time.perf_counter() > deadline
        return late

    turns = search(world, pod, Budget(), should_stop)
    while True:
        try:
            next(turns)
        except StopIteration as end:
            found: Findings = end.value
            answer: dict[str, Any] = {**found.to_json(), "late": late}
            return answer
        if engine.slice.over():
            yield
