"""The requests of the claims that are to be allocated, checked before the search begins.

How many devices each needs is known then; of a request for all devices, which ones.

kube: dynamic-resource-allocation/structured/internal/experimental/allocator_experimental.go (Allocate, validateDeviceRequest) @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from scheduler_core.apimachinery.dra.claims import Ask, Request, ResourceClaim
from scheduler_core.apimachinery.dra.classes import DeviceClass
from scheduler_core.apimachinery.dra.slices import Device, ResourceSlice


class RequestKey(NamedTuple):
    """A request, or one of its subrequests, by its place."""

    claim: int
    request: int
    sub: int = 0


class Candidate(NamedTuple):
    """A device, and the slice that it is in."""

    slice: ResourceSlice
    device: Device


@dataclass(slots=True)
class Wanted:
    """The needs of a request or a subrequest (then `parent` is its request). `selected`, of subrequest 0: the chosen one."""

    ask: Ask
    parent: Request | None
    device_class: DeviceClass
    count: int = 0
    all: Sequence[Candidate] = ()
    selected: int = 0

    @property
    def base_name(self) -> str:
        return self.ask.name if self.parent is None else self.parent.name

    @property
    def sub_name(self) -> str:
        return "" if self.parent is None else self.ask.name

    @property
    def result_name(self) -> str:
        return self.ask.name if self.parent is None else f"{self.parent.name}/{self.ask.name}"


def asks_of(request: Request) -> Iterator[Ask]:
    if request.exactly is not None:
        yield request.exactly
    yield from request.alternatives


def label(claim: ResourceClaim, name: str) -> str:
    """Return the name of a request in kube's messages."""
    return f"claim {claim.key}, request {name}"
