"""The preview of an upgrade, inside a worker. Each request continues it."""

import time
from typing import Any

from playground.features.upgrade.query import UpgradePreview
from playground.sessions.protocol.base import Data
from playground.sessions.worker.engines import Engines
from playground.sessions.worker.time_sharing import Steps, Task, TimeSlice, answers_as_worker, in_slices
from scheduler_core.analysis.upgrade import Stage, Upgrade, iterate_upgrade

STEPS = 1_000_000  # transitions of each run
LONGEST = 600.0  # seconds after which the search for causes ends


class Preview(Task[Upgrade, None]):
    """A preview in progress."""

    def __init__(self, world: Any, request: UpgradePreview, slice_: TimeSlice) -> None:
        self.source = world.settings.release
        world = world.fork()  # because the session at the head continues meanwhile
        self.stage = Stage(1, "", 0)
        self._spent = 0.0
        steps = iterate_upgrade(world, request.target, STEPS, report=self._hear, over=lambda: self._spent > LONGEST)
        super().__init__(in_slices(steps, slice_))

    def _hear(self, stage: Stage) -> None:
        self.stage = stage

    def work(self, seconds: float) -> Steps[None]:
        begun = time.perf_counter()
        yield from super().work(seconds)
        self._spent += time.perf_counter() - begun

    def progress(self) -> None:
        """Do nothing: the page reads the stage and the result."""


@answers_as_worker(UpgradePreview, slow=True)
def preview(engines: Engines, session: int, request: UpgradePreview) -> Steps[Data]:
    """Return the preview as JSON data, or None while it is incomplete, and its stage."""
    token = f"{request.token} {request.position}"
    task = engines.take_task(session, token, Preview)
    if task is None:
        task = Preview((yield from engines.get(session).at(request.position)), request, engines.slice)
    if task.source != request.target:
        yield from task.work(request.seconds)
        engines.keep_task(session, token, task)  # also when it is done: the page may be loaded again
    found = None if task.result is None else task.result.to_json()
    return {"source": task.source, "at": request.position, "found": found, "stage": task.stage}
