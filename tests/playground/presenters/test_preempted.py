"""From the pod and from its victims to the preemption between them."""

from __future__ import annotations

from typing import Any

import pytest

from playground.presenters.scene import count_evaluated_nodes
from scheduler_core.world.simulation import Simulation
from tests.playground.preemption_world import objects
from tests.playground.presenters.worlds import decided, shown, until, world

KEY, VICTIM = "default/ml-train-0", "default/batch-7"


def links(sim: Simulation, pod: str, tab: str) -> list[tuple[str, int, dict[str, Any]]]:
    body = shown("inspector", sim, pod=pod, tab=tab)["context"]["body"]
    return [(link["pod"], link["at"], link["said"]["values"]) for link in body["preemptions"]]


@pytest.mark.parametrize("tab", ["summary", "journey"])
def test_the_pod_leads_to_its_preemption(tab: str) -> None:
    sim = until(world(*objects()), decided())
    values = {"victims": "batch-7, batch-8", "node": "node-b2", "n": 1}
    assert links(sim, KEY, tab) == [(KEY, sim.journal.attempts[0].last_position, values)]


def test_a_victim_leads_to_the_pod_that_it_makes_room_for_even_when_it_is_gone() -> None:
    sim = until(world(*objects()), lambda w: w.store.pod_at(VICTIM).deleting)
    ending = links(sim, VICTIM, "summary")
    assert [(pod, values["pod"]) for pod, _, values in ending] == [(KEY, "ml-train-0")]
    until(sim, lambda w: w.store.pod_at(VICTIM) is None)
    assert links(sim, VICTIM, "journey") == links(sim, VICTIM, "summary") == ending


def test_other_pods_have_no_such_link() -> None:
    assert links(until(world(*objects()), decided()), "default/web-1", "summary") == []


def test_the_nominated_node_alone_is_looked_at_when_the_pod_comes_back() -> None:
    sim = until(world(*objects()), lambda w: any(each.node for each in w.journal.attempts_of(KEY)))
    last = sim.journal.attempts_of(KEY)[-1]
    assert (last.node, last.evaluated, last.feasible) == ("node-b2", 0, 1)
    assert count_evaluated_nodes(last) == 1
