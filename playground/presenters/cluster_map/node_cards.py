"""One card for one node: its capacity, its pods as chips, what the present cycle says of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NotRequired, TypedDict

import numpy as np
from numpy.typing import NDArray

from playground.presenters.amounts import amount, cpu, memory
from playground.presenters.cluster_map.preempting import NONE, Preempting, ends_by_preemption
from playground.presenters.devices.states import WORDS
from playground.presenters.refusals import FEASIBLE, UNSEEN, Refusals
from playground.presenters.scene import PodRef, short
from scheduler_core.analysis.status import Device, DeviceState, NodeDevices, ResourceSlice, Stock, amount_text
from scheduler_core.world.readonly import Code, NodeTable, Pod

# The devices of a node's card on the map: a mark for each while there are few, a bar when there are many.

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


MAX_CHIPS = 14
MAX_TAINTS = 3
_FIXED = 3  # cpu, memory, ephemeral-storage


@dataclass(frozen=True, slots=True)
class Moment:
    """The data that all node cards of one step share. `score` is -1 for nodes without a score; `touched` are nodes that this step changed.

    `over`: Filter has decided, so nodes that pass are feasible. `stock`: the devices, if there are any.
    """

    refusals: Refusals
    score: NDArray[np.int64] | None
    best: int
    chosen_node: str
    chosen_pod: str
    placed_on: str
    touched: frozenset[str]
    assumed: frozenset[str]
    now_step: int
    preempting: Preempting = NONE
    stock: Stock | None = None
    over: bool = False


def card_id(name: str) -> str:
    return f"node-{name}"


class PodsOfCard(TypedDict):
    chips: list[PodOfCard]
    ghosts: list[PodRef]
    more: int


class NodeCard(PodsOfCard):
    id: str
    kind: Literal["node"]
    name: str
    state: str
    why: str
    bars: list[Capacity]
    cpu: str
    devices: list[DriverRow]
    dim: bool
    unresolvable: bool
    cordoned: bool
    not_ready: bool
    taints: list[str]
    more_taints: int
    score: int | None
    best: bool
    chosen: bool
    changed: bool


def node_card(table: NodeTable, row: int, moment: Moment, dim: bool = False) -> NodeCard:
    """The card of the node at a row of the table; `dim`: the search means others."""
    node, name = table.nodes[row], table.names[row]
    group = int(moment.refusals.group[row])
    score = -1 if moment.score is None else int(moment.score[row])
    taints = [str(taint) for taint in node.taints]
    just_refused = group >= 0 and int(moment.refusals.step[row]) == moment.now_step
    return {
        "id": card_id(name),
        "kind": "node",
        "name": name,
        "state": _state(moment, group, name),
        "why": moment.refusals.text(row),
        "bars": _bars(
            tuple(table.resources.names), tuple(table.allocatable[row].tolist()), tuple(table.requested[row].tolist())
        ),
        "cpu": f"{cpu(int(table.requested[row][0]))}/{cpu(int(table.allocatable[row][0]))}",
        **_chips(table, row, moment),
        "devices": [] if moment.stock is None else device_rows(moment.stock, moment.stock.on(node)),
        "dim": dim,
        "unresolvable": group >= 0 and moment.refusals.statuses[group].code is Code.UNRESOLVABLE,
        "cordoned": node.unschedulable,
        "not_ready": bool(node.ready) and node.ready != "True",
        "taints": taints[:MAX_TAINTS],
        "more_taints": max(len(taints) - MAX_TAINTS, 0),
        "score": score if score >= 0 else None,
        "best": score >= 0 and score == moment.best,
        "chosen": name == moment.chosen_node,
        "changed": name in moment.touched or just_refused,
    }


def _state(moment: Moment, group: int, name: str) -> str:
    """Return here, cand, ok, passes (so far), no, unseen, or "" where there is no cycle."""
    if name == moment.placed_on:
        return "here"
    if name in moment.preempting.candidates:
        return "cand"
    if group >= 0:
        return "no"
    if group == FEASIBLE:
        return "ok" if moment.over else "passes"
    return "unseen" if group == UNSEEN and moment.over else ""


@lru_cache(maxsize=4096)
def _bars(resources: tuple[str, ...], has: tuple[int, ...], used: tuple[int, ...]) -> list[Capacity]:
    """Nodes are alike, and most stay as they are from step to step."""
    bars = [
        _bar("cpu", used[0], has[0], f"{cpu(used[0])} / {cpu(has[0])}"),
        _bar("mem", used[1], has[1], f"{memory(used[1])} / {memory(has[1])}"),
    ]
    for resource, there, taken in list(zip(resources, has, used, strict=False))[_FIXED:]:
        if there:
            text = f"{amount(resource, taken)} / {amount(resource, there)}"
            bars.append(_bar(resource.rpartition("/")[2], taken, there, text))
    return bars[:4]


class Capacity(TypedDict):
    label: str
    percent: int
    text: str
    full: bool


def _bar(label: str, used: int, has: int, text: str) -> Capacity:
    percent = round(100 * used / has) if has else 0
    return {"label": label, "percent": min(percent, 100), "text": text, "full": percent >= 90}


class PodOfCard(PodRef):
    assumed: bool
    chosen: bool
    victim: bool


def _chips(table: NodeTable, row: int, moment: Moment) -> PodsOfCard:
    pods = table.pods[row]
    shown = pods[-MAX_CHIPS:] if len(pods) > MAX_CHIPS else pods
    chips: list[PodOfCard] = [
        {
            "key": pod.key,
            "name": pod.name,
            "assumed": pod.key in moment.assumed,
            "chosen": pod.key == moment.chosen_pod,
            "victim": _goes(pod, table.names[row], moment.preempting),
        }
        for pod in shown
    ]
    return {
        "chips": chips,
        "ghosts": moment.preempting.ghosts.get(table.names[row], []),
        "more": len(pods) - len(shown),
    }


def _goes(pod: Pod, node: str, preempting: Preempting) -> bool:
    """Return whether the pod is a victim of the present cycle's preemption or already ends because of a preemption."""
    return (node == preempting.nominated and pod.key in preempting.victims) or ends_by_preemption(pod)
