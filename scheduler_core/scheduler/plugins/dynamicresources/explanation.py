"""Explanation of DynamicResources on a node: the devices that each claim has or would receive, and the reasons against each device.

The search is repeated for the explanation, with a watch (devices/watch.py).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from scheduler_core.apimachinery.dra.watch import FOUND, UNDONE, SearchTree
from scheduler_core.apimachinery.objects import Manifest, Node
from scheduler_core.scheduler.framework.explanation import (
    Below,
    Code,
    Explanation,
    Key,
    Paragraph,
    Part,
    Parts,
    Row,
    Source,
    Table,
    Words,
    WrittenValue,
    gettext_noop,
)
from scheduler_core.scheduler.plugins.dynamicresources.extended_resources import is_in_memory
from scheduler_core.scheduler.plugins.dynamicresources.filtering import NodeFilter
from scheduler_core.scheduler.plugins.dynamicresources.node_search import NodeResult
from scheduler_core.scheduler.plugins.dynamicresources.pod_claims import allocation_of, key_of
from scheduler_core.scheduler.plugins.dynamicresources.prebind import results_of
from scheduler_core.scheduler.plugins.dynamicresources.prefilter import ALLOCATION, STATUS

SHOWN = 20  # devices in the table

_CLAIMS = gettext_noop("claim"), gettext_noop("devices")
_DEVICES = gettext_noop("device"), gettext_noop("why not allocated")
_HAS, _WOULD_GET = Words("has"), Words("would get")
_NO_DEVICE, _NOTHING = Words("no device"), Words("no device found")
_OUT_OF_REACH = Words("not accessible from this node")
_EXTENDED = Words("extended resources")
_GIVEN_BACK = Words("tried and released: the rest does not fit with this device")
_TIMED_OUT = Words("the search on this node took too long")
_MAY_DIFFER = {
    ALLOCATION: Words("a real cluster may choose other devices: the order of slices and pools differs each time"),
    STATUS: Words("a real cluster may decide differently: the order of slices and pools differs each time"),
}
_SAID_NO = {
    "in-use": Words("in use"),
    "binding": Words("has binding conditions, and their feature gate is off"),
    "selector": Words("not selected by"),
    "remembered": Words("not selected"),
    "node": Words("not available to this node"),
    "capacity": Words("not enough capacity left"),
    "counters": Words("the counter is exhausted"),
    "taint": Words("taint not tolerated:"),
    "constraint": Words("does not meet the constraint"),
}
_DETAIL = {"selector": "expression", "counters": "missing", "taint": "taint", "constraint": "attribute"}


def explain_devices(
    asked: NodeFilter, node: Node, found: NodeResult | None, tree: SearchTree, order: str
) -> Explanation:
    """Explain the claims on a node. `found`: the search's result, or None without a search; `order`: dependence on the slices' order."""
    places = Places(asked.facts.inventory.slices if asked.facts.inventory is not None else ())
    rows = list(_claim_rows(asked, node, found, places))
    blocks: list[Paragraph | Table] = [Table(_CLAIMS, tuple(rows))] if rows else []
    if found is not None and found.timed_out:
        blocks.append(Paragraph((_TIMED_OUT,), "bad"))
    elif found is not None and found.error:
        blocks.append(Paragraph((Code(found.error),), "bad"))
    elif found is not None and found.given is None:
        blocks += _devices(tree.root, places)
    if order:
        blocks.append(Paragraph((_MAY_DIFFER[order],), "plain"))
    return tuple(blocks)


class Places:
    """The locations of devices, by driver/pool/name, in the slices that existed when the attempt began."""

    def __init__(self, slices: Iterable[Manifest]) -> None:
        self._pools: dict[str, list[Manifest]] = {}
        for each in slices:
            spec = each["spec"]
            self._pools.setdefault(f"{spec['driver']}/{spec['pool']['name']}", []).append(each)

    def part(self, text: str, device: str) -> Part:
        """Return the text with a link to the device, if a slice lists the device."""
        pool, _, name = device.rpartition("/")
        for each in self._pools.get(pool, ()):
            for i, listed in enumerate(each["spec"].get("devices") or ()):
                if listed["name"] == name:
                    source = Source("ResourceSlice", each["metadata"]["name"], f"spec.devices[{i}]")
                    return WrittenValue(text, source)
        return Code(text)


def _claim_rows(asked: NodeFilter, node: Node, found: NodeResult | None, places: Places) -> Iterator[Row]:
    store = asked.facts.store
    unavailable = asked.unavailable_on(node)
    results = iter(() if found is None or found.given is None else found.given.results)
    for index, claim in enumerate(store.claims):
        allocated = allocation_of(claim) is not None
        name: Parts = (_EXTENDED,) if is_in_memory(claim) else (_claim(claim, allocated),)
        if allocated:
            out = index in unavailable
            parts: Parts = (_HAS, *_format_devices(_texts(claim), places))
            yield Row((name, (*parts, ": ", _OUT_OF_REACH) if out else parts), bad=out)
            continue
        result = next(results, None)
        if result is None:
            yield Row((name, (_NOTHING,)), bad=True)
        else:
            yield Row((name, (_WOULD_GET, *_format_devices(result.texts(), places))))


def _claim(claim: Manifest, allocated: bool) -> WrittenValue:
    key, path = key_of(claim), "status.allocation" if allocated else "spec.devices.requests"
    return WrittenValue(Key(key), Source("ResourceClaim", key, path))


def _texts(claim: Manifest) -> list[str]:
    return [f"{each['request']}={each['driver']}/{each['pool']}/{each['device']}" for each in results_of(claim)]


def _format_devices(texts: Iterable[str], places: Places) -> Parts:
    """Return each device as request=device."""
    parts: list[Part] = []
    for text in texts:
        parts += [" ", places.part(text, text.partition("=")[2])]
    return tuple(parts) or (" ", _NO_DEVICE)


def _devices(root: Mapping[str, Any], places: Places) -> list[Paragraph | Table]:
    """Return a table of the devices in the search, with the last reason against each."""
    refused: dict[str, Parts] = {}
    for device in _iterate_devices(root):
        why = _why(device)
        if why and refused.get(device["device"]) != (_GIVEN_BACK,):  # in use by the request that it was tried for
            refused[device["device"]] = why
    rows = [Row(((places.part(name, name),), why), bad=True) for name, why in refused.items()]
    return [Table(_DEVICES, tuple(rows[:SHOWN]), max(len(rows) - SHOWN, 0))] if rows else []


def _iterate_devices(root: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the devices of a search tree in the order of the search."""
    ahead = [root]
    while ahead:
        each = ahead.pop()
        if each["kind"] == "device":
            yield each
        ahead += reversed(each["nodes"])


def _why(device: Mapping[str, Any]) -> Parts:
    if device["outcome"] in (FOUND, UNDONE):
        return (_GIVEN_BACK,)
    failed = next((check for check in reversed(device["checks"]) if not check["passed"]), None)
    if failed is None or failed["kind"] not in _SAID_NO:
        return ()
    detail = failed.get(_DETAIL.get(failed["kind"], ""))
    said: Parts = (_SAID_NO[failed["kind"]], *((" ", Code(str(detail))) if detail else ()))
    return (*said, Below((failed["error"],))) if failed.get("error") else said
