"""A node's devices one by one: who has each, its taints, partitions and shares; folded where there are many."""

from typing import TypedDict

from playground.presenters.devices.states import Bar, DeviceRow, bar, build_device_row, stock
from playground.presenters.scene import scheduler_of, short, table_of
from scheduler_core.analysis.status import CounterUse, Device, DeviceState, PoolId, ResourceSlice, Stock, amount_text
from scheduler_core.world.readonly import WorldView

Member = tuple[ResourceSlice, Device, DeviceState]
MOST = 24  # devices of one pool that are listed


def node_devices(sim: WorldView, name: str) -> "list[NodePool]":
    """Return a node's devices by pool; nothing if the node reaches no device or is unknown."""
    found = stock(sim)
    if found is None:
        return []
    table = table_of(scheduler_of(sim))
    row = table.row(name)
    if row is None:
        return []
    reached = found.on(table.nodes[row])
    by_pool: dict[PoolId, list[Member]] = {}
    for (each, device), state in zip(reached.devices, reached.states, strict=True):
        by_pool.setdefault(each.pool, []).append((each, device, state))
    return [_pool(found, pool, members) for pool, members in by_pool.items()]


class NodePool(TypedDict):
    id: str
    count: int
    free: int
    devices: list[DeviceRow]
    more: int
    sets: "list[CounterSet]"


def _pool(stock: Stock, pool: PoolId, members: list[Member]) -> NodePool:
    shown = members
    if len(members) > MOST:  # those that somebody has come first
        shown = sorted(members, key=lambda member: member[2] is DeviceState.FREE)[:MOST]
    slices = dict.fromkeys(each for each, _, _ in members)
    return {
        "id": str(pool),
        "count": len(members),
        "free": sum(state is DeviceState.FREE for _, _, state in members),
        "devices": [build_device_row(stock, each, device, state) for each, device, state in shown],
        "more": len(members) - len(shown),
        "sets": counter_sets(stock, [use for each in slices for use in stock.counters(each)]),
    }


class CounterSet(TypedDict):
    name: str
    bars: list[Bar]


def counter_sets(stock: Stock, uses: list[CounterUse]) -> list[CounterSet]:
    """Each set of counters, such as one physical GPU, with a bar for each counter: which partition takes how much."""
    sets: dict[str, list[Bar]] = {}
    for use in uses:
        parts = [(_owner(stock, device), amount) for device, amount in use.uses]
        sets.setdefault(use.set, []).append(bar(use.counter, use.total, parts, amount_text))
    return [{"name": name, "bars": bars} for name, bars in sets.items()]


def _owner(stock: Stock, device: Device) -> str:
    claims = ", ".join(short(holder.claim) for holder in stock.holders(device.id))
    return f"{device.name}: {claims}"
