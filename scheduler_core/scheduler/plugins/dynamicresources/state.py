"""The entries of DynamicResources in a CycleState.

kube: plugins/dynamicresources/{dynamicresources,claims}.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from scheduler_core.apimachinery.dra.results import AllocatedState, AllocationResult
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.scheduler.plugins.dynamicresources.extended_resources import ExtendedRequests
from scheduler_core.scheduler.plugins.dynamicresources.pod_claims import allocation_of

Manifests = tuple[Manifest, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ClaimStore:
    """A pod's claims in spec order; the claim for extended resources, if any, is the last.

    `initial_uid`: the UID of that claim in PreFilter.
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
    """The allocator's input as of PreFilter: allocated devices, drivers' slices, and administrators' taint rules."""

    allocated: AllocatedState
    slices: Manifests
    taint_rules: Manifests = ()


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """The results of PreFilter. `inventory`: None if nothing needs allocation; `wanted`: None if no device serves a resource."""

    store: ClaimStore
    inventory: Inventory | None = None
    wanted: ExtendedRequests | None = None


@dataclass(frozen=True, slots=True, eq=False)
class NodeAllocation:
    """A passing node's allocation: one result per claim to allocate, and the special claim's requests (None: no requests)."""

    results: tuple[AllocationResult, ...]
    requests: Manifests | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Progress:
    """The progress of PreBind. `index`: the current claim; `tries`: failed updates; `held_up`: how often the client delayed calls.

    `claim`: the last written or read version; `waited`: for the assume cache or for binding conditions (ns).
    """

    index: int = 0
    tries: int = 0
    held_up: int = 0
    claim: Manifest | None = None
    waited: int = 0
    bound: bool = False
