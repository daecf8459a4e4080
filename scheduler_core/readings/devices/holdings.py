"""Who holds a device: the claims whose allocation names it, with the pods that they are reserved for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from scheduler_core.devices.amounts import Amount
from scheduler_core.devices.claims import ResourceClaim
from scheduler_core.devices.slices import DeviceId


@dataclass(frozen=True, slots=True, eq=False)
class Holder:
    """A claim that has a device, or a share of it.

    `claim` and `pods` are namespace/name; `consumed` is what a share takes of the device's capacity, None where it is taken whole.
    `admin`: with admin access, which takes it from nobody.
    """

    claim: str
    request: str
    pods: tuple[str, ...]
    admin: bool
    consumed: Mapping[str, Amount] | None


Holders = Mapping[DeviceId, tuple[Holder, ...]]


def holders_of(claims: Iterable[ResourceClaim]) -> Holders:
    """By device, in the order of the claims."""
    found: dict[DeviceId, list[Holder]] = {}
    for claim in claims:
        if not claim.results:
            continue
        pods = pods_of(claim)
        for result in claim.results:
            share = None if result.share_id is None else (result.consumed or {})
            holder = Holder(claim.key, result.request, pods, result.admin, share)
            found.setdefault(result.device, []).append(holder)
    return {device: tuple(each) for device, each in found.items()}


def pods_of(claim: ResourceClaim) -> tuple[str, ...]:
    """The pods that a claim is reserved for, as namespace/name."""
    return tuple(f"{claim.namespace}/{each.name}" for each in claim.reserved_for if each.resource == "pods")
