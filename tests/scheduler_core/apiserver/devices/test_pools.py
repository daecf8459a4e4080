"""What an import says of pools of devices that it leaves incomplete, invalid, or with slices of older generations."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.apiserver.imports.plan import plan_import
from scheduler_core.apiserver.options import APIServerOptions
from scheduler_core.apiserver.registry.devices.defaults import DeviceGates
from scheduler_core.apiserver.server import APIServer
from scheduler_core.apiserver.status import Refused
from scheduler_core.apiserver.store import Store


def piece(name: str, *devices: str, generation: int = 1, count: int = 1, pool: str = "node-a") -> Any:
    """A slice with these devices."""
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": name},
        "spec": {
            "driver": "gpu.example.com",
            "nodeName": "node-a",
            "pool": {"name": pool, "generation": generation, "resourceSliceCount": count},
            "devices": [{"name": device} for device in devices],
        },
    }


def api() -> APIServer:
    return APIServer(Store(), APIServerOptions(), 0, devices=DeviceGates())


@pytest.mark.parametrize(
    ("slices", "said"),
    [
        ([piece("a", "gpu-0")], []),
        ([piece("a", "gpu-0", count=2), piece("b", "gpu-1", count=2)], []),
        (
            [piece("a", "gpu-0", count=3), piece("b", "gpu-1", count=3)],
            [
                "pool gpu.example.com/node-a is incomplete: 2 of 3 slices of generation 1 exist. Until all exist, "
                "claims for all devices end with an error"
            ],
        ),
        (
            [piece("a", "gpu-0", count=2), piece("b", "gpu-0", count=2)],
            [
                "pool gpu.example.com/node-a is invalid: device gpu-0 exists twice. Searches of this pool end with an error"
            ],
        ),
        (
            [piece("a", "gpu-0", generation=2), piece("b", "gpu-0")],
            ["pool gpu.example.com/node-a: generation 2 is the newest, so b of older generations has no effect"],
        ),
        ([piece("a", "gpu-0"), piece("b", "gpu-0", pool="node-b")], []),
    ],
)
def test_pools_that_schedulers_take_ill_are_accepted_and_told(slices: list[Any], said: list[str]) -> None:
    plan = plan_import(api(), slices)
    assert [item.action for item in plan.items] == ["created"] * len(slices)
    assert list(plan.warnings) == said


def test_a_generation_may_go_back() -> None:
    server = api()
    server.create(piece("a", "gpu-0", generation=5))
    changed = server.update(piece("a", "gpu-0", generation=4))
    assert changed["spec"]["pool"]["generation"] == 4
    assert changed["metadata"]["generation"] == 2


def test_slices_have_no_status() -> None:
    server = api()
    made = server.create(piece("a", "gpu-0"))
    with pytest.raises(Refused, match="could not find the requested resource"):
        server.update(made, "status")


def test_ten_thousand_devices_are_many_slices() -> None:
    whole = piece("a", *(f"gpu-{i}" for i in range(10_000)))
    plan = plan_import(api(), [whole])
    assert [str(error) for error in plan.items[0].errors] == [
        "spec.devices: Too many: 10000: must have at most 128 items"
    ]
    parts = [
        piece(f"s{i}", *(f"gpu-{j}" for j in range(i, min(i + 128, 10_000))), count=79) for i in range(0, 10_000, 128)
    ]
    plan = plan_import(api(), parts)
    assert {item.action for item in plan.items} == {"created"}
    assert list(plan.warnings) == []
