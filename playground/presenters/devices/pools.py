"""What drivers publish: pools with their slices, the classes that claims ask for, taint rules; one pool with all its devices."""

from collections.abc import Sequence
from typing import Any

from playground.presenters.devices.claims import window
from playground.presenters.devices.node import counter_sets
from playground.presenters.devices.states import build_device_row, stock, taint_text
from playground.presenters.scene import scheduler_of
from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.analysis.status import (
    DeviceClass,
    DeviceState,
    DeviceTaintRule,
    PublishedPool,
    ResourceSlice,
    Stock,
)
from scheduler_core.world.readonly import WorldView

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


def pools(sim: WorldView, q: str, page: int) -> dict[str, Any]:
    """`rows` are the pools that match `q` (driver, pool, node, or the name of a device), a page of them."""
    found = stock(sim)
    every = found.pools if found is not None else ()
    chosen = [pool for pool in every if _matches(pool, q)]
    shown = window(len(chosen), page)
    return {
        "rows": [_row(found, pool) for pool in chosen[shown.start : shown.end]] if found is not None else [],
        "page": shown.to_json(),
        "pools": len(every),
        "totals": _totals(found) if found is not None else None,
        "classes": [_class(DeviceClass.of(each)) for each in sim.store.list("DeviceClass")],
        "rules": [_rule(DeviceTaintRule.of(each)) for each in sim.store.list("DeviceTaintRule")],
        "heeded": scheduler_of(sim).features.dra_device_taints,
    }


def pool(sim: WorldView, name: str, q: str, page: int) -> dict[str, Any] | None:
    """One pool by "driver/pool": its slices, and a page of its devices; None where there is none."""
    found = stock(sim)
    known = next((each for each in found.pools if str(each.id) == name), None) if found is not None else None
    if found is None or known is None:
        return None
    members = [(each, device) for each in known.slices for device in each.devices if q in device.name]
    page_of = window(len(members), page)
    shown = members[page_of.start : page_of.end]
    slices = dict.fromkeys(each for each, _ in shown)
    row = _row(found, known)
    return {
        **row,
        "members": [_slice(each) for each in known.slices[:MOST_SLICES]],
        "older": list(known.older[:MOST_SLICES]),
        "count": known.size,
        "free": row["counts"]["free"],
        "more": 0,
        "devices": [build_device_row(found, each, device, found.state(each, device)) for each, device in shown],
        "sets": counter_sets(found, [use for each in slices for use in found.counters(each)]),
        "page": page_of.to_json(),
    }


def _matches(pool: PublishedPool, q: str) -> bool:
    return (
        q in str(pool.id)
        or any(q in (each.scope.node_name or "") for each in pool.slices)
        or any(q == device.name for each in pool.slices for device in each.devices)
    )


def _row(stock: Stock, pool: PublishedPool) -> dict[str, Any]:
    states = [stock.state(each, device) for each in pool.slices for device in each.devices]
    state = "invalid" if pool.twice else "incomplete" if pool.incomplete else "complete"
    return {
        "id": str(pool.id),
        "driver": pool.id.driver,
        "pool": pool.id.pool,
        "generation": pool.generation,
        "slices": len(pool.slices),
        "expected": pool.expected,
        "older": len(pool.older),
        "state": state,
        "why": _why(pool),
        "nodes": _nodes(pool.slices),
        **_counts(states),
        "tainted": sum(bool(device.taints) for each in pool.slices for device in each.devices),
    }


def _counts(states: Sequence[DeviceState]) -> dict[str, Any]:
    counts = {state.value: states.count(state) for state in DeviceState}
    whole, x, parts = max(len(states), 1), 0.0, []
    for state in (DeviceState.TAKEN, DeviceState.ASSUMED, DeviceState.SHARED, DeviceState.SHORT):
        width = 100 * counts[state.value] / whole
        if width:
            parts.append({"state": state.value, "x": round(x, 2), "width": round(width, 2)})
        x += width
    return {"size": len(states), "counts": counts, "bar": parts}


def _totals(stock: Stock) -> dict[str, Any]:
    states = [stock.state(each, device) for pool in stock.pools for each in pool.slices for device in each.devices]
    return _counts(states)


def _why(pool: PublishedPool) -> Message | None:
    if pool.twice:
        return message(_INVALID, pool=pool.id.pool, name=pool.twice)
    if pool.incomplete:
        return message(
            _INCOMPLETE, n=len(pool.slices), expected=pool.expected, generation=pool.generation, pool=str(pool.id)
        )
    return None


def _nodes(slices: Sequence[ResourceSlice]) -> dict[str, Any]:
    """Return which nodes reach a pool: by name, all, or those that a selector chooses."""
    names = list(dict.fromkeys(each.scope.node_name for each in slices if each.scope.node_name))
    return {
        "names": names[:3],
        "more": max(len(names) - 3, 0),
        "all": any(each.scope.all_nodes for each in slices),
        "selector": any(each.scope.selector is not None for each in slices),
        "each": any(each.per_device for each in slices),
    }


def _slice(each: ResourceSlice) -> dict[str, Any]:
    return {"name": each.name, "nodes": _nodes([each]), "devices": len(each.devices), "generation": each.generation}


def _class(each: DeviceClass) -> dict[str, Any]:
    return {
        "name": each.name,
        "selectors": [expression or "" for expression in each.selectors],
        "configs": len(each.configs),
        "extended": each.extended_resource,
    }


def _rule(rule: DeviceTaintRule) -> dict[str, Any]:
    about = {"driver": rule.driver, "pool": rule.pool, "device": rule.device, "class": rule.class_name}
    return {
        "name": rule.name,
        "taint": taint_text(rule.taint),
        "about": [f"{name} {value}" for name, value in about.items() if value is not None],
        "selectors": list(rule.selectors),
    }
