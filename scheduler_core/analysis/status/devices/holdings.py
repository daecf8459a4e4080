"""Who holds a device: the claims whose allocation names it, with the pods that they are reserved for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from scheduler_core.apimachinery.dra.amounts import Amount
from scheduler_core.apimachinery.dra.claims import ResourceClaim
from scheduler_core.apimachinery.dra.slices import DeviceId
from scheduler_core.apimachinery.objects.manifest import Manifest


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


@dataclass(frozen=True, slots=True, eq=False)
class Holdings:
    """`by_device`: by the claims' keys. What is here never changes: `after` makes the next one of it, as few claims change by a step."""

    claims: Sequence[Manifest] = ()
    by_device: Holders = field(default_factory=dict)

    def holders(self, device: DeviceId) -> tuple[Holder, ...]:
        return self.by_device.get(device, ())

    def after(self, claims: Sequence[Manifest]) -> Holdings:
        """Return the holdings with the given claims instead of the present ones."""
        gone, come = _differences(self.claims, claims)
        if not gone and not come:
            return self
        found = dict(self.by_device)
        for manifest in gone:
            claim = ResourceClaim.of(manifest)
            for device in dict.fromkeys(result.device for result in claim.results):
                left = tuple(holder for holder in found.get(device, ()) if holder.claim != claim.key)
                if left:
                    found[device] = left
                else:
                    found.pop(device, None)
        for manifest in come:
            for device, holder in _list_holders(ResourceClaim.of(manifest)):
                others = found.get(device)
                found[device] = (holder,) if others is None else tuple(sorted((*others, holder), key=_claim_of))
        return Holdings(claims, found)


def _differences(before: Sequence[Manifest], after: Sequence[Manifest]) -> tuple[list[Manifest], list[Manifest]]:
    """Return the manifests that are gone, and those that are new."""
    if len(before) == len(after):
        pairs = [(old, new) for old, new in zip(before, after, strict=True) if old is not new]
        if all(_key(old) == _key(new) for old, new in pairs):
            return [old for old, _ in pairs], [new for _, new in pairs]
    known, wanted = {id(each) for each in before}, {id(each) for each in after}
    gone = [each for each in before if id(each) not in wanted]
    return gone, [each for each in after if id(each) not in known]


def _key(claim: Manifest) -> tuple[str, str]:
    metadata = claim["metadata"]
    return str(metadata.get("namespace")), str(metadata.get("name"))


def _list_holders(claim: ResourceClaim) -> Iterator[tuple[DeviceId, Holder]]:
    pods = pods_of(claim)
    for result in claim.results:
        share = None if result.share_id is None else (result.consumed or {})
        yield result.device, Holder(claim.key, result.request, pods, result.admin, share)


def _claim_of(holder: Holder) -> str:
    return holder.claim


def pods_of(claim: ResourceClaim) -> tuple[str, ...]:
    """The pods that a claim is reserved for, as namespace/name."""
    return tuple(f"{claim.namespace}/{each.name}" for each in claim.reserved_for if each.resource == "pods")
