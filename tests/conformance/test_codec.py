"""The queue's corpus with the world written and read again between the steps: what kube did is done all the same."""

from typing import Any

import pytest

from scheduler_core.testing.conformance.timelines import oracle
from scheduler_core.testing.conformance.timelines.run import Run
from scheduler_core.world.checkpoint import Archive, decode, encode
from tests.conformance.test_timelines import TIMELINES

EVERY = 3
# Candidates for a lease have no world around them there; worlds with replicas are read again in tests/scheduler_core.
OF_WORLDS = [timeline for timeline in TIMELINES if timeline.family != "queue/leader-election"]
SAMPLE = [timeline for number, timeline in enumerate(OF_WORLDS) if number % 6 == 0]


class _Rereading(Run):
    """Goes on in a world made from bytes after every third operation."""

    count = 0

    def _apply(self, op: Any) -> None:
        super()._apply(op)
        self.count += 1
        if self.count % EVERY == 0:
            archive = Archive()
            data = encode(self.sim.fork(), archive)
            archive.release_when_idle()
            self.sim = self.observer._sim = decode(data, archive)
            self.scheduler = self.sim.schedulers[0]


@pytest.mark.parametrize("scenario", SAMPLE, ids=lambda s: f"{s.family}: {s.name}"[:90])
def test_the_timeline_runs_as_kube_ran_it_from_bytes(scenario: Any) -> None:
    with oracle.oracle():
        assert _Rereading(scenario.data, scenario.release).difference() is None
