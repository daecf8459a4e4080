"""Devices: pools with their slices, a node's devices one by one, and the state, taints, and capacity of each."""

from collections.abc import Callable, Sequence
from typing import TypedDict

from playground.presenters.devices.claims import Pager, window
from playground.presenters.scene import PodRef, pod_ref, scheduler_of, short, table_of
from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.analysis import status
from scheduler_core.world.readonly import WorldView

# A total as a bar: the share of each owner, and the rest.

WIDTH = 100.0


class BarPart(TypedDict):
    x: float
    width: float
    owner: str
    amount: str


class Bar(TypedDict):
    name: str
    used: str
    total: str
    parts: list[BarPart]
    full: bool


def bar(name: str, total: int, parts: Sequence[tuple[str, int]], text: Callable[[int], str]) -> Bar:
    """Return a bar. `parts` are owners with their amounts; if they exceed the total, the bar is full."""
    used = sum(amount for _, amount in parts)
    whole = max(total, used, 1)
    drawn: list[BarPart] = []
    x = 0.0
    for owner, amount in parts:
        width = WIDTH * amount / whole
        if width > 0:
            drawn.append({"x": round(x, 2), "width": round(width, 2), "owner": owner, "amount": text(amount)})
        x += width
    return {"name": name, "used": text(used), "total": text(total), "parts": drawn, "full": used >= total > 0}


WORDS = {
    status.DeviceState.FREE: gettext_noop("free"),
    status.DeviceState.ASSUMED: gettext_noop("assumed"),
    status.DeviceState.SHARED: gettext_noop("partly in use"),
    status.DeviceState.TAKEN: gettext_noop("in use"),
    status.DeviceState.SHORT: gettext_noop("blocked by other partitions"),
}


def stock(sim: WorldView) -> status.Stock | None:
    """Return the devices, or None if there are none."""
    scheduler = scheduler_of(sim)
    return status.stock_of(sim.store, scheduler.features, scheduler.claims.pending())


class DeviceRow(TypedDict):
    name: str
    state: str
    word: str
    holders: "list[HolderRow]"
    taints: list[str]
    heeded: bool
    shares: list[Bar]


def build_device_row(
    stock: status.Stock, each: status.ResourceSlice, device: status.Device, state: status.DeviceState
) -> DeviceRow:
    """Return a device as a row. `shares`: bars of its capacity, if it is consumable."""
    holders = stock.holders(device.id)
    return {
        "name": device.name,
        "state": state.value,
        "word": WORDS[state],
        "holders": [holder_row(holder) for holder in holders],
        "taints": [str(taint) for taint in device.taints],
        "heeded": stock.taints,
        "shares": _shares(device, holders) if device.allows_multiple else [],
    }


class HolderRow(TypedDict):
    claim: str
    name: str
    request: str
    admin: bool
    pods: list[PodRef]
    consumed: str


def holder_row(holder: status.Holder) -> HolderRow:
    consumed = holder.consumed or {}
    return {
        "claim": holder.claim,
        "name": short(holder.claim),
        "request": holder.request,
        "admin": holder.admin,
        "pods": [pod_ref(pod) for pod in holder.pods],
        "consumed": ", ".join(f"{name} {amount.text()}" for name, amount in consumed.items()),
    }


def _shares(device: status.Device, holders: tuple[status.Holder, ...]) -> list[Bar]:
    return [
        bar(
            name,
            capacity.value.nanos,
            [
                (short(holder.claim), holder.consumed[name].nanos)
                for holder in holders
                if holder.consumed and name in holder.consumed
            ],
            status.amount_text,
        )
        for name, capacity in device.capacity.items()
    ]


Member = tuple[status.ResourceSlice, status.Device, status.DeviceState]
MOST = 24  # listed devices of a pool


def node_devices(sim: WorldView, name: str) -> "list[NodePool]":
    """Return a node's devices by pool; empty if the node is unknown or can use no device."""
    found = stock(sim)
    if found is None:
        return []
    table = table_of(scheduler_of(sim))
    row = table.row(name)
    if row is None:
        return []
    reached = found.on(table.nodes[row])
    by_pool: dict[status.PoolId, list[Member]] = {}
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


