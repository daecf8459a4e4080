"""One card for one node: its capacity, its pods as chips, what the present cycle says of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from playground.presenters.amounts import amount, cpu, memory
from playground.presenters.cluster_map.preempting import NONE, Preempting, ends_by_preemption
from playground.presenters.devices.card import device_rows
from playground.presenters.refusals import FEASIBLE, UNSEEN, Refusals
from scheduler_core.analysis.status import Stock
from scheduler_core.world.readonly import Code, NodeTable, Pod

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


def node_card(table: NodeTable, row: int, moment: Moment, dim: bool = False) -> dict[str, Any]:
    """The card of the node at a row of the table; `dim`: the search means others."""
    node, name = table.nodes[row], table.names[row]
    group = int(moment.refusals.group[row])
    score = None if moment.score is None else int(moment.score[row])
    card: dict[str, Any] = {
        "id": card_id(name),
        "kind": "node",
        "name": name,
        "state": _state(moment, group),
        "why": moment.refusals.text(row),
        "bars": _bars(
            tuple(table.resources.names),
            tuple(table.allocatable[row].tolist()),
            tuple(table.requested[row].tolist()),
        ),
        "cpu": f"{cpu(int(table.requested[row][0]))}/{cpu(int(table.allocatable[row][0]))}",
        **_chips(table, row, moment),
    }
    if moment.stock is not None and (devices := device_rows(moment.stock, moment.stock.on(node))):
        card["devices"] = devices
    if dim:
        card["dim"] = True
    if group >= 0 and moment.refusals.statuses[group].code is Code.UNRESOLVABLE:
        card["unresolvable"] = True
    if node.unschedulable:
        card["cordoned"] = True
    if node.ready and node.ready != "True":
        card["not_ready"] = True
    if taints := [str(taint) for taint in node.taints]:
        card["taints"] = taints[:MAX_TAINTS]
        card["more_taints"] = len(taints) - MAX_TAINTS if len(taints) > MAX_TAINTS else 0
    if name == moment.placed_on:
        card["state"] = "here"
    elif name in moment.preempting.candidates:
        card["state"] = "cand"
    if score is not None and score >= 0:
        card["score"] = score
        card["best"] = score == moment.best
    if name == moment.chosen_node:
        card["chosen"] = True
    if name in moment.touched or (group >= 0 and int(moment.refusals.step[row]) == moment.now_step):
        card["changed"] = True
    return card


def _state(moment: Moment, group: int) -> str:
    """ok, passes (so far), no, unseen, or nothing of a cycle."""
    if group >= 0:
        return "no"
    if group == FEASIBLE:
        return "ok" if moment.over else "passes"
    return "unseen" if group == UNSEEN and moment.over else ""


@lru_cache(maxsize=4096)
def _bars(resources: tuple[str, ...], has: tuple[int, ...], used: tuple[int, ...]) -> list[dict[str, Any]]:
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


def _bar(label: str, used: int, has: int, text: str) -> dict[str, Any]:
    percent = round(100 * used / has) if has else 0
    return {"label": label, "percent": min(percent, 100), "text": text, "full": percent >= 90}


def _chips(table: NodeTable, row: int, moment: Moment) -> dict[str, Any]:
    pods = table.pods[row]
    shown = pods[-MAX_CHIPS:] if len(pods) > MAX_CHIPS else pods
    chips = [
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
