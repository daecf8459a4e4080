"""Profiles may leave a plugin out of PreFilter or PreScore only; what it would have left there is missed, as in kube."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler_core.scheduler.framework.cycle_state import CycleState
from scheduler_core.scheduler.framework.status import error
from scheduler_core.testing.builders import make_node, make_pod, make_table
from tests.support.drive import make_plugin

NODES = make_table([make_node("a"), make_node("b")])
POD = make_pod("p").pod()


@pytest.mark.parametrize(
    ("plugin", "message"),
    [
        ("DynamicResources", "not found"),
        ("InterPodAffinity", 'error reading "PreFilterInterPodAffinity" from cycleState: not found'),
        ("NodePorts", 'reading "PreFilterNodePorts" from cycleState: not found'),
        ("NodeResourcesFit", 'error reading "PreFilterNodeResourcesFit" from cycleState: not found'),
        ("PodTopologySpread", 'reading "PreFilterPodTopologySpread" from cycleState: not found'),
        ("VolumeBinding", "not found"),
        ("VolumeRestrictions", 'cannot read "PreFilterVolumeRestrictions" from cycleState'),
    ],
)
def test_filter_without_pre_filter_is_an_error_on_every_node(plugin: str, message: str) -> None:
    rows = np.arange(2, dtype=np.intp)
    verdicts = make_plugin(plugin).filter(CycleState(), POD, NODES, rows)
    assert verdicts is not None
    assert [verdicts.statuses[reason] for reason in verdicts.reason.tolist()] == [error(message)] * 2


@pytest.mark.parametrize(
    ("plugin", "message"),
    [
        ("InterPodAffinity", 'failed to read "PreScoreInterPodAffinity" from cycleState: not found'),
        ("PodTopologySpread", 'error reading "PreScorePodTopologySpread" from cycleState: not found'),
        ("TaintToleration", 'failed to read "PreScoreTaintToleration" from cycleState: not found'),
    ],
)
def test_score_without_pre_score_is_an_error(plugin: str, message: str) -> None:
    assert make_plugin(plugin).score(CycleState(), POD, NODES, np.arange(2, dtype=np.intp)) == error(message)