def _pool(stock: status.Stock, pool: status.PoolId, members: list[Member]) -> NodePool:
    shown = members
    if len(members) > MOST:  # devices in use are first
        shown = sorted(members, key=lambda member: member[2] is status.DeviceState.FREE)[:MOST]
    slices = dict.fromkeys(each for each, _, _ in members)
    return {
        "id": str(pool),
        "count": len(members),
        "free": sum(state is status.DeviceState.FREE for _, _, state in members),
        "devices": [build_device_row(stock, each, device, state) for each, device, state in shown],
        "more": len(members) - len(shown),
        "sets": counter_sets(stock, [use for each in slices for use in stock.counters(each)]),
    }


class CounterSet(TypedDict):
    name: str
    bars: list[Bar]


def counter_sets(stock: status.Stock, uses: list[status.CounterUse]) -> list[CounterSet]:
    """Return each set of counters, such as one physical GPU, with a bar for each counter: the share of each partition."""
    sets: dict[str, list[Bar]] = {}
    for use in uses:
        parts = [(_owner(stock, device), amount) for device, amount in use.uses]
        sets.setdefault(use.set, []).append(bar(use.counter, use.total, parts, status.amount_text))
    return [{"name": name, "bars": bars} for name, bars in sets.items()]


def _owner(stock: status.Stock, device: status.Device) -> str:
    claims = ", ".join(short(holder.claim) for holder in stock.holders(device.id))
    return f"{device.name}: {claims}"


MOST_SLICES = 30
_INCOMPLETE = gettext_noop(
    "%(n)s of %(expected)s slices of generation %(generation)s exist. kube can allocate single devices "
    "from them, but a request for all devices ends the cycle: resource pool %(pool)s is currently being "
    "updated."
)
_INVALID = gettext_noop(
    "kube ends the scheduling cycle when its search reaches this pool: pool %(pool)s is invalid: "
    "duplicate device name %(name)s."
)


class PoolReach(TypedDict):
    """The nodes that can use a pool or a slice: some names, the number of `more`, or `all`, by `selector`, or by device (`each`)."""

    names: list[str]
    more: int
    all: bool
    selector: bool
    each: bool


class UsePart(TypedDict):
    state: str
    x: float
    width: float


class DeviceUse(TypedDict):
    """The number of devices in each state, and a bar of the devices that are not free."""

    size: int
    counts: dict[str, int]
    bar: list[UsePart]


class PublishedPool(DeviceUse):
    id: str
    driver: str
    pool: str
    generation: int
    slices: int
    expected: int
    state: str
    why: Message | None
    nodes: PoolReach
    tainted: int


class PoolRow(PublishedPool):
    """`older`: the number of ignored slices of older generations."""

    older: int


class SliceRow(TypedDict):
    name: str
    nodes: PoolReach
    devices: int


class PoolPage(PublishedPool):
    """The fields of a NodePool. `older`: the names of ignored slices."""

    older: list[str]
    members: list[SliceRow]
    count: int
    free: int
    more: int
    devices: list[DeviceRow]
    sets: list[CounterSet]
    page: Pager


class ClassRow(TypedDict):
    name: str
    selectors: list[str]
    extended: str | None


class RuleRow(TypedDict):
    name: str
    taint: str
    about: list[str]
    selectors: list[str]


class PoolsPage(TypedDict):
    rows: list[PoolRow]
    page: Pager
    pools: int
    totals: DeviceUse | None
    classes: list[ClassRow]
    rules: list[RuleRow]
    heeded: bool


def pools(sim: WorldView, q: str, page: int) -> PoolsPage:
    """Return a page of the pools that match `q` (driver, pool, node, or the name of a device) in `rows`."""
    found = stock(sim)
    every = found.pools if found is not None else ()
    chosen = [pool for pool in every if _matches(pool, q)]
    shown, pager = window(len(chosen), page)
    return {
        "rows": [{**_publish(found, pool), "older": len(pool.older)} for pool in chosen[shown] if found is not None],
        "page": pager,
        "pools": len(every),
        "totals": _totals(found) if found is not None else None,
        "classes": [_class(status.DeviceClass.of(each)) for each in sim.store.list("DeviceClass")],
        "rules": [_rule(status.DeviceTaintRule.of(each)) for each in sim.store.list("DeviceTaintRule")],
        "heeded": scheduler_of(sim).features.dra_device_taints,
    }


