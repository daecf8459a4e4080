"""What kube's feature gates change, both ways."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.apimachinery.objects.pod import Pod, Reading
from scheduler_core.apiserver.status import Refused
from scheduler_core.scheduler.core.steps.handlers import pod_changes
from scheduler_core.scheduler.framework.events import UNSPLIT
from scheduler_core.scheduler.framework.features import Features
from scheduler_core.scheduler.framework.plugin import Point
from scheduler_core.scheduler.plugins.dynamicresources.plugin import DISABLED, DynamicResources
from scheduler_core.testing.builders import PodBuilder, make_node, make_pod, make_table
from scheduler_core.world.checkpoint.archive import Archive
from scheduler_core.world.checkpoint.decoder import decode
from scheduler_core.world.checkpoint.encoder import encode
from scheduler_core.world.commands import ApplyObjects, Redo, SetConfiguration, SetSettings, Undo
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import configuration, node, nodes_of, pod, scheduler_of, settle, world
from tests.support.drive import NoObjects, filter_nodes, make_plugin

BOTH = pytest.mark.parametrize("on", [True, False])


def gated(*objects: dict[str, Any], **gates: bool) -> Simulation:
    """A world with its gates set, and then these objects in it."""
    sim = world()
    sim.apply(SetSettings(gates))
    sim.apply(ApplyObjects(objects))
    return sim


def requested(sim: Simulation) -> int:
    """Milli-CPUs that the pods of the only node ask for, as the scheduler counts them."""
    return int(scheduler_of(sim).cache.requested[0][0])


def whole(name: str, cpu: str, **spec: Any) -> dict[str, Any]:
    """A pod that asks for this as a whole, and for 1 cpu in its container."""
    return pod(name, resources={"requests": {"cpu": cpu}}, **spec)


def running(name: str, cpu: str) -> dict[str, Any]:
    """A pod on node a whose container asks for 3 cpus and runs with this."""
    resources = {"requests": {"cpu": cpu}}
    state = {"name": "c", "resources": resources, "allocatedResources": resources["requests"]}
    manifest = pod(name, cpu="1", nodeName="a")
    return {**manifest, "status": {"phase": "Running", "containerStatuses": [state]}}


# PodLevelResources


@pytest.mark.parametrize(("on", "placed"), [(True, {}), (False, {"default/web": "a"})])
def test_pod_level_requests_are_filtered_by_with_their_gate(on: bool, placed: dict[str, str]) -> None:
    sim = gated(node("a", cpu="2"), whole("web", "3"), pod_level_resources=on)
    settle(sim)
    assert {key: at for key, at in nodes_of(sim).items() if at} == placed


@pytest.mark.parametrize(("on", "cpu"), [(True, 3000), (False, 1000)])
def test_pod_level_requests_are_in_a_nodes_sums_with_their_gate(on: bool, cpu: int) -> None:
    sim = gated(node("a"), whole("web", "3", nodeName="a"), pod_level_resources=on)
    assert requested(sim) == cpu


def test_turning_the_gate_off_reads_the_pods_that_are_there_anew() -> None:
    sim = world(node("a"), whole("web", "3", nodeName="a"))
    sim.apply(SetSettings({"pod_level_resources": False}))
    assert requested(sim) == 1000
    sim.apply(Undo())
    assert requested(sim) == 3000


@pytest.mark.parametrize(("reading", "nonzero"), [(Reading.ALL, 3000), (Reading.IN_PLACE, 100)])
def test_pod_level_requests_count_among_the_nonzero_sums_with_their_gate(reading: Reading, nonzero: int) -> None:
    manifest = make_pod("p").pod_level(cpu="3").manifest()
    assert Pod.from_manifest(manifest, None, reading).nonzero[0] == nonzero


@pytest.mark.parametrize("reading", [Reading.ALL, Reading.IN_PLACE])
def test_what_counts_as_scaled_down_does_not_depend_on_pod_level_resources(reading: Reading) -> None:
    def scaled_down(old: PodBuilder, new: PodBuilder) -> bool:
        pods = [Pod.from_manifest(each.manifest(), None, reading) for each in (old, new)]
        return any("ScaleDown" in change.label for change in pod_changes(pods[0], pods[1], Features(), UNSPLIT))

    base = make_pod("p").pod_level(cpu="3").on("a")
    assert not scaled_down(base.requests(cpu="1"), base.requests(cpu="500m"))
    assert scaled_down(base, base.pod_level(cpu="2"))


# InPlacePodVerticalScaling


@pytest.mark.parametrize(("on", "cpu"), [(True, 3000), (False, 1000)])
def test_what_a_status_reports_counts_with_its_gate(on: bool, cpu: int) -> None:
    sim = gated(node("a"), running("web", "3"), in_place_scaling=on)
    assert requested(sim) == cpu


@BOTH
def test_node_resources_fit_hears_of_scaled_down_pods_with_the_gate(on: bool) -> None:
    sim = gated(node("a"), pod("web", cpu="3", nodeName="a"), pod("big", cpu="2"), in_place_scaling=on)
    settle(sim)
    metadata = sim.store.pods()[1].manifest["metadata"]
    sim.store.replace({**pod("web", cpu="1", nodeName="a"), "metadata": dict(metadata)}, "Pod")
    settle(sim)
    assert bool(nodes_of(sim).get("default/big")) is on


# MatchLabelKeysInPodTopologySpread


@pytest.mark.parametrize(("on", "refused"), [(True, []), (False, ["a"])])
def test_match_label_keys_narrow_the_selector_with_their_gate(on: bool, refused: list[str]) -> None:
    constraint = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
        "matchLabelKeys": ["version"],
    }
    new = make_pod("new").labels({"app": "web", "version": "2"}).with_spec(topologySpreadConstraints=[constraint])
    old = make_pod("old").labels({"app": "web", "version": "1"}).on("a")
    handle = NoObjects()
    handle.features = Features(spread_label_keys=on)
    nodes = make_table([make_node("a"), make_node("b")], [old])
    found = filter_nodes(make_plugin("PodTopologySpread", handle=handle), new.pod(), nodes)
    assert [name for name, status in found.items() if status is not None] == refused


# PodObservedGenerationTracking


@pytest.mark.parametrize(("on", "seen"), [(True, 1), (False, None)])
def test_a_condition_tells_the_generation_with_its_gate(on: bool, seen: int | None) -> None:
    sim = gated(pod("web"), observed_generation=on)
    settle(sim)
    condition = sim.store.pods()[0].condition("PodScheduled")
    assert condition is not None
    assert condition.get("observedGeneration") == seen


def test_a_condition_that_told_the_generation_goes_on_to_do_so() -> None:
    sim = world(pod("web"))
    settle(sim)
    sim.apply(SetSettings({"observed_generation": False}))
    sim.apply(ApplyObjects((node("small", cpu="0"),)))
    settle(sim)
    condition = sim.store.pods()[0].condition("PodScheduled")
    assert condition is not None
    assert (condition["observedGeneration"], "Insufficient" in condition["message"]) == (1, True)


# DynamicResourceAllocation


@pytest.mark.parametrize(("on", "told"), [(True, True), (False, False)])
def test_the_message_of_dynamic_resources_comes_with_its_gate(on: bool, told: bool) -> None:
    sim = gated(node("a", cpu="1"), pod("web", cpu="4"), dynamic_resources=on)
    settle(sim)
    condition = sim.store.pods()[0].condition("PodScheduled")
    assert condition is not None
    assert ("no new claims to deallocate" in condition["message"]) is told


def test_dynamic_resources_does_nothing_where_it_is_named_without_its_gate() -> None:
    handle = NoObjects()
    handle.features = Features(dynamic_resources=False)
    plugin = make_plugin("DynamicResources", handle=handle)
    assert isinstance(plugin, DynamicResources)
    nodes, web = make_table([make_node("a")]), make_pod("web").pod()
    assert plugin.registrations() == ()
    assert filter_nodes(plugin, web, nodes) == {"a": None}
    nobody: Any = None
    assert plugin.post_filter(nobody, web, nodes, nobody).status == DISABLED


@BOTH
def test_claims_made_for_a_pod_are_an_event_with_the_gate(on: bool) -> None:
    old = make_pod("p").manifest()
    new = {**old, "status": {**old["status"], "resourceClaimStatuses": [{"name": "gpu"}]}}
    changes = pod_changes(Pod.from_manifest(old), Pod.from_manifest(new), Features(dynamic_resources=on), UNSPLIT)
    assert any("GeneratedResourceClaim" in change.label for change in changes) is on


# Whatever the gate


def test_a_gate_that_a_configuration_does_not_allow_is_refused_and_nothing_is_changed() -> None:
    sim = world()
    sim.apply(SetSettings({"storage_capacity_scoring": True}))
    args = {"name": "VolumeBinding", "args": {"shape": [{"utilization": 0, "score": 10}]}}
    sim.apply(SetConfiguration(configuration(profiles=[{"pluginConfig": [args]}])))
    before = sim.position, sim.settings
    with pytest.raises(Refused, match="StorageCapacityScoring"):
        sim.apply(SetSettings({"storage_capacity_scoring": False}))
    assert (sim.position, sim.settings) == before


def test_the_default_configuration_follows_the_gates_and_comes_back() -> None:
    sim = world()
    sim.apply(SetSettings({"dynamic_resources": False}))
    sim.apply(Undo())
    assert "DynamicResources" in [p.name for p in scheduler_of(sim).profiles["default-scheduler"].at(Point.FILTER)]
    sim.apply(Redo())
    assert "DynamicResources" not in [p.name for p in scheduler_of(sim).profiles["default-scheduler"].at(Point.FILTER)]


def test_a_change_of_a_gate_starts_the_scheduler_once() -> None:
    sim = world()
    records = sim.apply(SetSettings({"dynamic_resources": False}))
    records += sim.apply(Undo())
    assert [record.kind for record in records].count("scheduler_started") == 2


@pytest.mark.parametrize("gate", ["pod_level_resources", "in_place_scaling"])
def test_a_checkpoint_keeps_how_pods_are_read(gate: str) -> None:
    sim = gated(node("a"), whole("web", "3", nodeName="a"), running("old", "2"), **{gate: False})
    archive = Archive()
    twin = decode(encode(sim, archive), archive)
    assert [p.requests for p in twin.store.pods()] == [p.requests for p in sim.store.pods()]
    assert requested(twin) == requested(sim)
    assert scheduler_of(twin).features == scheduler_of(sim).features


def test_a_fork_reads_pods_as_its_world_does() -> None:
    sim = gated(node("a"), pod_level_resources=False).fork()
    sim.apply(ApplyObjects((whole("web", "3", nodeName="a"),)))
    assert requested(sim) == 1000
