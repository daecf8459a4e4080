"""A trace says what its world began with, where that is not what worlds began with at first."""

from __future__ import annotations

import pytest

from scheduler_core import LATEST_EDITION
from scheduler_core.commands import ApplyObjects
from scheduler_core.export import TraceError, check_lines, export_lines, read_log
from scheduler_core.simulation import Simulation
from tests.scheduler_core.worlds import node, pod

LOG = {0: {"kind": "ApplyObjects", "objects": [node("a"), pod("web")]}}


def test_a_world_of_the_latest_edition_has_its_cluster() -> None:
    assert Simulation().settings.cluster is None
    assert Simulation(edition=LATEST_EDITION).settings.cluster is not None


def test_devices_and_extenders_came_with_the_third() -> None:
    second, third = Simulation(edition=2).settings, Simulation(edition=3).settings
    assert second.cluster is not None and (second.devices, second.extenders) == (False, False)
    assert (third.devices, third.extenders) == (True, True)


def test_a_trace_is_computed_again_with_its_edition() -> None:
    sim = Simulation(edition=LATEST_EDITION)
    sim.apply(ApplyObjects((node("a"), pod("web"))))
    sim.run(steps=40)
    lines = list(export_lines(0, LOG, sim.position, edition=LATEST_EDITION))
    assert lines[0]["edition"] == LATEST_EDITION
    assert read_log(lines).edition == LATEST_EDITION
    assert check_lines(lines).difference is None


def test_a_first_edition_is_not_told() -> None:
    assert "edition" not in next(export_lines(0, LOG, 1))


def test_an_unknown_edition_is_refused() -> None:
    lines = list(export_lines(0, LOG, 1))
    with pytest.raises(TraceError, match="edition 9; expected an edition from 1 to 3"):
        read_log([{**lines[0], "edition": 9}])
