"""The components around the schedulers: controllers, budgets, rollouts, and the nodes' rows from nodes.py."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, TypedDict, cast

from playground.presenters.charts import curves
from playground.presenters.devices.claims import ClaimPage, ClaimsPage
from playground.presenters.devices.pools import PoolPage, PoolsPage
from playground.presenters.sentences.lines import describe_deeds, describe_key
from playground.presenters.stage.controller.owners import EvictionRow, eviction
from playground.presenters.stage.controller.replicas import Replica, replicas
from playground.presenters.words import SECOND, Message, clock, duration, gettext_noop, memory, thousands

MOST_CHANGES = 40
GI = 2**30
CHARTED = ("memory.available", "nodefs.available", "pid.available")


# The fields that templates read. Rows are the worker's data with additional fields, hence the casts.


class Condition(TypedDict):
    type: str
    status: str
    reason: str
    message: str


class NodeRow(TypedDict):
    """A node's row. `conditions` are the abnormal conditions."""

    name: str
    ready: str
    kubelet: bool
    unschedulable: bool
    conditions: list[Condition]
    taints: list[str]
    pods: int


class Change(TypedDict):
    t: str
    type: str
    was: str
    now: str


class Mark(TypedDict):
    text: str
    soft: bool
    share: float


class Signal(TypedDict):
    """An eviction signal of a kubelet. `share`: the available part in percent. `marks`: the positions of the thresholds."""

    signal: str
    available: str
    capacity: str
    share: int
    short: bool
    marks: list[Mark]


class SignalChart(TypedDict):
    id: str
    title: str
    figure: Any


class PlannedKey(TypedDict):
    at: str
    pod: str
    why: str


class StuckPod(TypedDict):
    pod: str
    tries: int
    why: str


class ShownDrain(TypedDict):
    """A drain. `ended` is "" while it runs. `stuck` are the evictions that were refused."""

    node: str
    since: str
    ended: str
    outcome: str
    warnings: list[str]
    gone: list[str]
    ending: list[str]
    stuck: list[StuckPod]


class NodeTaint(TypedDict, total=False):
    key: str
    value: str
    effect: str


class ShownNode(TypedDict):
    """One node. `changes`: the changes of its conditions, newest first."""

    name: str
    ready: str
    kubelet: bool
    conditions: list[Condition]
    taints: list[NodeTaint]
    changes: list[Change]
    signals: list[Signal]
    charts: list[SignalChart]
    evictions: list[EvictionRow]
    planned: list[PlannedKey]
    drains: list[ShownDrain]


class Zone(TypedDict):
    """A zone of nodes. `next`: the time at which the next node may be tainted, as text."""

    zone: str
    state: str
    rate: float
    ready: int
    lost: int
    waiting: list[str]
    next: str


class ReplicaSetBar(TypedDict):
    name: str
    revision: int
    desired: int
    pods: int
    ready: int
    ready_share: int
    pods_share: int
    newest: bool


class Rollout(TypedDict):
    """A Deployment. `older`: the number of its ReplicaSets without pods, which are not shown."""

    id: str
    namespace: str
    name: str
    strategy: str
    desired: int
    updated: int
    available: int
    paused: bool
    waits_for: str
    sets: list[ReplicaSetBar]
    older: int
    figure: Any
    conditions: list[Condition]


class QueuedKey(TypedDict):
    key: Message
    due: str
    failures: int


class FinishedWork(TypedDict):
    t: str
    key: Message
    text: Message


class ControllerRow(TypedDict):
    """A controller with the `length` of its work queue, the first keys in it, and its last action."""

    name: str
    runs: bool
    watches: list[str]
    length: int
    waiting: list[QueuedKey]
    more: int
    done: list[FinishedWork]


class CoveredPod(TypedDict):
    pod: str
    state: str


class Budget(TypedDict):
    """A PodDisruptionBudget. The shares are percentages of the largest of expected, healthy, and needed."""

    id: str
    namespace: str
    name: str
    demands: str
    expected: int
    healthy: int
    needed: int
    allowed: int
    disrupted: list[str]
    why: str
    covered: list[CoveredPod]
    healthy_share: int
    needed_share: int
    figure: Any


class ControllerTrouble(TypedDict):
    controllers: list[str]
    text: str


class PartLink(TypedDict):
    name: str
    title: str


class ClusterPage(TypedDict):
    """The rows of `part`. The lists of other parts are empty, and their other fields are None."""

    position: int
    clock: str
    parts: list[PartLink]
    part: str
    name: str
    controllers: list[ControllerRow]
    nodes: list[NodeRow]
    budgets: list[Budget]
    rollouts: list[Rollout]
    replicas: list[Replica]
    pools: PoolsPage | None
    pool: PoolPage | None
    claims: ClaimsPage | None
    claim: ClaimPage | None
    node: ShownNode | None
    zones: list[Zone]
    drains: list[ShownDrain]
    troubles: list[ControllerTrouble]


