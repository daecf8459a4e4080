"""Builders of small manifests of devices, and selectors that need no CEL."""

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.apimachinery.dra.allocator import MOST_TRIED, Allocation, Allocator
from scheduler_core.apimachinery.dra.claims import ResourceClaim
from scheduler_core.apimachinery.dra.classes import DeviceClass
from scheduler_core.apimachinery.dra.features import DEFAULT_DEVICE_FEATURES, DeviceFeatures, SelectorError
from scheduler_core.apimachinery.dra.results import AllocatedState
from scheduler_core.apimachinery.dra.slices import Device, DeviceId, ResourceSlice
from scheduler_core.apimachinery.dra.watch import Watch
from scheduler_core.apimachinery.objects.node import Node

DRIVER = "gpu.example.com"


class NameSelectors:
    """`attribute=value` selects by an attribute, `name` by the device's name, `fail` fails, `!` does not compile."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def matches(self, expression: str, device: Device) -> bool:
        self.asked.append((expression, device.name))
        if expression == "fail":
            raise SelectorError("runtime", "no such key: x")
        if expression == "!":
            raise SelectorError("compile", "Syntax error")
        name, equals, value = expression.partition("=")
        if not equals:
            return expression == device.name
        return value in [str(each) for each in device.attributes.get(name, {}).values()]

    def values(self, expression: str, device: Device) -> list[dict[str, Any]]:
        return [{"expression": expression, "value": device.name}]


def node(name: str = "a", **labels: str) -> Node:
    return Node.from_manifest({"metadata": {"name": name, "labels": labels}})


def device(name: str, **fields: Any) -> dict[str, Any]:
    """`attributes` may be given as plain values."""
    attributes = {key: _typed(value) for key, value in fields.pop("attributes", {}).items()}
    return {"name": name, **({"attributes": attributes} if attributes else {}), **fields}


def _typed(value: Any) -> dict[str, Any]:
    kind = "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "string"
    return {kind: value}


def slice_of(
    devices: Sequence[Mapping[str, Any] | str] = (),
    name: str = "",
    node_name: str | None = "a",
    driver: str = DRIVER,
    pool: str = "",
    generation: int = 1,
    count: int = 1,
    **spec: Any,
) -> ResourceSlice:
    """One of node `node_name` (None: of `spec`), in a pool named after the node."""
    where = {"nodeName": node_name} if node_name is not None else {}
    each = [device(d) if isinstance(d, str) else d for d in devices]
    return ResourceSlice.from_manifest(
        {
            "metadata": {"name": name or f"{node_name}-{driver}"},
            "spec": {
                "driver": driver,
                "pool": {"name": pool or node_name or "p", "generation": generation, "resourceSliceCount": count},
                "devices": each,
                **where,
                **spec,
            },
        }
    )


def ask(class_name: str = "gpu", count: int = 1, select: Sequence[str] = (), **fields: Any) -> dict[str, Any]:
    """What a request or subrequest asks for; count 0: all devices."""
    wanted: dict[str, Any] = {"deviceClassName": class_name, **fields}
    wanted |= {"allocationMode": "ExactCount", "count": count} if count else {"allocationMode": "All"}
    if select:
        wanted["selectors"] = [{"cel": {"expression": expression}} for expression in select]
    return wanted


def request(
    name: str = "r", class_name: str = "gpu", count: int = 1, select: Sequence[str] = (), **fields: Any
) -> dict[str, Any]:
    return {"name": name, "exactly": ask(class_name, count, select, **fields)}


def first_available(name: str, **asks: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": name, "firstAvailable": [{"name": sub, **each} for sub, each in asks.items()]}


def claim(
    *requests: Mapping[str, Any],
    name: str = "c",
    match: str | None = None,
    distinct: str | None = None,
    config: Sequence[Mapping[str, Any]] = (),
    taken: Sequence[Mapping[str, Any]] | None = None,
) -> ResourceClaim:
    """A claim; `taken` are the devices of its allocation."""
    devices: dict[str, Any] = {"requests": list(requests) or [request()]}
    constraints = [{"matchAttribute": match}] if match else []
    constraints += [{"distinctAttribute": distinct}] if distinct else []
    if constraints:
        devices["constraints"] = constraints
    if config:
        devices["config"] = list(config)
    manifest: dict[str, Any] = {
        "metadata": {"name": name, "namespace": "default", "uid": name},
        "spec": {"devices": devices},
    }
    if taken is not None:
        manifest["status"] = {"allocation": {"devices": {"results": list(taken)}}}
    return ResourceClaim.from_manifest(manifest)


def classes(*names: str, **selectors: Sequence[str]) -> dict[str, DeviceClass]:
    """Classes by name; `gpu` selects everything unless it is given."""
    wanted: dict[str, Sequence[str]] = {"gpu": (), **dict.fromkeys(names, ()), **selectors}
    return {
        name: DeviceClass.from_manifest(
            {
                "metadata": {"name": name},
                "spec": {"selectors": [{"cel": {"expression": expression}} for expression in each]},
            }
        )
        for name, each in wanted.items()
    }


def device_id(name: str, pool: str = "a") -> DeviceId:
    return DeviceId(DRIVER, pool, name)


def allocate(
    slices: Sequence[ResourceSlice],
    claims: Sequence[ResourceClaim],
    *,
    on: Node | None = None,
    taken: Sequence[str] = (),
    features: DeviceFeatures = DEFAULT_DEVICE_FEATURES,
    known: Mapping[str, DeviceClass] | None = None,
    state: AllocatedState | None = None,
    watch: Watch | None = None,
    budget: int = MOST_TRIED,
    selectors: NameSelectors | None = None,
) -> Allocation:
    """On node a; `taken` are devices of its pool that are in use."""
    if state is None:
        state = AllocatedState(frozenset(device_id(name) for name in taken))
    allocator = Allocator(features, state, classes() if known is None else known, selectors or NameSelectors())
    ordered = sorted(slices, key=lambda each: each.name)
    return allocator.allocate(on or node(), ordered, claims, watch, budget)


def texts(allocation: Allocation) -> list[list[str]] | None:
    """What each claim got: `request=device`, and what is special about it."""
    if allocation.results is None:
        return None
    return [[text.replace(f"{DRIVER}/a/", "") for text in result.texts()] for result in allocation.results]
