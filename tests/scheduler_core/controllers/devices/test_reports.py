"""What drivers report of devices, as a user says it for them."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.apiserver.status import Refused
from scheduler_core.world.commands import CreateObject, ReportDeviceCondition, Undo
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.controllers.devices.worlds import allocated, claim, status_of, with_devices

DEVICE = "gpu.example.com/node-a/gpu-0"


def begun(**settings: Any) -> Simulation:
    sim = with_devices(**settings)
    sim.apply(CreateObject(claim()))
    allocated(sim, "c")
    return sim


def conditions(sim: Simulation) -> list[Any]:
    status = status_of(sim)
    assert status is not None
    return [dict(each) for device in status.get("devices") or () for each in device["conditions"]]


@pytest.mark.parametrize("device", [DEVICE, ""])
def test_a_condition_of_a_device_stands_in_the_claims_status(device: str) -> None:
    sim = begun()
    sim.apply(ReportDeviceCondition("default/c", "Ready", device=device, reason="Prepared"))
    (condition,) = conditions(sim)
    time = condition.pop("lastTransitionTime")
    assert condition == {"type": "Ready", "status": "True", "reason": "Prepared", "message": ""}
    sim.agenda.now += 10**9
    sim.apply(ReportDeviceCondition("default/c", "Ready", reason="Still"))
    assert [(each["reason"], each["lastTransitionTime"]) for each in conditions(sim)] == [("Still", time)]
    sim.apply(ReportDeviceCondition("default/c", "Ready", "False"))
    assert conditions(sim)[0]["lastTransitionTime"] != time


def test_a_report_can_be_undone() -> None:
    sim = begun()
    sim.apply(ReportDeviceCondition("default/c", "Ready"))
    sim.apply(Undo())
    assert conditions(sim) == []


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (ReportDeviceCondition("default/none", "Ready"), "claim: 'default/none' the namespace/name of a"),
        (ReportDeviceCondition("default/c", "Ready", device="x/y/z"), "device: 'x/y/z' the driver/pool/device"),
        (ReportDeviceCondition("default/c", "not good"), "status.devices[0].conditions[0].type: Invalid value"),
    ],
)
def test_what_can_not_be_reported_changes_nothing(command: ReportDeviceCondition, said: str) -> None:
    sim = begun()
    before = status_of(sim)
    with pytest.raises(Refused) as refused:
        sim.apply(command)
    assert said in str(refused.value)
    assert status_of(sim) == before


def test_without_the_gate_reports_are_dropped() -> None:
    sim = begun(dra_device_status=False)
    sim.apply(ReportDeviceCondition("default/c", "Ready"))
    assert conditions(sim) == []
