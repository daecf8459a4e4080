"""What people are told of a node: devices that a claim would get, and why it gets none."""

from __future__ import annotations

from typing import Any

from scheduler_core.analysis.inspection import DeviceSearch, device_search, figures
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.scheduler.plugins.dynamicresources.worlds import device_world, go_on
from tests.scheduler_core.worlds import node, pod
from tests.support.devices import claim, claiming, device, gpus, request
from tests.support.explained import paragraphs, rows


def said(sim: Simulation, where: str = "a") -> str:
    """After the pod's attempt."""
    go_on(sim, 0.5)
    scheduler = sim.schedulers[0]
    assert scheduler.cycle is not None
    profile = scheduler.profiles["default-scheduler"]
    explained = figures(profile, scheduler.cycle, where, "DynamicResources")["DynamicResources"]
    return "\n".join([*(" | ".join(cells) for cells in rows(explained)), *paragraphs(explained)])


def searched(sim: Simulation, where: str = "a") -> DeviceSearch | None:
    go_on(sim, 0.5)
    scheduler = sim.schedulers[0]
    assert scheduler.cycle is not None
    return device_search(scheduler.profiles["default-scheduler"], scheduler.cycle, where)


def with_claim(*objects: Any, asked: Any = None, **settings: Any) -> Simulation:
    return device_world(node("a"), asked or claim("c"), claiming(pod("p"), "c"), *objects, **settings)


def test_the_devices_that_a_claim_would_get_are_named() -> None:
    assert "default/c | would get r=gpu.example.com/a/gpu-0" in said(with_claim(gpus("a")))


def test_each_device_that_was_not_taken_has_its_reason() -> None:
    first = device("gpu-0", attributes={"memory": 10})
    asked = claim("c", request(selectors=[{"cel": {"expression": 'device.attributes["gpu.example.com"].memory > 20'}}]))
    text = said(with_claim(gpus("a", devices=[first]), asked=asked))
    assert "default/c | no device found" in text
    assert 'gpu.example.com/a/gpu-0 | not selected by device.attributes["gpu.example.com"].memory > 20' in text


def test_a_device_that_was_chosen_and_given_back_says_so() -> None:
    assert "gpu.example.com/a/gpu-0 | tried and released" in said(with_claim(gpus("a", 1), asked=claim("c", count=2)))


def test_an_error_is_told_in_kubes_words() -> None:
    asked = claim("c", request(selectors=[{"cel": {"expression": 'device.attributes["x"].y == 1'}}]))
    assert "CEL runtime error: no such key: y" in said(with_claim(gpus("a"), asked=asked))


def test_where_the_order_of_slices_decides_it_is_said() -> None:
    pools = [
        gpus("a", 1, name=name, pool={"name": name, "generation": 1, "resourceSliceCount": 1}) for name in ("x", "y")
    ]
    sim = with_claim(*pools)
    assert "a real cluster may choose other devices" in said(sim)
    found = searched(sim)
    assert found is not None
    assert found.order_dependent == "allocation"


def test_devices_of_one_slice_come_in_one_order_everywhere() -> None:
    found = searched(with_claim(gpus("a", 4)))
    assert found is not None
    assert (found.order_dependent, found.tree["kind"], found.tree["outcome"]) == ("", "search", "found")


def test_a_pod_without_claims_has_no_search() -> None:
    assert searched(device_world(node("a"), pod("p"))) is None
