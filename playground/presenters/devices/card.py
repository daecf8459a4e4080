"""The devices of a node's card on the map: a mark for each while there are few, a bar when there are many."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from playground.presenters.devices.states import WORDS
from playground.presenters.scene import short
from scheduler_core.analysis.status import Device, DeviceState, NodeDevices, ResourceSlice, Stock, amount_text

Member = tuple[ResourceSlice, Device, DeviceState]
MOST_MARKS = 16
MOST_ROWS = 3


def device_rows(stock: Stock, found: NodeDevices) -> list[DriverRow]:
    """One row for each driver; a driver whose devices share hardware has a bar of the first counter."""
    by_driver: dict[str, list[Member]] = {}
    for (each, device), state in zip(found.devices, found.states, strict=True):
        by_driver.setdefault(each.driver, []).append((each, device, state))
    return [_row(stock, driver, members) for driver, members in by_driver.items()][:MOST_ROWS]


class DriverRow(TypedDict):
    driver: str
    label: str
    free: int
    of: int
    marks: list[DeviceMark]
    hardware: NotRequired[CounterUsage]
    percent: NotRequired[int]


def _row(stock: Stock, driver: str, members: list[Member]) -> DriverRow:
    free = sum(state is DeviceState.FREE for _, _, state in members)
    row: DriverRow = {
        "driver": driver,
        "label": driver.partition(".")[0] or driver,
        "free": free,
        "of": len(members),
        "marks": [],
    }
    if hardware := _hardware(stock, members):
        return {**row, "hardware": hardware}
    if len(members) > MOST_MARKS:
        used = len(members) - free
        return {**row, "percent": round(100 * used / len(members))}
    return {**row, "marks": [_mark(stock, device, state) for _, device, state in members]}


class CounterUsage(TypedDict):
    name: str
    used: str
    total: str
    percent: int


def _hardware(stock: Stock, members: list[Member]) -> CounterUsage | None:
    """Return the use of one counter (memory, else the first) over all sets, such as the memory of all GPUs."""
    slices = dict.fromkeys(each for each, _, _ in members if each.counters)
    uses = [use for each in slices for use in stock.counters(each)]
    if not uses:
        return None
    name = "memory" if any(use.counter == "memory" for use in uses) else uses[0].counter
    total = sum(use.total for use in uses if use.counter == name)
    used = sum(use.used for use in uses if use.counter == name)
    return {
        "name": name,
        "used": amount_text(used),
        "total": amount_text(total),
        "percent": min(round(100 * used / total) if total else 0, 100),
    }


class DeviceMark(TypedDict):
    name: str
    state: str
    word: str
    claims: NotRequired[str]
    pod: NotRequired[str]
    tainted: NotRequired[bool]


def _mark(stock: Stock, device: Device, state: DeviceState) -> DeviceMark:
    holders = stock.holders(device.id)
    mark: DeviceMark = {"name": device.name, "state": state.value, "word": WORDS[state]}
    if holders:
        mark["claims"] = ", ".join(short(holder.claim) for holder in holders)
        mark["pod"] = next((pod for holder in holders for pod in holder.pods), "")
    if device.taints and stock.taints:
        mark["tainted"] = True
    return mark
