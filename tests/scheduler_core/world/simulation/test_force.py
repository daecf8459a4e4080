"""ApplyObjects with force: what can't be changed in place is made anew, and nothing else."""

from __future__ import annotations

import pytest

from scheduler_core.apiserver.status import Refused
from scheduler_core.world.commands import ApplyObjects
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import node, pod


@pytest.fixture
def sim() -> Simulation:
    sim = Simulation()
    sim.apply(ApplyObjects((node("n"), pod("web", cpu="8"))))
    return sim


def uid(sim: Simulation) -> str:
    found = sim.store.pod_at("default/web")
    assert found is not None
    return found.uid


def test_without_force_it_is_refused(sim: Simulation) -> None:
    with pytest.raises(Refused, match="pod updates may not change fields other than"):
        sim.apply(ApplyObjects((pod("web", cpu="1"),)))


def test_with_force_the_pod_is_another_one(sim: Simulation) -> None:
    before = uid(sim)
    sim.apply(ApplyObjects((pod("web", cpu="1"),), force=True))
    assert uid(sim) != before
    sim.run(steps=500)
    assert sim.store.pod_at("default/web").node_name == "n"  # type: ignore[union-attr]


def test_what_is_refused_then_leaves_the_pod_where_it_is(sim: Simulation) -> None:
    before = uid(sim)
    with pytest.raises(Refused):
        sim.apply(ApplyObjects((pod("web", cpu="1"), {**pod("other"), "spec": {"containers": []}}), force=True))
    assert uid(sim) == before
