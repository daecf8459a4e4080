"""The allocator's input: slices with the taints of taint rules, device classes, and allocated devices.

Only changed manifests are parsed again; unchanged input is the identical object.

kube: plugins/dynamicresources/dra_manager.go @ v1.34.1
"""

from collections.abc import Iterable, Mapping
from operator import is_

from scheduler_core.apimachinery.dra import classes, slices, taints
from scheduler_core.apimachinery.dra.classes import DeviceClass
from scheduler_core.apimachinery.dra.features import DeviceFeatures
from scheduler_core.apimachinery.dra.selectors import CelSelectors
from scheduler_core.apimachinery.dra.taints import Selectors, track_slices
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.scheduler.framework import Features, Handle
from scheduler_core.scheduler.framework.claims import Informer
from scheduler_core.scheduler.plugins.dynamicresources.node_search import NodeSearch, Slices
from scheduler_core.scheduler.plugins.dynamicresources.state import Inventory

# Slices whose taints change with a taint rule or a class.
# kube: dynamic-resource-allocation/resourceslice/tracker/tracker.go @ v1.34.1


def find_changed_slices(informer: Informer, kind: str, old: Manifest | None, new: Manifest | None) -> list[Manifest]:
    """Return the slices whose taints differ because of a change of a rule or class. The informer must have the change already."""
    after = {each: informer.list(each) for each in (taints.KIND, classes.KIND)}
    if not after[taints.KIND] and kind != taints.KIND:
        return []
    kept = [each for each in after[kind] if new is None or _name(each) != _name(new)]
    before = {**after, kind: sorted([*kept, *([old] if old is not None else [])], key=_name)}
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


def _name(manifest: Manifest) -> str:
    return str(manifest["metadata"]["name"])


def _by_name(manifests: Iterable[Manifest]) -> dict[str, DeviceClass]:
    read = (DeviceClass.of(manifest) for manifest in manifests)
    return {each.name: each for each in read}


def device_features(features: Features) -> DeviceFeatures:
    """Return the feature gates in the allocator's form."""
    return DeviceFeatures(
        admin_access=features.dra_admin_access,
        prioritized_list=features.dra_prioritized_list,
        device_status=features.dra_device_status,
        partitionable=features.dra_partitionable_devices,
        taints=features.dra_device_taints,
        consumable=features.dra_consumable_capacity,
        binding=features.dra_binding_conditions,
        behaviors=features.behaviors,
    )


class Inventories:
    """The builder of a cycle's inventory, and of the search in an inventory."""

    def __init__(self, handle: Handle, selectors: Selectors) -> None:
        self._handle, self._selectors = handle, selectors
        self.search = NodeSearch(device_features(handle.features), selectors)
        self._slices: tuple[Manifest, ...] = ()
        self._rules: tuple[Manifest, ...] = ()
        self._classes: tuple[tuple[Manifest, ...], Mapping[str, DeviceClass]] = (), {}
        self._known: Inventory | None = None
        self._used: Mapping[str, DeviceClass] = {}
        self._found = Slices(())
        self._version: int | None = None

    def take(self) -> Inventory:
        """Return the current inventory."""
        self._refresh()
        return Inventory(self._handle.claims.allocated(), self._slices, self._rules)

    def _refresh(self) -> None:
        """List slices, taint rules, and classes again if any of them has changed."""
        version = self._handle.claims.version
        if version == self._version:
            return
        self._version = version
        self._slices = _same(self._slices, self._handle.list(slices.KIND))
        if self._handle.features.dra_device_taints:
            self._rules = _same(self._rules, self._handle.list(taints.KIND))
        manifests = _same(self._classes[0], self._handle.list(classes.KIND))
        if manifests is not self._classes[0]:
            read = [DeviceClass.of(manifest) for manifest in manifests]
            self._classes = manifests, {each.name: each for each in read}

    def classes(self) -> Mapping[str, DeviceClass]:
        """Return the current device classes by name."""
        self._refresh()
        return self._classes[1]

    def open(self, inventory: Inventory) -> NodeSearch:
        """Return the search in an inventory. Classes are the current ones, as in kube's allocator."""
        known, by_name = self._known, self.classes()
        same = known is not None and known.slices is inventory.slices and known.taint_rules is inventory.taint_rules
        if not same or (inventory.taint_rules and by_name is not self._used):
            self._found = Slices(track_slices(inventory.slices, inventory.taint_rules, by_name, self._selectors))
        self._known, self._used = inventory, by_name
        self.search.prepare(inventory.allocated, self._found, by_name)
        return self.search


def _same(known: tuple[Manifest, ...], listed: list[Manifest]) -> tuple[Manifest, ...]:
    """Return the known tuple if the listed objects are identical to its objects, or else a new tuple."""
    if len(known) == len(listed) and all(map(is_, known, listed)):
        return known
    return tuple(listed)
