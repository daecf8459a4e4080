"""The preview of an upgrade, inside a worker."""

import time

from playground.features.upgrade.query import UpgradePreview
from playground.sessions.protocol.base import Data
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.time_sharing import Steps, answers
from scheduler_core.analysis.upgrade import iterate_upgrade

STEPS = 10_000  # transitions of each run


@answers(UpgradePreview)
def preview(engine: Engine, request: UpgradePreview) -> Steps[Data]:
    """Return the preview as JSON data."""
    world = yield from engine.at(request.position)
    end = time.perf_counter() + request.seconds
    found = yield from iterate_upgrade(world, request.target, STEPS, over=lambda: time.perf_counter() > end)
    return found.to_json()
