"""The search for devices as it is walked: what was tried in which order, with which answers, and what was undone."""

from __future__ import annotations

from typing import Any

from playground.features.device_search.presenter import describe_search, order_note
from playground.presenters.inspector.node import sections
from scheduler_core.analysis.inspection import device_search
from scheduler_core.world.simulation import Simulation
from tests.playground.presenters.device_worlds import world
from tests.playground.presenters.worlds import ran, until
from tests.scheduler_core.worlds import node, pod
from tests.support.devices import claim, claiming, device, device_class, gpus, request

LINK = "gpu.example.com/nvlink"
SAME_LINK = [{"requests": ["pair"], "matchAttribute": LINK}]
A100 = 'device.attributes["gpu.example.com"].model == "a100"'


def gpu(index: int, nvlink: int, model: str = "a100") -> dict[str, Any]:
    return device(f"gpu-{index}", attributes={"nvlink": nvlink, "model": model})


def searched(*devices: dict[str, Any], asked: dict[str, Any], **spec: Any) -> Simulation:
    """A world at the step at which devices were searched for."""
    objects = (gpus("n1", devices=devices), device_class("gpu"), claim("c", asked, **spec))
    sim = world(node("n1"), *objects, claiming(pod("train"), "c"))
    return until(sim, ran("Filter", "DynamicResources"))


def walk(sim: Simulation, most: int = 300) -> dict[str, Any]:
    scheduler = sim.schedulers[0]
    assert scheduler.cycle is not None
    found = device_search(scheduler.profiles[scheduler.cycle.profile], scheduler.cycle, "n1", most)
    assert found is not None
    return describe_search(found.tree, "n1", found.left_out, found.cut, found.order_dependent)


def told(blocks: list[dict[str, Any]]) -> list[tuple[str, list[str]]]:
    """Each request with its devices: name and outcome; folded ones by their number."""
    return [
        (
            f"{block['request']} {block['number']}/{block['count']} {block['outcome']}",
            [
                f"{len(row['fold'])} {row['outcome']}"
                if "fold" in row
                else f"{row['device']['device']} {row['device']['outcome']}"
                for row in block["rows"]
            ],
        )
        for block in blocks
    ]


def test_what_was_tried_behind_an_undone_device_stays_inside_of_it() -> None:
    sim = searched(gpu(0, 0), gpu(1, 1), gpu(2, 1), asked=request("pair", count=2), constraints=SAME_LINK)
    search = walk(sim)
    assert (search["outcome"], search["end"]["values"]["u"]) == ("found", 1)
    assert told(search["blocks"]) == [
        ("pair 1/2 found", ["gpu-0 undone", "gpu-1 found"]),
        ("pair 2/2 found", ["gpu-0 refused", "gpu-1 refused", "gpu-2 found"]),
    ]
    undone = search["blocks"][0]["rows"][0]["device"]
    assert told(undone["inner"]) == [("pair 2/2 none", ["gpu-0 refused", "gpu-1 refused", "gpu-2 refused"])]


def test_a_refusal_says_why_in_a_few_words() -> None:
    sim = searched(gpu(0, 0), gpu(1, 1), asked=request("pair", count=2), constraints=SAME_LINK)
    inner = walk(sim)["blocks"][0]["rows"][0]["device"]["inner"]
    chosen, other = (row["device"]["why"] for row in inner[0]["rows"])
    assert chosen["text"] == "already chosen"
    assert other["values"] == {"constraint": "matchAttribute", "attribute": LINK, "value": "1", "expected": "0"}


def test_each_expression_is_shown_with_the_values_of_its_parts() -> None:
    sim = searched(gpu(0, 0, "t4"), asked=request(selectors=[{"cel": {"expression": A100}}]))
    (block,) = walk(sim)["blocks"]
    own = block["rows"][0]["device"]["checks"][-1]
    assert (own["passed"], own["expression"]) == (False, A100)
    assert own["parts"] == [{"text": 'device.attributes["gpu.example.com"].model', "value": '"t4"'}]


def test_devices_that_were_refused_alike_are_folded() -> None:
    asked = request(selectors=[{"cel": {"expression": A100}}])
    sim = searched(*(gpu(i, 0, "t4") for i in range(10)), gpu(10, 0), asked=asked)
    assert told(walk(sim)["blocks"]) == [("r 1/1 found", ["10 refused", "gpu-10 found"])]


def test_a_long_search_is_cut_and_says_so() -> None:
    asked = request(selectors=[{"cel": {"expression": A100}}])
    search = walk(searched(*(gpu(i, 0, "t4") for i in range(100)), asked=asked), most=10)
    assert search["cut"]
    assert search["left_out"] > 10
    assert "takes more steps" in search["end"]["text"]


def test_an_expression_that_fails_ends_the_cycle_with_kubes_text() -> None:
    wrong = 'device.attributes["gpu.example.com"].none == "a"'
    search = walk(searched(gpu(0, 0), asked=request(selectors=[{"cel": {"expression": wrong}}])))
    assert search["outcome"] == "error"
    assert "no such key: none" in search["end"]["values"]["text"]


def test_a_result_that_depends_on_the_order_of_slices_is_told() -> None:
    first = gpus("n1", name="a", devices=[device("gpu-0")])
    second = gpus("n1", name="b", devices=[device("gpu-1")])
    for each in (first, second):
        each["spec"]["pool"] |= {"resourceSliceCount": 2}
    sim = world(node("n1"), first, second, device_class("gpu"), claim("c"), claiming(pod("p"), "c"))
    search = walk(until(sim, ran("Filter", "DynamicResources")))
    assert search["order"] == order_note("allocation")
    assert "may choose other devices" in search["order"]["text"]


def test_the_inspector_leads_to_the_search_of_the_node_that_was_asked() -> None:
    sim = searched(gpu(0, 0), asked=request())
    (section,) = (each for each in sections(sim, "n1") if each["plugin"] == "DynamicResources")
    assert (section["walk"], section["node"]) == ("default/train", "n1")


def test_a_pod_without_claims_has_no_search() -> None:
    sim = until(world(node("n1"), pod("p")), lambda sim: bool(sim.journal.attempts))
    assert not any("walk" in each for each in sections(sim, "n1"))
