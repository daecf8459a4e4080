"""Corners where a pod changes, or is made anew under its name, while the scheduler still works with what it has seen."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from scheduler_core.apimachinery.objects.node import Node
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.base.trace.journal import Place
from scheduler_core.scheduler.core.cycles.phases import Phase
from scheduler_core.scheduler.core.steps import binding
from scheduler_core.scheduler.core.steps.api_calls import patch_status
from scheduler_core.scheduler.framework.cycle_state import PODS_TO_ACTIVATE, CycleState
from scheduler_core.scheduler.framework.plugin import Point, Verdicts
from scheduler_core.scheduler.framework.status import error
from scheduler_core.scheduler.plugins.demonstration import Demonstration
from scheduler_core.scheduler.plugins.interpodaffinity.plugin import after_node_topology_change
from scheduler_core.scheduler.plugins.node_name import NodeName
from scheduler_core.world.commands import ApplyObjects, DeleteObjects, Ref, SetConfiguration, SetSettings
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import (
    configuration,
    cycle_of,
    node,
    nodes_of,
    of_kind,
    pod,
    scheduler_of,
    settle,
    world,
)
from tests.support.drive import make_plugin

SECOND = 1_000_000_000
WEB = "default/web"


def says(message: str, generation: int = 1) -> dict[str, Any]:
    return {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": message,
        "observedGeneration": generation,
    }


def refused_web() -> Simulation:
    """A world without room, where the pod `web` has its condition; API calls hold up the scheduler."""
    sim = world(pod("web", cpu="8"), node("a"))
    sim.apply(SetSettings({"async_api_calls": False, "manual": True}))
    sim.store.patch_pod_status(WEB, sim.now, condition=says("no room"))
    return sim


def live(sim: Simulation, key: str = WEB) -> Any:
    found = sim.store.pod_at(key)
    assert found is not None
    return found


def make_anew(sim: Simulation, manifest: dict[str, Any]) -> None:
    sim.apply(DeleteObjects((Ref("Pod", "default", manifest["metadata"]["name"]),)))
    sim.apply(ApplyObjects((manifest,)))


def test_a_patch_that_was_told_from_the_old_pod_leaves_a_condition_without_status_on_the_new_one() -> None:
    sim = refused_web()
    old = live(sim)
    make_anew(sim, pod("web"))
    patch_status(scheduler_of(sim), old, says("no luck"), None)
    sim.run()
    assert live(sim).condition("PodScheduled").get("status") is None
    assert live(sim).condition("PodScheduled")["message"] == "no luck"


def test_a_patch_for_a_nomination_takes_along_the_generation_that_was_seen() -> None:
    sim = refused_web()
    patch_status(scheduler_of(sim), live(sim), says("no room", generation=2), "a")
    sim.run()
    assert live(sim).nominated_node_name == "a"
    assert live(sim).condition("PodScheduled")["observedGeneration"] == 2


def test_a_generation_alone_is_no_reason_for_a_patch() -> None:
    sim = refused_web()
    held_up = patch_status(scheduler_of(sim), live(sim), says("no room", generation=2), None)
    assert held_up == 0
    assert live(sim).condition("PodScheduled")["observedGeneration"] == 1


def test_preemption_goes_by_the_pod_as_it_is_now() -> None:
    sim = world(node("a"), pod("small", cpu="4", priority=0))
    settle(sim)
    sim.apply(ApplyObjects((pod("web", cpu="4", priority=5),)))
    sim.run(until=lambda w: scheduler_of(w).cycle is not None and cycle_of(w).phase is Phase.FILTER)
    make_anew(sim, pod("web", cpu="4", priority=5, preemptionPolicy="Never"))
    sim.run(until=lambda w: cycle_of(w).phase is Phase.FAILED)
    assert cycle_of(sim).message.endswith("preemption: not eligible due to preemptionPolicy=Never.")


def test_a_pod_that_fails_while_it_is_queued_already_is_told_to_be_where_it_is_queued() -> None:
    sim = world(node("a"))
    sim.apply(SetSettings({"bind_cost": 3 * SECOND, "demonstration": True}))
    sim.apply(ApplyObjects((pod("web"),)))
    sim.run(until=lambda w: bool(scheduler_of(w).calls.running))
    sim.apply(SetSettings({"bind_cost": 7 * SECOND // 2}))
    make_anew(sim, pod("web", annotations={"playground.dev/bind": "fail"}))
    sim.run(until=lambda w: w.journal.lane(WEB)[-1].cause == "already queued", steps=1000)
    entry = scheduler_of(sim).queue.find(WEB)
    assert entry is not None and sim.journal.place(WEB) == Place.BACKOFF


@pytest.mark.parametrize(
    ("permit", "place"), [({}, Place.BINDING), ({"playground.dev/permit": "wait:1m"}, Place.WAITING)]
)
def test_a_pod_queued_once_more_while_it_is_being_bound_is_told_to_be_where_it_is(
    permit: dict[str, str], place: str
) -> None:
    sim = world(node("a"))
    sim.apply(SetSettings({"bind_cost": 3 * SECOND, "demonstration": True}))
    sim.apply(ApplyObjects((pod("web"),)))
    sim.run(until=lambda w: bool(scheduler_of(w).calls.running))
    sim.apply(SetSettings({"bind_cost": 30 * SECOND}))
    make_anew(sim, pod("web", annotations=permit))
    sim.run(until=lambda w: w.journal.lane(WEB)[-1].cause == "already assumed")
    assert sim.journal.place(WEB) == place
    assert not scheduler_of(sim).queue.active_pods


def test_who_refused_the_nominated_node_is_named_with_those_that_narrowed_the_nodes() -> None:
    only_a = {"key": "metadata.name", "operator": "In", "values": ["a"]}
    terms = {"nodeSelectorTerms": [{"matchFields": [only_a]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    sim = world(node("a", cpu="1"), node("b", cpu="1"))
    sim.apply(SetSettings({"manual": True}))
    sim.apply(ApplyObjects((pod("web", cpu="2", affinity=affinity),)))
    sim.store.patch_pod_status(WEB, sim.now, nominated_node_name="a")
    sim.apply(SetSettings({"manual": False}))
    sim.run(until=lambda w: bool(w.journal.attempts))
    assert "1 node(s) didn't satisfy plugin(s) [NodeAffinity NodeResourcesFit]" in sim.journal.attempts[0].message


def test_a_gated_pod_of_old_age_is_noticed_at_half_minutes_only() -> None:
    sim = world(node("a"), pod("held", schedulingGates=[{"name": "later"}]))
    sim.apply(SetSettings({"demonstration": True}))
    settle(sim)
    sim.agenda.now = 707 * SECOND
    sim.apply(ApplyObjects((pod("web", annotations={"playground.dev/permit": "wait:10m"}),)))
    sim.run(until=lambda w: "flush_unschedulable" in scheduler_of(w).flushes)
    assert scheduler_of(sim).flushes["flush_unschedulable"] == 720 * SECOND


def test_with_expected_nominations_pre_bind_passes_over_plugins_that_have_nothing_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Demonstration, "will_pre_bind", lambda *_: False)
    sim = world(node("a"))
    sim.apply(SetSettings({"demonstration": True, "expect_nominated_node": True}))
    sim.apply(ApplyObjects((pod("web", annotations={"playground.dev/pre-bind": "fail"}),)))
    records = settle(sim)
    assert nodes_of(sim)[WEB] == "a"
    ran = [step["plugin"] for step in of_kind(records, "plugin_ran") if step["point"] == Point.PRE_BIND]
    assert "Demonstration" not in ran


def test_a_nomination_that_is_taken_back_holds_up_a_synchronous_cycle() -> None:
    sim = world(node("a"), pod("ending", cpu="4", priority=0, terminationGracePeriodSeconds=600))
    settle(sim)
    sim.apply(SetSettings({"async_api_calls": False, "async_preemption": False, "cluster": {"controllers": []}}))
    sim.apply(DeleteObjects((Ref("Pod", "default", "ending"),)))
    sim.apply(ApplyObjects((pod("lower", cpu="4", priority=10),)))
    sim.run(until=lambda w: live(w, "default/lower").nominated_node_name == "a")
    sim.apply(ApplyObjects((pod("high", cpu="4", priority=20),)))
    sim.run(until=lambda w: "default/high" in scheduler_of(w).queue)
    sim.run(until=lambda w: any(p.key == "default/high" for p in scheduler_of(w).queue.in_flight))
    sim.run(until=lambda w: not scheduler_of(w).queue.in_flight)
    assert live(sim, "default/lower").nominated_node_name == ""


def test_a_pod_made_anew_is_assumed_while_the_binding_of_its_former_self_goes_on() -> None:
    sim = world(node("a"))
    sim.apply(SetSettings({"bind_cost": 10 * SECOND}))
    sim.apply(ApplyObjects((pod("web"),)))
    sim.run(until=lambda w: bool(scheduler_of(w).cache.assumed))
    make_anew(sim, pod("web"))
    sim.run(until=lambda w: len(scheduler_of(w).cache.where) == 2)
    sim.run()
    assert nodes_of(sim)[WEB] == "a"
    assert list(scheduler_of(sim).cache.where) == [live(sim).uid]


def test_preemption_does_not_find_a_pod_that_has_ended_meanwhile() -> None:
    sim = world(node("a"))
    sim.apply(ApplyObjects((pod("web", cpu="8"),)))
    sim.run(until=lambda w: scheduler_of(w).cycle is not None and cycle_of(w).phase is Phase.FILTER)
    ended = {**live(sim).manifest, "status": {"phase": "Succeeded"}}
    sim.change(lambda: sim.store.overwrite(ended, "Pod") and None)
    sim.run(until=lambda w: cycle_of(w).phase is Phase.FAILED)
    assert cycle_of(sim).message.endswith('preemption: pod "web" not found')


def test_a_victim_that_has_not_started_counts_as_started_now() -> None:
    sim = world(node("a", cpu="2"))
    future = {"phase": "Running", "startTime": "2030-01-01T00:00:00Z"}
    sim.apply(SetSettings({"cluster": {"controllers": []}}))
    for name, status in (("begun", {"phase": "Pending"}), ("later", future)):
        manifest = pod(name, cpu="1", priority=0, nodeName="a")
        sim.apply(ApplyObjects(({**manifest, "status": status},)))
    sim.apply(ApplyObjects((pod("web", cpu="1", priority=5),)))
    sim.run(until=lambda w: bool(scheduler_of(w).evictions))
    (job,) = scheduler_of(sim).evictions.values()
    assert [victim.name for victim in job.victims] == ["later"]


def nominated_to_b(**fields: Any) -> Simulation:
    """Two nodes and the pod `web`, nominated to the second; `fields` are of the configuration."""
    sim = world(node("a"), node("b"))
    sim.apply(SetConfiguration(configuration(**fields)))
    sim.apply(SetSettings({"manual": True}))
    sim.apply(ApplyObjects((pod("web"),)))
    sim.store.patch_pod_status(WEB, sim.now, nominated_node_name="b")
    sim.apply(SetSettings({"manual": False}))
    return sim


def test_an_internal_error_on_the_nominated_node_leads_to_a_search_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Verdicts(np.zeros(1, np.int32), (error("no luck"),))
    asked: list[int] = []

    def fails_at_first(*given: Any) -> Verdicts | None:
        asked.append(len(given[-1]))
        return broken if len(asked) == 1 else None

    monkeypatch.setattr(NodeName, "filter", fails_at_first)
    sim = nominated_to_b()
    settle(sim)
    assert asked == [1, 2]
    assert sim.journal.attempts[0].outcome == "scheduled"


def test_without_filter_plugins_the_nominated_node_is_taken() -> None:
    sim = nominated_to_b(profiles=[{"plugins": {"filter": {"disabled": [{"name": "*"}]}}}])
    settle(sim)
    assert nodes_of(sim)[WEB] == "b"
    assert sim.journal.attempts[0].feasible == 1


def test_preemption_makes_room_for_what_pre_filter_saw() -> None:
    sim = world(node("a"), pod("one", cpu="2", priority=0), pod("two", cpu="2", priority=1))
    settle(sim)
    sim.apply(ApplyObjects((pod("web", cpu="4", priority=5),)))
    sim.run(until=lambda w: scheduler_of(w).cycle is not None and cycle_of(w).phase is Phase.FILTER)
    make_anew(sim, pod("web", cpu="2", priority=5))
    sim.run(until=lambda w: bool(scheduler_of(w).evictions))
    (job,) = scheduler_of(sim).evictions.values()
    assert {victim.name for victim in job.victims} == {"one", "two"}


def test_a_profile_without_reserve_has_no_volumes_for_pods_without_claims() -> None:
    sim = world(node("a"))
    plugins = {"reserve": {"disabled": [{"name": "*"}]}}
    sim.apply(SetConfiguration(configuration(profiles=[{"plugins": plugins}])))
    sim.apply(ApplyObjects((pod("web"),)))
    sim.run(until=lambda w: "PodScheduled" in str(live(w).conditions))
    message = live(sim).condition("PodScheduled")["message"]
    assert message == 'running PreBind plugin "VolumeBinding": no pod volume found for node "a"'


def test_a_nominated_pod_that_was_passed_over_no_longer_keeps_room() -> None:
    sim = world(node("a"))
    sim.apply(SetSettings({"manual": True, "cluster": {"controllers": []}}))
    sim.apply(ApplyObjects((pod("ending", cpu="4", priority=9),)))
    sim.store.patch_pod_status("default/ending", sim.now, nominated_node_name="a")
    ending = deepcopy(dict(live(sim, "default/ending").manifest))
    ending["metadata"]["deletionTimestamp"] = "2026-01-01T02:00:00Z"
    sim.change(lambda: sim.store.overwrite(ending, "Pod") and None)
    sim.apply(SetSettings({"manual": False}))
    sim.apply(ApplyObjects((pod("web", cpu="4", priority=0),)))
    settle(sim)
    assert [other.key for other in scheduler_of(sim).queue.nominator.on("a")] == ["default/ending"]
    assert nodes_of(sim)[WEB] == "a"


def test_a_synchronous_cycle_ends_before_a_victim_that_waited_on_permit_is_taken_back() -> None:
    sim = world(node("a"))
    sim.apply(SetSettings({"demonstration": True, "async_preemption": False}))
    sim.apply(ApplyObjects((pod("small", cpu="4", annotations={"playground.dev/permit": "wait:10m"}),)))
    sim.run(until=lambda w: bool(scheduler_of(w).pods_waiting()))
    sim.apply(ApplyObjects((pod("web", cpu="4", priority=5),)))
    events = of_kind(settle(sim), "event")
    failed = [event["name"] for event in events if event["reason"] == "FailedScheduling"]
    assert failed[:2] == ["web", "small"]


def test_a_pod_that_is_to_be_activated_twice_is_activated_once() -> None:
    sim = world(node("a"), pod("held", schedulingGates=[{"name": "later"}]))
    settle(sim)
    gauge = scheduler_of(sim).queue.state.metrics.unschedulable
    before = dict(gauge)
    state = CycleState()
    state.write(PODS_TO_ACTIVATE, ("default/held", "default/held"))
    binding.activate(scheduler_of(sim), state)
    assert sum(gauge.values()) == sum(before.values()) + 1


def test_a_condition_keeps_the_generation_that_a_patch_says_nothing_of() -> None:
    sim = world(pod("web"), node("a"))
    sim.apply(SetSettings({"async_api_calls": False, "manual": True}))
    known = live(sim)
    sim.store.patch_pod_status(WEB, sim.now, condition=says("no room"))
    condition = {name: value for name, value in says("timeout").items() if name != "observedGeneration"}
    patch_status(scheduler_of(sim), known, condition, None)
    sim.run()
    assert live(sim).condition("PodScheduled")["observedGeneration"] == 1
    assert live(sim).condition("PodScheduled")["message"] == "timeout"


@pytest.mark.parametrize(("requirement", "woken"), [({"operator": "Foo"}, True), ({"operator": "Exists"}, False)])
def test_required_pod_affinity_that_can_not_be_parsed_is_a_reason_to_try_again(
    requirement: dict[str, str], woken: bool
) -> None:
    term = {"topologyKey": "zone", "labelSelector": {"matchExpressions": [{"key": "app", **requirement}]}}
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    waiting = Pod.from_manifest(pod("web", affinity=affinity))
    added = Node.from_manifest(node("a"))
    assert after_node_topology_change(None, waiting, None, added) is woken


@pytest.mark.parametrize(
    ("field", "woken"), [({"operator": "Exists"}, True), ({"operator": "In", "values": ["b"]}, False)]
)
def test_node_affinity_that_can_not_be_parsed_is_a_reason_to_try_again(field: dict[str, Any], woken: bool) -> None:
    terms = {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", **field}]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    waiting = Pod.from_manifest(pod("web", affinity=affinity))
    plugin = make_plugin("NodeAffinity")
    (hint,) = [on.hint for on in plugin.registrations()]
    assert hint(plugin, waiting, None, Node.from_manifest(node("a"))) is woken
    elsewhere = Pod.from_manifest(pod("web", affinity=affinity, nodeSelector={"disk": "ssd"}))
    assert hint(plugin, elsewhere, None, Node.from_manifest(node("a"))) is False
