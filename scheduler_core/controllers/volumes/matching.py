"""Which volume suits a claim, and which claims a volume.

Volumes are looked through in groups of equal access modes, the fewest modes first: one that is meant for the claim is taken, else the
smallest that is large enough. Where the claim's class waits for a consumer, only one that is meant for it is.

kube: pkg/controller/volume/persistentvolume/{index,pv_controller}.go @ v1.34.1
"""

from __future__ import annotations

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.storage.usable import Usable
from scheduler_core.apimachinery.objects.storage.volumes import (
    CLAIM,
    VOLUME,
    access_modes,
    attributes_class,
    capacity,
    claim_ref,
    class_of,
    deleting,
    get_requested_storage,
    is_for,
    key_of,
    name_of,
    volume_mode,
    volume_name,
)
from scheduler_core.apiserver.status import Answer, Refused
from scheduler_core.apiserver.storage_classes import waits_for_consumer
from scheduler_core.apiserver.store import Store

_MODES = ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod")


def best_volume(store: Store, claim: Manifest) -> Manifest | None:
    """The volume for a claim. Refused where its selector can't be read."""
    usable = _usable(claim)
    waits = waits_for_consumer(store, class_of(claim))
    wanted = set(access_modes(claim))
    groups: dict[tuple[int, tuple[str, ...]], list[Manifest]] = {}
    for volume in store.list(VOLUME):
        modes = tuple(mode for mode in _MODES if mode in access_modes(volume))
        if wanted <= set(modes) and usable.at_all(volume):
            groups.setdefault((len(modes), modes), []).append(volume)
    for _, volumes in sorted(groups.items(), key=lambda group: group[0]):
        best = next((volume for volume in volumes if is_for(volume, claim)), None)
        free = [] if waits else [volume for volume in volumes if usable.unclaimed(volume)]
        best = best or min(free, key=capacity, default=None)
        if best is not None:
            return best
    return None


def askers(store: Store, volume: Manifest) -> list[str]:
    """Keys of the claims that may be bound to a volume which is nobody's."""
    if claim_ref(volume) is not None or deleting(volume):
        return []
    name, class_ = name_of(volume), class_of(volume)
    waits = waits_for_consumer(store, class_)
    return [
        key_of(claim)
        for claim in store.list(CLAIM)
        if volume_name(claim) == name
        or (not waits and not volume_name(claim) and class_of(claim) == class_ and _suits(volume, claim))
    ]


def _suits(volume: Manifest, claim: Manifest) -> bool:
    try:
        return Usable.of(claim).at_all(volume)
    except ValueError:
        return False


def _usable(claim: Manifest) -> Usable:
    try:
        return Usable.of(claim)
    except ValueError as error:
        text = f'error finding PV for claim "{key_of(claim)}": {error}'
        raise Refused.because(Answer("InternalError", text), key_of(claim)) from None


def mismatch(volume: Manifest, claim: Manifest) -> str:
    """Return why a volume that a claim requests by name does not match; "" if it matches."""
    if deleting(volume):
        return f'the volume is marked for deletion "{name_of(volume)}"'
    if capacity(volume) < get_requested_storage(claim):
        return "requested PV is too small"
    if class_of(volume) != class_of(claim):
        return "storageClassName does not match"
    if attributes_class(volume) != attributes_class(claim):
        return "volumeAttributesClassName does not match"
    if volume_mode(volume) != volume_mode(claim):
        return "incompatible volumeMode"
    modes = access_modes(volume)
    return "" if all(mode in modes for mode in access_modes(claim)) else "incompatible accessMode"
