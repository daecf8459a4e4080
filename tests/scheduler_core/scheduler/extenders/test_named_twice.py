"""A node that an extender names twice: it is drawn twice, as kube's selectHost does, and is one of the best nodes once."""

from __future__ import annotations

import pytest

from scheduler_core.scheduler.extenders.behaviour import RecordedServer
from scheduler_core.testing.conformance.corpus.observe import observe
from scheduler_core.world.commands import ApplyObjects, SetConfiguration, SetExtender
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import cycle_of, node, pod

URL = "http://extender"


@pytest.mark.parametrize("names_only", [True, False])
def test_a_node_that_is_named_twice_is_among_the_best_once(names_only: bool) -> None:
    sim = Simulation()
    kind = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    extender = {"urlPrefix": URL, "filterVerb": "filter", "nodeCacheCapable": names_only}
    sim.apply(SetConfiguration({**kind, "extenders": [extender]}))
    sim.apply(SetExtender(URL, RecordedServer(({"verb": "filter", "add": ["a"]},))))
    sim.apply(ApplyObjects((node("a"), node("b"), pod("p"))))
    sim.run(until=lambda world: bool(world.journal.attempts))
    cycle = cycle_of(sim)
    assert sorted(cycle.tied) == ["a", "a", "b"]
    assert observe(cycle, ranks=True, sampled=False)["topNodes"] == ["a", "b"]