def pool(sim: WorldView, name: str, q: str, page: int) -> PoolPage | None:
    """Return the slices and a page of devices of a pool, named "driver/pool"; None if there is no such pool."""
    found = stock(sim)
    known = next((each for each in found.pools if str(each.id) == name), None) if found is not None else None
    if found is None or known is None:
        return None
    members = [(each, device) for each in known.slices for device in each.devices if q in device.name]
    rows, pager = window(len(members), page)
    shown = members[rows]
    slices = dict.fromkeys(each for each, _ in shown)
    row = _publish(found, known)
    return {
        **row,
        "members": [
            {"name": each.name, "nodes": _nodes([each]), "devices": len(each.devices)}
            for each in known.slices[:MOST_SLICES]
        ],
        "older": list(known.older[:MOST_SLICES]),
        "count": known.size,
        "free": row["counts"]["free"],
        "more": 0,
        "devices": [build_device_row(found, each, device, found.state(each, device)) for each, device in shown],
        "sets": counter_sets(found, [use for each in slices for use in found.counters(each)]),
        "page": pager,
    }


def _matches(pool: status.PublishedPool, q: str) -> bool:
    return (
        q in str(pool.id)
        or any(q in (each.scope.node_name or "") for each in pool.slices)
        or any(q == device.name for each in pool.slices for device in each.devices)
    )


def _publish(stock: status.Stock, pool: status.PublishedPool) -> PublishedPool:
    states = [stock.state(each, device) for each in pool.slices for device in each.devices]
    return {
        "id": str(pool.id),
        "driver": pool.id.driver,
        "pool": pool.id.pool,
        "generation": pool.generation,
        "slices": len(pool.slices),
        "expected": pool.expected,
        "state": "invalid" if pool.twice else "incomplete" if pool.incomplete else "complete",
        "why": _why(pool),
        "nodes": _nodes(pool.slices),
        **_counts(states),
        "tainted": sum(bool(device.taints) for each in pool.slices for device in each.devices),
    }


def _counts(states: Sequence[status.DeviceState]) -> DeviceUse:
    counts = {state.value: states.count(state) for state in status.DeviceState}
    whole, x = max(len(states), 1), 0.0
    parts: list[UsePart] = []
    for state in (
        status.DeviceState.TAKEN,
        status.DeviceState.ASSUMED,
        status.DeviceState.SHARED,
        status.DeviceState.SHORT,
    ):
        width = 100 * counts[state.value] / whole
        if width:
            parts.append({"state": state.value, "x": round(x, 2), "width": round(width, 2)})
        x += width
    return {"size": len(states), "counts": counts, "bar": parts}


def _totals(stock: status.Stock) -> DeviceUse:
    states = [stock.state(each, device) for pool in stock.pools for each in pool.slices for device in each.devices]
    return _counts(states)


def _why(pool: status.PublishedPool) -> Message | None:
    if pool.twice:
        return message(_INVALID, pool=pool.id.pool, name=pool.twice)
    if pool.incomplete:
        return message(
            _INCOMPLETE, n=len(pool.slices), expected=pool.expected, generation=pool.generation, pool=str(pool.id)
        )
    return None


def _nodes(slices: Sequence[status.ResourceSlice]) -> PoolReach:
    names = list(dict.fromkeys(each.scope.node_name for each in slices if each.scope.node_name))
    return {
        "names": names[:3],
        "more": max(len(names) - 3, 0),
        "all": any(each.scope.all_nodes for each in slices),
        "selector": any(each.scope.selector is not None for each in slices),
        "each": any(each.per_device for each in slices),
    }


def _class(each: status.DeviceClass) -> ClassRow:
    return {
        "name": each.name,
        "selectors": [expression or "" for expression in each.selectors],
        "extended": each.extended_resource,
    }


def _rule(rule: status.DeviceTaintRule) -> RuleRow:
    about = {"driver": rule.driver, "pool": rule.pool, "device": rule.device, "class": rule.class_name}
    return {
        "name": rule.name,
        "taint": str(rule.taint),
        "about": [f"{name} {value}" for name, value in about.items() if value is not None],
        "selectors": list(rule.selectors),
    }
