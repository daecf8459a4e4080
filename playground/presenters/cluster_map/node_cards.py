"""The card of one node, and the evidence of a preemption: nominated nodes and victims."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple, NotRequired, TypedDict

import numpy as np
from numpy.typing import NDArray

from playground.presenters.devices.pools import WORDS
from playground.presenters.scene import FEASIBLE, UNSEEN, PodRef, Refusals, cycle_of, scheduler_of, short
from playground.presenters.words import amount, beside, cpu
from scheduler_core.analysis.status import Device, DeviceState, NodeDevices, ResourceSlice, Stock, amount_text
from scheduler_core.world import readonly


@dataclass(frozen=True, slots=True)
class PreemptionMarks:
    """`ghosts`: nominated pods by node, not bound yet. `victims`: keys of pods. `candidates`: names of nodes."""

    ghosts: dict[str, list[PodRef]] = field(default_factory=dict)
    victims: frozenset[str] = frozenset()
    candidates: frozenset[str] = frozenset()
    nominated: str = ""


NONE = PreemptionMarks()


class Step(NamedTuple):
    """One record of a dry run, or of the choice (`candidate` -1). `number` is the index of the reprieve or criterion.

    `kind`: remove, filter, reprieve, criterion, or choice.
    """

    kind: str
    candidate: int
    number: int = 0


def steps_of(evidence: readonly.Evidence) -> list[Step]:
    """Return the records that a cursor steps through: each candidate's dry run, each criterion, and the choice."""
    out: list[Step] = []
    for index, candidate in enumerate(evidence.candidates):
        out += [Step("remove", index), Step("filter", index)]
        out += [Step("reprieve", index, k) for k in range(len(candidate.reprieves))]
    out += [Step("criterion", -1, number) for number in range(len(evidence.criteria))]
    return [*out, Step("choice", -1)] if evidence.nominated else out


def step_of(cycle: readonly.SchedulingCycleView | None) -> readonly.PluginStep | None:
    """Return the PostFilter step with the evidence of a preemption, or None."""
    if cycle is None:
        return None
    return next((step for step in reversed(cycle.steps) if isinstance(step.evidence, readonly.Evidence)), None)


def evidence_of(cycle: readonly.SchedulingCycleView | None) -> readonly.Evidence | None:
    """Return the evidence of the cycle's preemption, or None if preemption did not run."""
    step = step_of(cycle)
    return None if step is None else step.evidence


def chosen_of(evidence: readonly.Evidence) -> readonly.Candidate | None:
    return next((c for c in evidence.candidates if c.node == evidence.nominated), None)


def preempting(sim: readonly.WorldView, dry: int = 0) -> PreemptionMarks:
    """Return the preemption data for the map: the present cycle's choice, nominations, and pods that terminate because of one.

    With a cursor `dry` on a record of the present cycle's preemption, include the node and the pods of this record.
    """
    cycle = cycle_of(sim)
    evidence = evidence_of(cycle)
    nominator = scheduler_of(sim).queue.nominator
    ghosts = {node: [_chip(pod) for pod in nominator.on(node)] for node in nominator.nodes()}
    if evidence is None or cycle is None:
        return PreemptionMarks(ghosts)
    step = _step_at(evidence, dry)
    best, candidates = chosen_of(evidence), {c.node for c in evidence.candidates}
    victims = {pod.key for pod in best.victims} if best is not None else set()
    if step is not None and step.candidate >= 0:
        best = evidence.candidates[step.candidate]
        candidates, victims = {best.node}, _find_removed_pods(best, step)
    elif step is not None and step.kind == "criterion":
        candidates = {candidate.node for candidate in evidence.criteria[step.number].best}
        best = best if candidates == {evidence.nominated} else None
    if best is not None:
        here = [chip for chip in ghosts.get(best.node, []) if chip["key"] != cycle.pod.key]
        placed = sim.store.pod_at(cycle.pod.key)
        if not (placed and placed.node_name):
            ghosts[best.node] = [*here, _chip(cycle.pod)]
    node = best.node if best is not None else ""
    return PreemptionMarks(ghosts, frozenset(victims), frozenset(candidates), node)


def _step_at(evidence: readonly.Evidence, dry: int) -> Step | None:
    if not dry:
        return None
    steps = steps_of(evidence)
    return steps[min(dry, len(steps)) - 1] if steps else None


def _find_removed_pods(candidate: readonly.Candidate, step: Step) -> set[str]:
    """Return the pods that are off the candidate's node at a record: those not reprieved yet, and those that did not fit."""
    tried = step.number + 1 if step.kind == "reprieve" else 0
    return {r.pod for i, r in enumerate(candidate.reprieves) if i >= tried or not r.kept}


def ends_by_preemption(pod: readonly.Pod) -> bool:
    """Return whether a pod is terminating because of a preemption."""
    condition = pod.condition("DisruptionTarget") if pod.deleting else None
    return condition is not None and condition.get("reason") == "PreemptionByScheduler"


