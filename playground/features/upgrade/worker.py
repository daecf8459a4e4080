"""The preview of an upgrade, inside a worker: in pieces, as somebody asks for them."""

import time
from typing import Any

from playground.features.upgrade.query import UpgradePreview
from playground.sessions.protocol.base import Data
from playground.sessions.worker.engines import Engines
from playground.sessions.worker.time_sharing import Steps, TimeSlice, answers_as_worker
from scheduler_core.analysis.upgrade import Stage, iterate_upgrade

STEPS = 1_000_000  # transitions of each run
LONGEST = 600.0  # seconds after which no further cause is looked for


class Preview:
    """A preview on its way; `found` once it is there."""

    def __init__(self, world: Any, request: UpgradePreview) -> None:
        self.source = world.settings.release
        world = world.fork()  # at the head, the session goes on meanwhile
        self.stage = Stage(1, "", 0)
        self.found: dict[str, Any] | None = None
        self._spent = 0.0
        self._work = iterate_upgrade(
            world, request.target, STEPS, report=self._hear, over=lambda: self._spent > LONGEST
        )

    def _hear(self, stage: Stage) -> None:
        self.stage = stage

    def work(self, seconds: float, slice_: TimeSlice) -> Steps[None]:
        """Go on for some seconds, in slices."""
        begun = time.perf_counter()
        while self.found is None and time.perf_counter() - begun < seconds:
            try:
                next(self._work)
            except StopIteration as end:
                self.found = end.value.to_json()
            if slice_.over():
                yield
        self._spent += time.perf_counter() - begun


@answers_as_worker(UpgradePreview, slow=True)
def preview(engines: Engines, session: int, request: UpgradePreview) -> Steps[Data]:
    """Return the preview as JSON data, None while it is on its way, and how far it is."""
    token = f"{request.token} {request.position}"
    task = engines.take_task(session, token, Preview)
    if task is None:
        task = Preview((yield from engines.get(session).at(request.position)), request)
    if task.source != request.target:
        yield from task.work(request.seconds, engines.slice)
        engines.keep_task(session, token, task)
    return {"source": task.source, "at": request.position, "found": task.found, "stage": task.stage}
