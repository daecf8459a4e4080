"""A trace carries the edition of its world; a trace of an older edition names the version that opens it."""

from __future__ import annotations

import pytest

from scheduler_core.formats.export import EDITION, TraceError, check_lines, export_lines, read_log
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import node, pod

LOG = {0: {"kind": "ApplyObjects", "objects": [node("a"), pod("web")]}}


def test_a_trace_is_computed_again() -> None:
    lines = list(export_lines(0, LOG, 20))
    assert lines[0]["edition"] == EDITION
    assert check_lines(lines).difference is None


@pytest.mark.parametrize("edition", [None, 1, 2, 9, "3"])
def test_another_edition_is_refused(edition: object) -> None:
    header = dict(next(export_lines(0, LOG, 1)), edition=edition)
    if edition is None:
        del header["edition"]
    with pytest.raises(TraceError, match=r"expected edition 3; Scheduler Playground 0\.6\.0 opens older traces"):
        read_log([header])


def test_a_new_world_has_the_components_around_the_scheduler() -> None:
    assert Simulation().settings.cluster.controllers is None
