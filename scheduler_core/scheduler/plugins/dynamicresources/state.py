"""What DynamicResources keeps in a CycleState.

kube: plugins/dynamicresources/{dynamicresources,claims}.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from scheduler_core.apimachinery.dra.allocated import AllocatedState
from scheduler_core.apimachinery.dra.results import AllocationResult
from scheduler_core.scheduler.plugins.dynamicresources.extended_resources import Wanted
from scheduler_core.scheduler.plugins.dynamicresources.pod_claims import allocation_of

Manifest = Mapping[str, Any]
Manifests = tuple[Manifest, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ClaimStore:
    """A pod's claims in the order of its spec; the one for extended resources, if any, is the last.

    `initial_uid` is the UID that this one had in PreFilter.
    """

    claims: Manifests = ()
    special: bool = False
    initial_uid: str = ""

    @property
    def extended(self) -> Manifest | None:
        return self.claims[-1] if self.special else None

    @property
    def users(self) -> Manifests:
        return self.claims[:-1] if self.special else self.claims

    def to_allocate(self) -> Iterator[tuple[int, Manifest]]:
        return ((i, claim) for i, claim in enumerate(self.claims) if allocation_of(claim) is None)

    def is_extended(self, index: int) -> bool:
        return self.special and index == len(self.claims) - 1

    def with_claim(self, index: int, claim: Manifest) -> ClaimStore:
        return replace(self, claims=(*self.claims[:index], claim, *self.claims[index + 1 :]))


@dataclass(frozen=True, slots=True, eq=False)
class Inventory:
    """What the allocator is given: what is allocated, and what drivers and administrators say of devices, as it was in PreFilter."""

    allocated: AllocatedState
    slices: Manifests
    taint_rules: Manifests = ()


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """What PreFilter found. `inventory` is None where nothing is to be allocated, `wanted` where no device stands for a resource."""

    store: ClaimStore
    inventory: Inventory | None = None
    wanted: Wanted | None = None


@dataclass(frozen=True, slots=True, eq=False)
class NodeAllocation:
    """What a node that passes would give: one result per claim to allocate; the special claim's requests there (None: it has none)."""

    results: tuple[AllocationResult, ...]
    requests: Manifests | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Progress:
    """How far PreBind is. `index`: the claim whose turn it is; `tries`: of its update; `held_up`: how often calls were held back.

    `claim`: as it was last written or read; `waited`: for the assume cache or for binding conditions (ns).
    """

    index: int = 0
    tries: int = 0
    held_up: int = 0
    claim: Manifest | None = None
    waited: int = 0
    bound: bool = False