def nodes(rows: list[dict[str, Any]]) -> list[NodeRow]:
    return [
        cast(NodeRow, {**row, "conditions": _notable(row["conditions"]), "ready": _ready(row["conditions"])})
        for row in rows
    ]


def _ready(conditions: list[dict[str, Any]]) -> str:
    return next((str(c["status"]) for c in conditions if c["type"] == "Ready"), "")


def _notable(conditions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the abnormal conditions."""
    return [c for c in conditions if c["status"] != ("True" if c["type"] == "Ready" else "False")]


def node(row: Mapping[str, Any], now: int) -> ShownNode:
    shown = {
        **row,
        "ready": _ready(row["conditions"]),
        "changes": _changes(row["levels"]),
        "signals": [_signal(signal) for signal in row["signals"]],
        "charts": [chart for name in CHARTED if (chart := _chart(row, name, now))],
        "evictions": [eviction(each) for each in row["evictions"]],
        "planned": [{**plan, "at": clock(plan["at"])} for plan in row["planned"]],
        "drains": drains(row["drains"]),
    }
    return cast(ShownNode, shown)


def _signal(row: Mapping[str, Any]) -> Signal:
    capacity = max(row["capacity"], 1)
    return {
        "signal": row["signal"],
        "available": _amount(row["signal"], row["available"]),
        "capacity": _amount(row["signal"], row["capacity"]),
        "share": min(max(round(100 * row["available"] / capacity), 0), 100),
        "short": any(row["available"] < t["amount"] for t in row["thresholds"]),
        "marks": [
            {
                "text": t["text"],
                "soft": bool(t["grace"]),
                "share": min(max(round(100 * t["amount"] / capacity, 1), 0), 99),
            }
            for t in row["thresholds"]
        ],
    }


def _amount(signal: str, value: int) -> str:
    return memory(value) if "inodes" not in signal and not signal.startswith("pid") else thousands(value)


def _chart(row: Mapping[str, Any], signal: str, now: int) -> SignalChart | None:
    """Return a chart of a signal over virtual time, with its thresholds; None if there is nothing to draw."""
    measured, size = row["measured"], 1 if signal.startswith("pid") else GI
    if len(measured) < 2:
        return None
    times, unit, lines = series({"": measured}, (signal,), now)
    curve = [round(value / size, 3) for value in next(iter(lines.values()))]
    found = next((s for s in row["signals"] if s["signal"] == signal), None)
    if found is None or len(set(curve)) < 2:
        return None
    below = {f"threshold {t['text']}": [round(t["amount"] / size, 3)] * len(times) for t in found["thresholds"]}
    if found["if_requested"] is not None:
        below["as requested"] = [round(found["if_requested"] / size, 3)] * len(times)
    figure = curves(times, unit, {signal: curve, **below}, False)
    when = [e["t"] / (MINUTE if unit == "min" else SECOND) for e in row["evictions"] if e["signal"] == signal]
    if when:
        figure["data"].append(_build_eviction_trace([(at, curve[max(bisect_right(times, at) - 1, 0)]) for at in when]))
    return {
        "id": f"signal-{signal.replace('.', '-')}",
        "title": f"{signal} (GiB)" if size == GI else signal,
        "figure": figure,
    }


def _build_eviction_trace(marks: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """Return marks at the evictions of pods."""
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "evicted",
        "x": [x for x, _ in marks],
        "y": [y for _, y in marks],
        "token": "--no-mark",
    }


def zones(rows: Sequence[Mapping[str, Any]], now: int) -> list[Zone]:
    times = (duration(max(row["next"] - now, 0)) if row["waiting"] and row["next"] else "" for row in rows)
    return [cast(Zone, {**row, "next": time}) for row, time in zip(rows, times, strict=True)]


def drains(rows: Sequence[Mapping[str, Any]]) -> list[ShownDrain]:
    ends = ("" if row["ended"] is None else clock(row["ended"]) for row in rows)
    return [
        cast(ShownDrain, {**row, "since": clock(row["since"]), "ended": ended})
        for row, ended in zip(rows, ends, strict=True)
    ]


def _changes(levels: list[dict[str, Any]]) -> list[Change]:
    changes = list[Change]()
    for before, after in pairwise(levels):
        for name, value in after.items():
            if name != "t" and before.get(name) != value:
                was = str(before.get(name, ""))
                changes.append({"t": clock(after["t"]), "type": name, "was": was, "now": str(value)})
    return changes[::-1][:MOST_CHANGES]


MINUTE = 60 * SECOND


def series(
    levels: Mapping[str, Sequence[Mapping[str, Any]]], names: Sequence[str], now: int
) -> tuple[list[float], str, dict[str, list[float]]]:
    """Return times in a suitable unit, the unit, and the values of each object and figure at these times."""
    times = sorted({now, *(level["t"] for kept in levels.values() for level in kept)})
    unit, size = ("min", MINUTE) if times and times[-1] - times[0] > 10 * MINUTE else ("s", SECOND)
    lines = {
        " ".join(part for part in (key, name if len(names) > 1 else "") if part): _steps(kept, name, times)
        for key, kept in levels.items()
        for name in names
    }
    return [round(t / size, 3) for t in times], unit, lines


def _steps(kept: Sequence[Mapping[str, Any]], name: str, times: Sequence[int]) -> list[float]:
    """Return the value in effect at each time; 0 before the first value."""
    values, i, value = [], 0, 0.0
    for t in times:
        while i < len(kept) and kept[i]["t"] <= t:
            value = float(kept[i].get(name) or 0)
            i += 1
        values.append(value)
    return values


# Rollouts: a Deployment's ReplicaSets, old and new, over virtual time.


def _rollout(row: dict[str, Any], now: int) -> Rollout:
    sets = row["sets"]
    levels = {entry["name"]: entry["levels"] for entry in reversed(sets)}
    times, unit, lines = series(levels, ("ready",), now)
    shown = [entry for i, entry in enumerate(sets) if i == 0 or entry["desired"] or entry["pods"]]
    most = max([row["desired"], *(entry["pods"] for entry in sets), 1])
    rollout = {
        **row,
        "id": f"rollout-{row['namespace']}-{row['name']}",
        "sets": [
            {
                **entry,
                "ready_share": round(100 * int(entry["ready"]) / most),
                "pods_share": round(100 * int(entry["pods"]) / most),
                "newest": i == 0,
            }
            for i, entry in enumerate(shown)
        ],
        "older": len(sets) - len(shown),
        "figure": curves(times, unit, lines, True) if len(times) > 2 else None,
        "conditions": [c for c in row["conditions"] if c["message"]],
    }
    return cast(Rollout, rollout)


# Controllers: watched kinds, the work queue, and the last action with its reason.


def controllers(rows: list[dict[str, Any]], now: int) -> list[ControllerRow]:
    """Return the controllers, latest active first, then by name; disabled ones are last."""
    ordered = sorted(
        rows, key=lambda row: (not row["runs"], -(int(row["done"][0]["t"]) + 1 if row["done"] else 0), row["name"])
    )
    return [_controller(row, now) for row in ordered]


def _controller(row: dict[str, Any], now: int) -> ControllerRow:
    shown = {
        **row,
        "waiting": [
            {**w, "key": describe_key(w["key"]), "due": duration(max(w["due"] - now, 0))} for w in row["waiting"]
        ],
        "more": row["length"] - len(row["waiting"]),
        "done": [
            {"t": clock(d["t"]), "key": describe_key(d["key"]), "text": describe_deeds(d["text"])} for d in row["done"]
        ],
    }
    return cast(ControllerRow, shown)


# PodDisruptionBudgets as bars: healthy pods compared with the needed ones.


def _budget(row: dict[str, Any], now: int) -> Budget:
    most = max(row["expected"], row["healthy"], row["needed"], 1)
    times, unit, lines = series({"": row["levels"]}, ("healthy", "needed", "allowed"), now)
    shown = {
        **row,
        "id": f"budget-{row['namespace']}-{row['name']}",
        "healthy_share": round(100 * row["healthy"] / most),
        "needed_share": round(100 * row["needed"] / most),
        "figure": curves(times, unit, lines, False) if len(times) > 2 else None,
    }
    return cast(Budget, shown)


PARTS = {
    "controllers": gettext_noop("Controllers"),
    "nodes": gettext_noop("Nodes"),
    "budgets": gettext_noop("Disruption budgets"),
    "rollouts": gettext_noop("Rollouts"),
    "replicas": gettext_noop("Schedulers"),
    "devices": gettext_noop("Devices"),
    "claims": gettext_noop("Device claims"),
}


def present(reading: Mapping[str, Any], part: str, name: str) -> ClusterPage:
    """Return the page for the data of worker.py. `name` is the name of one node."""
    now, found = reading["now"], reading.get("found")
    rows: dict[str, Any] = {key: reading["rows"] if key == part else [] for key in PARTS}
    return {
        "position": reading["position"],
        "clock": clock(now),
        "parts": [{"name": key, "title": title} for key, title in PARTS.items()],
        "part": part,
        "name": name,
        "controllers": controllers(rows["controllers"], now),
        "nodes": nodes(rows["nodes"]),
        "budgets": [_budget(row, now) for row in rows["budgets"]],
        "rollouts": [_rollout(row, now) for row in rows["rollouts"]],
        "replicas": replicas(rows["replicas"], now),
        "pools": found if part == "devices" and not name else None,
        "pool": found if part == "devices" and name else None,
        "claims": found if part == "claims" and not name else None,
        "claim": found if part == "claims" and name else None,
        "node": node(reading["node"], now) if reading["node"] else None,
        "zones": zones(reading.get("zones", ()), now),
        "drains": drains(reading.get("drains", ())),
        "troubles": reading.get("troubles", ()),
    }
