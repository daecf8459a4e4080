"""Fix knows devices: what it proposes for a claim that a node can't serve is proven on a fork."""

from __future__ import annotations

from typing import Any

from scheduler_core.analysis.fixes import find_fixes
from scheduler_core.world.commands import ApplyObjects
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.scheduler.plugins.dynamicresources.worlds import device_world, devices_of, go_on, node_of
from tests.scheduler_core.worlds import node, pod
from tests.support.devices import claim, claiming, device, device_class, gpus, request, taint_rule

MEMORY = 'device.attributes["gpu.example.com"].memory > 20'


def fixes_of(sim: Simulation, name: str = "p") -> list[list[tuple[str, dict[str, Any]]]]:
    go_on(sim, 0.5)
    assert node_of(sim, name) == ""
    return [[(c.kind, dict(c.values)) for c in fix.changes] for fix in find_fixes(sim, f"default/{name}")]


def with_claim(asked: Any, *objects: Any, **settings: Any) -> Simulation:
    return device_world(node("a"), asked, claiming(pod("p"), "c"), *objects, **settings)


def test_fewer_devices_are_asked_for() -> None:
    fixes = fixes_of(with_claim(claim("c", count=4), gpus("a", 3)))
    assert fixes[0] == [("devices", {"claim": "default/c", "request": "r", "from": 4, "to": 3})]


def test_a_selector_that_no_device_meets_is_left_out() -> None:
    asked = claim("c", request(selectors=[{"cel": {"expression": MEMORY}}]))
    small = gpus("a", devices=[device("gpu-0", attributes={"memory": 10})])
    values = {"claim": "default/c", "request": "r", "expression": MEMORY}
    assert [("device-selector", values)] in fixes_of(with_claim(asked, small))


def test_a_device_taint_is_tolerated() -> None:
    tainted = device("gpu-0", taints=[{"key": "example.com/hot", "effect": "NoSchedule"}])
    sim = with_claim(claim("c"), gpus("a", devices=[tainted]), dra_device_taints=True)
    values = {"claim": "default/c", "request": "r", "taint": "example.com/hot:NoSchedule"}
    assert [("device-toleration", values)] in fixes_of(sim)


def test_another_class_is_asked_for() -> None:
    asked, other = claim("c", request(device_class="fast")), device_class("fast", 'device.driver == "none"')
    values = {"claim": "default/c", "request": "r", "from": "fast", "to": "gpu"}
    assert [("device-class", values)] in fixes_of(with_claim(asked, other, gpus("a")))


def test_a_class_that_does_not_exist_gives_way_to_one_that_does() -> None:
    values = {"claim": "default/c", "request": "r", "from": "nope", "to": "gpu"}
    asked = claim("c", request(device_class="nope"))
    assert fixes_of(with_claim(asked, gpus("a")))[0] == [("device-class", values)]


def test_a_constraint_that_the_devices_can_not_meet_is_left_out() -> None:
    apart = [device(f"gpu-{i}", attributes={"numa": i}) for i in range(2)]
    asked = claim("c", request(count=2), constraints=[{"matchAttribute": "gpu.example.com/numa"}])
    values = {"claim": "default/c", "attribute": "gpu.example.com/numa"}
    assert [("device-constraint", values)] in fixes_of(with_claim(asked, gpus("a", devices=apart)))


def test_the_devices_of_another_pod_are_freed() -> None:
    sim = device_world(node("a"), gpus("a", 1), claim("mine"), claiming(pod("first"), "mine"))
    go_on(sim, 0.5)
    assert devices_of(sim, "mine")
    sim.apply(ApplyObjects((claim("c"), claiming(pod("p"), "c"))))
    fixes = fixes_of(sim)
    freed = {"node": "a", "amounts": ["gpu.example.com/a/gpu-0"], "pods": ["default/first"]}
    assert [("free", freed)] in fixes


def test_what_it_proposes_is_the_command_that_does_it() -> None:
    sim = with_claim(claim("c", count=4), gpus("a", 2))
    go_on(sim, 0.5)
    fix = find_fixes(sim, "default/p")[0]
    for command in fix.commands:
        sim.apply(command)
    go_on(sim, 30)
    assert (node_of(sim, "p"), len(devices_of(sim, "c"))) == ("a", 2)


def test_nothing_of_a_claim_helps_where_there_are_no_devices() -> None:
    kinds = {kind for fix in fixes_of(with_claim(claim("c"))) for kind, _ in fix}
    assert not any(kind.startswith("device") for kind in kinds)


def test_rules_are_not_touched() -> None:
    sim = with_claim(claim("c"), gpus("a"), taint_rule("t", "NoExecute"), dra_device_taints=True)
    assert fixes_of(sim)[0][0][0] == "device-toleration"


def test_a_node_is_added_with_the_devices_of_one_like_it() -> None:
    other = claiming(pod("first"), "taken")
    sim = device_world(node("a"), claim("taken"), claim("c"), gpus("a", 1), other)
    go_on(sim, 0.5)
    sim.apply(ApplyObjects((claiming(pod("p"), "c"),)))
    added = next(fix for fix in fixes_of(sim) if fix[0][0] == "node")
    assert added[0][1]["like"] == "a"


def test_where_there_are_no_devices_at_all_the_pod_does_without() -> None:
    assert fixes_of(with_claim(claim("c"))) == [[("without-claims", {"claims": ["c"]})]]
