"""What a scheduler makes of each change in the API server: which cluster events, and what becomes of a pod wherever it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from scheduler_core.apiserver.watch import ADDED, WatchEvent
from scheduler_core.base.trace.journal import Place
from scheduler_core.scheduler.core.steps import handlers
from scheduler_core.scheduler.framework.events import ObjectEvent
from scheduler_core.world.commands import (
    ApplyObjects,
    Command,
    DeleteObjects,
    PatchObject,
    Ref,
    SetConfiguration,
    SetSettings,
)
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import configuration, node, nodes_of, pod, scheduler_of, settle, world
from tests.support.storage import make_claim, make_class, make_volume

A = Ref("Node", "", "a")
WEB = "default/web"
GONE = DeleteObjects((Ref("Pod", "default", "web"),))


def heard(sim: Simulation, command: Command) -> list[str]:
    """The labels of the cluster events that the queue is told of."""
    queue, found = scheduler_of(sim).queue, []
    tell = queue.move_all

    def listen(what: ObjectEvent, now: int, *only: Any) -> None:
        found.append(what.event.label)
        tell(what, now, *only)

    queue.move_all = listen  # type: ignore[method-assign]
    sim.apply(command)
    queue.move_all = tell  # type: ignore[method-assign]
    return found


# Nodes

CHANGES_OF_A_NODE: list[tuple[dict[str, Any], list[str]]] = [
    ({"metadata": {"labels": {"x": "y"}}}, ["NodeUpdateNodeLabel"]),
    ({"metadata": {"annotations": {"x": "y"}}}, ["NodeUpdateNodeAnnotation"]),
    ({"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}}, ["NodeUpdateNodeTaint"]),
    ({"status": {"allocatable": {"cpu": "9"}}}, ["NodeUpdateNodeAllocatable"]),
    ({"status": {"conditions": [{"type": "Ready", "status": "True"}]}}, ["NodeUpdateNodeCondition"]),
    ({"spec": {"unschedulable": True}}, []),
    ({"spec": {"podCIDR": "10.0.0.0/24"}}, []),
    (
        {"metadata": {"labels": {"x": "y"}}, "status": {"allocatable": {"cpu": "9"}}},
        ["NodeUpdateNodeAllocatable", "NodeUpdateNodeLabel"],
    ),
]


@pytest.mark.parametrize(("patch", "events"), CHANGES_OF_A_NODE)
def test_an_update_of_a_node_is_the_events_of_what_changed(patch: dict[str, Any], events: list[str]) -> None:
    assert heard(world(node("a")), PatchObject(A, patch)) == events


def test_a_node_that_comes_and_one_that_goes_are_events() -> None:
    sim = world()
    assert heard(sim, ApplyObjects((node("a"),))) == ["NodeAdd"]
    assert heard(sim, DeleteObjects((A,))) == ["NodeDelete"]


def test_uncordoning_is_an_event_of_taints_and_cordoning_none() -> None:
    sim = world(node("a"))
    assert heard(sim, PatchObject(A, {"spec": {"unschedulable": True}})) == []
    assert heard(sim, PatchObject(A, {"spec": {"unschedulable": None}})) == ["NodeUpdateNodeTaint"]


# Pods


def bound() -> dict[str, Any]:
    manifest = pod("web")
    manifest["spec"]["nodeName"] = "a"
    return manifest


def test_a_pod_with_a_node_that_comes_changes_and_goes_is_told_as_an_assigned_one() -> None:
    sim = world(node("a"))
    sim.apply(SetSettings({"cluster": {"controllers": []}}))
    assert heard(sim, ApplyObjects((bound(),))) == ["AssignedPodAdd"]
    labels = PatchObject(Ref("Pod", "default", "web"), {"metadata": {"labels": {"x": "y"}}})
    assert heard(sim, labels) == ["AssignedPodUpdatePodLabel"]
    records = sim.change(lambda: sim.store.remove("Pod", "default", "web") and None)
    assert records
    assert scheduler_of(sim).cache.table().pod_count.tolist() == [0]


def test_a_pod_without_a_node_is_told_to_nobody_but_the_queue() -> None:
    sim = world(node("a"))
    assert heard(sim, ApplyObjects((pod("web"),))) == []
    assert WEB in scheduler_of(sim).queue
    assert heard(sim, GONE) == []
    assert WEB not in scheduler_of(sim).queue


def test_a_pod_that_has_ended_frees_its_room() -> None:
    sim = world(node("a"), bound())
    sim.apply(PatchObject(Ref("Pod", "default", "web"), {"status": {"phase": "Succeeded"}}, subresource="status"))
    assert scheduler_of(sim).cache.table().pod_count.tolist() == [0]


# Everything else

STORAGE = [
    (make_volume("v"), "PersistentVolume"),
    (make_claim("c"), "PersistentVolumeClaim"),
    (make_class(), "storage.k8s.io/StorageClass"),
    (
        {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": "n"}, "spec": {"drivers": []}},
        "storage.k8s.io/CSINode",
    ),
    (
        {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": "d"}, "spec": {}},
        "storage.k8s.io/CSIDriver",
    ),
]


@pytest.mark.parametrize(("manifest", "resource"), STORAGE, ids=lambda each: each if isinstance(each, str) else "")
def test_an_object_of_storage_that_comes_changes_and_goes_is_an_event(manifest: dict[str, Any], resource: str) -> None:
    sim = Simulation()
    sim.apply(SetSettings({"cluster": {"controllers": []}}))
    name, namespace = manifest["metadata"]["name"], manifest["metadata"].get("namespace", "")
    kind = manifest["kind"]
    namespace = "default" if kind == "PersistentVolumeClaim" else namespace
    assert heard(sim, ApplyObjects((manifest,))) == [f"{resource}Add"]
    change = PatchObject(Ref(kind, namespace, name), {"metadata": {"labels": {"x": "y"}}})
    assert heard(sim, change) == [f"{resource}Update"]
    assert heard(sim, DeleteObjects((Ref(kind, namespace, name),))) == [f"{resource}Delete"]


def plain(kind: str, version: str = "v1", **rest: Any) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "x"}, **rest}


@pytest.mark.parametrize(
    "manifest",
    [
        plain("Namespace"),
        plain("Service", spec={"selector": {"a": "b"}, "ports": [{"port": 80}]}),
        plain("PriorityClass", "scheduling.k8s.io/v1", value=5),
    ],
    ids=lambda manifest: manifest["kind"],
)
def test_what_kube_only_looks_up_is_no_event(manifest: dict[str, Any]) -> None:
    sim = world(node("a"))
    assert heard(sim, ApplyObjects((manifest,))) == []


def test_a_resource_claim_is_no_event() -> None:
    sim = world(node("a"), pod("big", cpu="9"))
    sim.run(until=lambda w: bool(w.journal.attempts))
    claim = plain("ResourceClaim", "resource.k8s.io/v1")
    handlers.on_watch(scheduler_of(sim), WatchEvent(ADDED, "ResourceClaim", None, claim))
    assert sim.journal.place("default/big") == Place.UNSCHEDULABLE


# A pod that is deleted, wherever it is


def until_place(sim: Simulation, place: str) -> Simulation:
    sim.run(until=lambda w: w.journal.place(WEB) == place, steps=500)
    return sim


def demonstrated(**annotations: str) -> Simulation:
    sim = Simulation()
    sim.apply(SetSettings({"demonstration": True}))
    told = {f"playground.dev/{name.replace('_', '-')}": value for name, value in annotations.items()}
    sim.apply(ApplyObjects((node("a"), pod("web", annotations=told))))
    return sim


WHERE: dict[str, Callable[[], Simulation]] = {
    Place.ACTIVE: lambda: world(pod("web")),
    Place.IN_FLIGHT: lambda: until_place(world(node("a"), pod("web")), Place.IN_FLIGHT),
    Place.UNSCHEDULABLE: lambda: until_place(world(node("a"), pod("web", cpu="9")), Place.UNSCHEDULABLE),
    Place.BACKOFF: lambda: until_place(demonstrated(reserve="fail"), Place.BACKOFF),
    Place.GATED: lambda: world(node("a"), pod("web", schedulingGates=[{"name": "g"}])),
    Place.WAITING: lambda: until_place(demonstrated(permit="wait:9s"), Place.WAITING),
    Place.BINDING: lambda: until_place(demonstrated(pre_bind="delay:9s"), Place.BINDING),
    Place.BOUND: lambda: until_place(world(node("a"), pod("web")), Place.BOUND),
    Place.IGNORED: lambda: world(node("a"), pod("web", schedulerName="nobody")),
}


@pytest.mark.parametrize("place", WHERE)
def test_a_pod_that_is_deleted_leaves_nothing_behind(place: str) -> None:
    sim = WHERE[place]()
    assert sim.journal.place(WEB) == place
    sim.apply(GONE)
    settle(sim)
    scheduler = scheduler_of(sim)
    assert WEB not in scheduler.queue
    assert (scheduler.queue.in_flight, scheduler.bindings, scheduler.cache.assumed) == ([], {}, {})
    assert sim.journal.place(WEB) == Place.DELETED
    assert scheduler.cache.where == {}


@pytest.mark.parametrize("place", [Place.ACTIVE, Place.UNSCHEDULABLE, Place.BACKOFF, Place.GATED])
def test_an_update_of_a_waiting_pod_is_what_is_tried_next(place: str) -> None:
    sim = WHERE[place]()
    sim.apply(PatchObject(Ref("Pod", "default", "web"), {"metadata": {"labels": {"x": "y"}}}))
    entry = scheduler_of(sim).queue.find(WEB)
    assert entry is not None
    assert entry.pod.labels == {"x": "y"}


def test_a_pod_made_anew_under_its_name_while_it_is_in_flight_is_scheduled() -> None:
    sim = WHERE[Place.IN_FLIGHT]()
    sim.apply(GONE)
    sim.apply(ApplyObjects((pod("web", cpu="2"),)))
    settle(sim)
    assert nodes_of(sim) == {WEB: "a"}


def test_a_profile_of_the_pods_name_takes_it_up() -> None:
    sim = WHERE[Place.IGNORED]()
    sim.apply(SetConfiguration(configuration(profiles=[{"schedulerName": "nobody"}])))
    settle(sim)
    assert nodes_of(sim) == {WEB: "a"}


def test_the_room_of_a_pod_that_is_deleted_while_it_waits_on_permit_is_told_at_once() -> None:
    assert heard(WHERE[Place.WAITING](), GONE) == ["AssignedPodDelete"]


def nominated(priority: int) -> Simulation:
    """The pod `web` waits, nominated to the node; three others of priorities 0, 5 and 9 wait too."""
    others = [pod(f"p{n}", cpu="9", priority=n) for n in (0, 5, 9)]
    sim = world(node("a"), pod("web", cpu="9", priority=priority), *others)
    sim.apply(SetSettings({"manual": True}))
    sim.store.patch_pod_status(WEB, sim.now, nominated_node_name="a")
    return sim


def told_of(sim: Simulation, change: Callable[[], object]) -> list[str]:
    """The pods that a change in the API server is told for, where it is not told for all."""
    queue, pods = scheduler_of(sim).queue, sim.store.pods()
    found: list[str] = []

    def listen(what: ObjectEvent, now: int, only: Callable[[Any], bool] | None = None) -> None:
        found.extend(p.name for p in pods if p.key != WEB and (only is None or only(p)))

    queue.move_all = listen  # type: ignore[method-assign]
    change()
    return found


def test_a_promised_room_that_is_free_again_is_told_to_pods_that_matter_no_more() -> None:
    sim = nominated(priority=5)
    assert told_of(sim, lambda: sim.apply(GONE)) == ["p0", "p5"]


def test_a_promise_that_is_taken_back_is_told_to_pods_that_matter_no_more() -> None:
    sim = nominated(priority=5)

    def take_back() -> None:
        sim.store.patch_pod_status(WEB, sim.now, nominated_node_name="")

    assert told_of(sim, lambda: sim.change(take_back)) == ["p0", "p5"]
