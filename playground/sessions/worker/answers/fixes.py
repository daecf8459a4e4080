"""The search for fixes: on a copy of the world at a position, in slices, within a time."""

from __future__ import annotations

import time

from playground.sessions.protocol.base import Data
from playground.sessions.protocol.looking import Fixes
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.time_sharing import Steps
from scheduler_core.fixes import Budget, Findings, search_fixes


def fixes(engine: Engine, request: Fixes) -> Steps[Data]:
    """Findings as JSON data; "late" where the time was over before the search was."""
    world = (yield from engine.at(request.position)).fork()
    deadline = time.perf_counter() + request.seconds
    late = False

    def should_stop() -> bool:
        nonlocal late
        late = late or time.perf_counter() > deadline
        return late

    search = search_fixes(world, request.pod, Budget(), should_stop)
    while True:
        try:
            next(search)
        except StopIteration as end:
            findings: Findings = end.value
            return {**findings.to_json(), "late": late}
        if engine.slice.over():
            yield