def _chip(pod: readonly.Pod) -> PodRef:
    return {"key": pod.key, "name": pod.name}


# The devices of a node's card on the map: a mark for each of a few, a bar for many.

Member = tuple[ResourceSlice, Device, DeviceState]
MOST_MARKS = 16
MOST_ROWS = 3


def device_rows(stock: Stock, found: NodeDevices) -> list[DriverRow]:
    """Return one row for each driver. If its devices share hardware, the row has a bar of the first counter."""
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
    """Return the usage of one counter (memory, else the first) over all sets, such as the memory of all GPUs."""
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
    """The data that all node cards of one step share. `score` is -1 for nodes without a score; `touched` are nodes that this step
    changed.

    `over`: Filter has ended, so nodes that pass are feasible. `stock`: the devices, or None.
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
    preempting: PreemptionMarks = NONE
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
    labels: list[str]
    taints: list[str]
    more_taints: int
    score: int | None
    best: bool
    chosen: bool
    changed: bool


def node_card(table: readonly.NodeTable, row: int, moment: Moment, dim: bool = False) -> NodeCard:
    """Return the card of the node at a row of the table. `dim`: the search does not match the node."""
    node, name = table.nodes[row], table.names[row]
    group = int(moment.refusals.group[row])
    score = -1 if moment.score is None else int(moment.score[row])
    taints = [str(taint) for taint in node.taints]
    held, room = int(table.pod_count[row]), int(table.allowed_pods[row])
    just_refused = group >= 0 and int(moment.refusals.step[row]) == moment.now_step
    return {
        "id": card_id(name),
        "kind": "node",
        "name": name,
        "state": _state(moment, group, name),
        "why": moment.refusals.text(row),
        "bars": [
            *capacities(
                tuple(table.resources.names),
                tuple(table.allocatable[row].tolist()),
                tuple(table.requested[row].tolist()),
            ),
            _bar("pods", held, room),
        ],
        "cpu": f"{cpu(int(table.requested[row][0]))}/{cpu(int(table.allocatable[row][0]))}",
        **_chips(table, row, moment),
        "devices": [] if moment.stock is None else device_rows(moment.stock, moment.stock.on(node)),
        "dim": dim,
        "unresolvable": group >= 0 and moment.refusals.statuses[group].code is readonly.Code.UNRESOLVABLE,
        "cordoned": node.unschedulable,
        "not_ready": bool(node.ready) and node.ready != "True",
        "labels": [f"{key}={value}" for key, value in node.labels.items() if "kubernetes.io/" not in key][:MAX_TAINTS],
        "taints": taints[:MAX_TAINTS],
        "more_taints": max(len(taints) - MAX_TAINTS, 0),
        "score": score if score >= 0 else None,
        "best": score >= 0 and score == moment.best,
        "chosen": name == moment.chosen_node,
        "changed": name in moment.touched or just_refused,
    }


def _state(moment: Moment, group: int, name: str) -> str:
    """Return here, cand, ok, passes (so far), no, unseen, or "" (no cycle)."""
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
def capacities(resources: tuple[str, ...], has: tuple[int, ...], used: tuple[int, ...]) -> list[Capacity]:
    """Return the usage of each resource. The result is cached, because many nodes are equal, and most stay unchanged."""
    rows = [row for i, row in enumerate(zip(resources, used, has, strict=False)) if i < 2 or (i >= _FIXED and row[2])]
    bars = [_bar(name, n, of) for name, n, of in rows[:4]]
    bars[1]["label"] = "mem"
    return bars


class Capacity(TypedDict):
    label: str
    percent: int
    text: str
    exact: str
    full: bool


def _bar(resource: str, used: int, has: int) -> Capacity:
    percent, text = round(100 * used / has) if has else 0, " / ".join(beside(resource, used, has))
    exact, label = f"{amount(resource, used)} / {amount(resource, has)}", resource.rpartition("/")[2]
    return {"label": label, "percent": min(percent, 100), "text": text, "exact": exact, "full": percent >= 90}


class PodOfCard(PodRef):
    assumed: bool
    chosen: bool
    victim: bool


def _chips(table: readonly.NodeTable, row: int, moment: Moment) -> PodsOfCard:
    pods, here = table.pods[row], table.names[row] == moment.preempting.nominated
    shown = pods[-MAX_CHIPS:] if len(pods) > MAX_CHIPS else pods
    chips: list[PodOfCard] = [
        {
            "key": pod.key,
            "name": pod.name,
            "assumed": pod.key in moment.assumed,
            "chosen": pod.key == moment.chosen_pod,
            "victim": (here and pod.key in moment.preempting.victims) or ends_by_preemption(pod),
        }
        for pod in shown
    ]
    return {
        "chips": chips,
        "ghosts": moment.preempting.ghosts.get(table.names[row], []),
        "more": len(pods) - len(shown),
    }
