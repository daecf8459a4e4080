"""`why_not` right after an attempt gives the attempt's answer, in worlds that hypothesis makes."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core.analysis.inspection import why_not
from scheduler_core.scheduler.core.cycles.scheduling_cycle import SchedulingCycle
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.machine.objects import APPS, HOST, REQUIRED, TERMS, TOPOLOGIES, ZONE
from tests.scheduler_core.worlds import node, pod, scheduler_alone, scheduler_of


def _constraint(app: str, topology: str, skew: int, hard: bool) -> dict[str, Any]:
    return {
        "maxSkew": skew,
        "topologyKey": topology,
        "whenUnsatisfiable": "DoNotSchedule" if hard else "ScheduleAnyway",
        "labelSelector": {"matchLabels": {"app": app}},
    }


SPREADS = st.lists(
    st.builds(_constraint, APPS, TOPOLOGIES, st.integers(1, 2), st.booleans()),
    min_size=1,
    max_size=2,
    unique_by=lambda each: (each["topologyKey"], each["whenUnsatisfiable"]),
)
PREFERENCES = TERMS.map(lambda terms: [{"weight": 50, "podAffinityTerm": term} for term in terms])


@st.composite
def pods(draw: st.DrawFn, name: str) -> dict[str, Any]:
    """A pod that looks at others, and that others look at."""
    spec: dict[str, Any] = {}
    for trait in draw(st.lists(st.sampled_from(["spread", "near", "away", "soft", "port"]), max_size=2)):
        if trait == "spread":
            spec["topologySpreadConstraints"] = draw(SPREADS)
        elif trait == "near":
            spec["affinity"] = {"podAffinity": {REQUIRED: draw(TERMS)}}
        elif trait == "away":
            spec["affinity"] = {"podAntiAffinity": {REQUIRED: draw(TERMS)}}
        elif trait == "soft":
            soft = {"preferredDuringSchedulingIgnoredDuringExecution": draw(PREFERENCES)}
            spec["affinity"] = {draw(st.sampled_from(["podAffinity", "podAntiAffinity"])): soft}
    made = pod(name, cpu=draw(st.sampled_from(["100m", "1", "2"])), **spec)
    made["metadata"]["labels"] = {"app": draw(APPS)}
    if draw(st.integers(0, 3)) == 0:
        made["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 80}]
    return made


@st.composite
def worlds(draw: st.DrawFn) -> Simulation:
    """A few nodes in two zones, and pods that are placed on them one after the other."""
    zones = draw(st.lists(st.sampled_from(["", "z0", "z1"]), min_size=1, max_size=4))
    nodes = [
        node(f"n{i}", draw(st.sampled_from(["2", "4"])), labels={HOST: f"n{i}", **({ZONE: zone} if zone else {})})
        for i, zone in enumerate(zones)
    ]
    made = [draw(pods(f"p{i}")) for i in range(draw(st.integers(1, 6)))]
    return scheduler_alone(*nodes, *made)


def _check(sim: Simulation, cycle: SchedulingCycle) -> None:
    for row, name in enumerate(cycle.nodes.names):
        found = why_not(sim, cycle.pod.key, name)
        assert found is not None
        refused = cycle.status_of(row)
        assert found.leaves == (cycle.chosen or "")
        if refused is not None:
            assert found.refusal is not None, (cycle.pod.key, name, refused)
            assert (found.refusal.plugin, found.refusal.message) == (refused.plugin, refused.message)
            continue
        assert found.refusal is None, (cycle.pod.key, name, found.refusal)
        scores = cycle.scores
        if scores is not None and scores.total is not None:
            at = scores.rows.tolist().index(row)
            assert found.total == int(scores.total[at])
            assert [(each.plugin, each.normalized) for each in found.scores] == [
                (plugin, int(points[at])) for plugin, points in zip(scores.plugins, scores.normalized, strict=True)
            ]


@settings(max_examples=150)
@given(worlds())
def test_the_answer_after_an_attempt_is_the_answer_of_the_attempt(sim: Simulation) -> None:
    seen = 0
    for _ in range(600):
        if sim.run(steps=1).reason == "idle":
            break
        cycle = scheduler_of(sim).cycle
        if cycle is not None and cycle.ended is not None and cycle.number > seen:
            seen = cycle.number
            _check(sim, cycle)
    assert seen
