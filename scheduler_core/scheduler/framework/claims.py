"""What plugins are handed for resource claims: claims as the scheduler believes them to be, and calls that write objects.

kube: framework/interface.go (ResourceClaimTracker), client-go/kubernetes/typed/resource/v1/resourceclaim.go @ v1.34.1
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from scheduler_core.apimachinery.dra.results import AllocatedState
from scheduler_core.apimachinery.objects.manifest import Manifest


@dataclass(frozen=True, slots=True)
class Reply:
    """The API server's reply: the object as stored now, or an error text.

    `conflict`: the stored version differs from the one sent.
    """

    manifest: Manifest | None = None
    error: str = ""
    conflict: bool = False


class ObjectCalls(Protocol):
    """Calls on behalf of one pod. Objects are sent whole; a resourceVersion that is not the stored one is a conflict."""

    def read(self, kind: str, namespace: str, name: str) -> Reply: ...

    def create(self, manifest: Manifest) -> Reply: ...

    def update(self, manifest: Manifest, subresource: str = "") -> Reply: ...

    def change(self, kind: str, namespace: str, name: str, how: Callable[[Manifest], Manifest | None]) -> Reply:
        """A patch of the status, whatever version is stored; None leaves the object as it is."""

    def delete(self, kind: str, namespace: str, name: str) -> Reply: ...

    def patch_pod_status(self, fields: Manifest) -> Reply:
        """Sets fields of the status of the pod itself."""


class ClaimTracker(Protocol):
    """A scheduler's claims: what its informer has, with what its own writes have become laid over, and its allocations in flight."""

    def get(self, namespace: str, name: str) -> Manifest | None: ...

    def list(self) -> list[Manifest]: ...

    def assume(self, claim: Manifest) -> str:
        """Takes what a write has become for the newest version. Why it can't be, "" where it can. kube: AssumeClaimAfterAPICall"""

    def restore(self, namespace: str, name: str) -> None:
        """Takes such an assumption back. kube: AssumedClaimRestore"""

    def pending(self) -> Sequence[Manifest]:
        """The claims whose allocation is in flight, as they are going to be."""

    def has_pending_allocation(self, uid: str) -> bool: ...

    def signal_pending_allocation(self, uid: str, claim: Manifest) -> None:
        """The claim, as it is going to be allocated; PreBind has not written it yet."""

    def remove_pending_allocation(self, uid: str) -> bool:
        """Remove an allocation in flight. Return whether one existed."""

    @property
    def version(self) -> int:
        """Another number once slices, classes or taint rules may be others."""

    def allocated(self) -> AllocatedState:
        """Return the devices allocated now, including allocations in flight. A returned value never changes.

        kube: ListAllAllocatedDevices, GatherAllocatedState
        """
