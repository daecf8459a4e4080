"""What is said of one device: its state, who has it, its taints, and how much of its capacity is used."""

from collections.abc import Callable, Sequence
from typing import Any, TypedDict

from playground.presenters.scene import PodRef, pod_ref, scheduler_of, short
from playground.presenters.words import gettext_noop
from scheduler_core.analysis import status
from scheduler_core.world.readonly import WorldView

# A whole as a bar: what each takes of it, one after the other, and what is left.

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
    """`parts` are who takes how much. More than there is is drawn as a full bar."""
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
    """None where there are no devices."""
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
    """A device as a row. `shares`: its capacity as bars, where it can be consumed."""
    holders = stock.holders(device.id)
    return {
        "name": device.name,
        "state": state.value,
        "word": WORDS[state],
        "holders": [holder_row(holder) for holder in holders],
        "taints": [taint_text(taint) for taint in device.taints],
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


def taint_text(taint: status.DeviceTaint) -> str:
    return f"{taint.key}={taint.value}:{taint.effect}" if taint.value else f"{taint.key}:{taint.effect}"


def attributes(device: status.Device) -> list[tuple[str, str]]:
    """Names with plain values, in the order of the manifest."""
    return [(name, _plain(value)) for name, value in device.attributes.items()]


def _plain(value: Any) -> str:
    found = next(iter(value.values()), "") if isinstance(value, dict) else value
    return str(found).lower() if isinstance(found, bool) else str(found)


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
