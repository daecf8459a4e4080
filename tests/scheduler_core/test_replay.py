"""What is asked of a world or refused by it leaves no mark: a log that is played again comes to the same."""

from __future__ import annotations

import pytest

from scheduler_core.apiserver.status import Refused
from scheduler_core.base.trace.journal import Place
from scheduler_core.world.commands import ApplyObjects, DeleteObjects, Ref, SetConfiguration, Undo
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import configuration, node, nodes_of, pod, scheduler_of, settle, world


def test_a_refused_command_takes_no_number() -> None:
    sim, other = world(node("n")), world(node("n"))
    with pytest.raises(Refused):
        sim.apply(DeleteObjects((Ref("Pod", "default", "nobody"),)))
    more = ApplyObjects((pod("p"),))
    assert [r.to_json() for r in sim.apply(more)] == [r.to_json() for r in other.apply(more)]


def bound_to_a_node_that_goes(ask: bool) -> Simulation:
    """The kubelet's timer means nothing while the node is away. `ask`: somebody looks at what is due meanwhile."""
    sim = world(node("n"), pod("p"))
    sim.run(until=lambda s: bool(nodes_of(s)["default/p"]))
    sim.apply(DeleteObjects((Ref("Node", "", "n"),)))
    if ask:
        sim.due(10**12)
    sim.apply(ApplyObjects((node("n"),)))
    return sim


def test_looking_at_what_is_due_changes_nothing() -> None:
    asked, unasked = bound_to_a_node_that_goes(ask=True), bound_to_a_node_that_goes(ask=False)
    assert asked.agenda.entries() == unasked.agenda.entries()


def test_a_pod_that_undo_brings_back_is_another_pod() -> None:
    """With the UID of the first one, which is in flight, it would be taken for that one."""
    sim = world(node("n"), pod("p"))
    sim.run(until=lambda s: scheduler_of(s).cycle is not None)
    sim.apply(DeleteObjects((Ref("Pod", "default", "p"),)))
    sim.apply(Undo())
    assert [pod.uid for pod in scheduler_of(sim).queue.in_flight] != [sim.store.pods()[0].uid]
    settle(sim)
    assert nodes_of(sim) == {"default/p": "n"}


def test_pods_of_a_scheduler_that_is_taken_away_are_ignored() -> None:
    sim = world(node("n"))
    sim.apply(SetConfiguration(configuration(profiles=[{"schedulerName": "mine"}]), "second"))
    sim.apply(ApplyObjects((pod("p", schedulerName="mine"),)))
    assert sim.journal.place("default/p") == Place.ACTIVE
    sim.apply(SetConfiguration(None, "second"))
    assert sim.journal.place("default/p") == Place.IGNORED


def test_a_scheduler_may_have_the_name_of_what_a_kubelet_does() -> None:
    sim = world(node("n"), pod("p"))
    sim.apply(SetConfiguration(configuration(profiles=[{"schedulerName": "mine"}]), "run"))
    sim.run(until=lambda s: bool(nodes_of(s)["default/p"]))
    sim.apply(SetConfiguration(None, "run"))
    settle(sim)
    assert sim.journal.place("default/p") == Place.RUNNING


def test_the_end_of_a_deleted_pods_attempt_does_not_move_the_pod_that_has_its_name_now() -> None:
    sim = world(node("n"), pod("p"))
    sim.run(until=lambda s: scheduler_of(s).cycle is not None)
    sim.apply(ApplyObjects((pod("p", cpu="2", schedulerName="nobody"),), force=True))
    settle(sim)
    assert sim.journal.place("default/p") == Place.IGNORED
