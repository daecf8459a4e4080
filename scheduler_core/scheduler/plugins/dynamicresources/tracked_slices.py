"""Which slices a change of a taint rule or a class changes.

kube: dynamic-resource-allocation/resourceslice/tracker/tracker.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Iterable

from scheduler_core.apimachinery.dra import classes, slices, taints
from scheduler_core.apimachinery.dra.classes import DeviceClass
from scheduler_core.apimachinery.dra.selectors import CelSelectors
from scheduler_core.apimachinery.dra.taints import track_slices
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.scheduler.plugins.dynamicresources.dra_manager import Informer


def find_changed_slices(informer: Informer, kind: str, old: Manifest | None, new: Manifest | None) -> list[Manifest]:
    """The slices that a change of a rule or a class, which the informer has heard of, gives other taints."""
    after = {each: informer.list(each) for each in (taints.KIND, classes.KIND)}
    if not after[taints.KIND] and kind != taints.KIND:
        return []
    before = {**after, kind: _undone(after[kind], old, new)}
    selectors, manifests = CelSelectors(), informer.list(slices.KIND)
    then, now = (
        track_slices(manifests, known[taints.KIND], _by_name(known[classes.KIND]), selectors)
        for known in (before, after)
    )
    return [
        is_now.manifest
        for was, is_now in zip(then, now, strict=True)
        if [each.taints for each in was.devices] != [each.taints for each in is_now.devices]
    ]


def _undone(listed: list[Manifest], old: Manifest | None, new: Manifest | None) -> list[Manifest]:
    """Return the list as of before the change from `old` to `new`, sorted by name."""
    kept = [each for each in listed if new is None or _name(each) != _name(new)]
    return sorted([*kept, *([old] if old is not None else [])], key=_name)


def _name(manifest: Manifest) -> str:
    return str(manifest["metadata"]["name"])


def _by_name(manifests: Iterable[Manifest]) -> dict[str, DeviceClass]:
    read = (DeviceClass.of(manifest) for manifest in manifests)
    return {each.name: each for each in read}
