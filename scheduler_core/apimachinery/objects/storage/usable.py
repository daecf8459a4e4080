"""Which volumes suit a claim, where nodes are left out of account.

kube: component-helpers/storage/volume/pv_helpers.go (FindMatchingVolume) @ v1.34.1
"""

from __future__ import annotations

from dataclasses import dataclass

from scheduler_core.apimachinery.objects.labels import LabelSelector, aggregate
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.storage.volumes import (
    access_modes,
    attributes_class,
    capacity,
    claim_ref,
    class_of,
    deleting,
    get_requested_storage,
    is_for,
    key_of,
    phase,
    volume_mode,
)


@dataclass(frozen=True, slots=True)
class Usable:
    """A claim, as volumes are measured by it."""

    claim: Manifest
    selector: LabelSelector | None
    size: int

    @classmethod
    def of(cls, claim: Manifest) -> Usable:
        """ValueError where the claim's selector can't be read."""
        raw = (claim.get("spec") or {}).get("selector")
        selector = None if raw is None else LabelSelector.of(raw)
        if selector is not None and selector.errors:
            text = aggregate(selector.errors)
            raise ValueError(f"error creating internal label selector for claim: {key_of(claim)}: {text}")
        return cls(claim, selector, get_requested_storage(claim))

    def at_all(self, volume: Manifest) -> bool:
        """Not somebody else's, large enough, of the same modes, and not going away."""
        return (
            (claim_ref(volume) is None or is_for(volume, self.claim))
            and capacity(volume) >= self.size
            and volume_mode(volume) == volume_mode(self.claim)
            and attributes_class(volume) == attributes_class(self.claim)
            and not deleting(volume)
        )

    def unclaimed(self, volume: Manifest) -> bool:
        """Return whether the claim may take a volume that no claim has."""
        if phase(volume) != "Available" or class_of(volume) != class_of(self.claim):
            return False
        labels = volume["metadata"].get("labels") or {}
        if self.selector is not None and not self.selector.matches(labels):
            return False
        modes = access_modes(volume)
        return all(mode in modes for mode in access_modes(self.claim))
