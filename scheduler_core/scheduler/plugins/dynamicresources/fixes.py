"""Fixes of claims: fewer devices, one selector or constraint less, a tolerated taint, another class, or devices in use by others.

Each fix is tried on the node with the allocator first. A claim's spec is immutable: the claim is recreated.
"""

import copy
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Any

from scheduler_core.apimachinery.dra import classes
from scheduler_core.apimachinery.dra.claims import KIND, ResourceClaim
from scheduler_core.apimachinery.dra.results import AllocatedState
from scheduler_core.apimachinery.dra.slices import Device
from scheduler_core.apimachinery.objects import Manifest, Node, Pod
from scheduler_core.scheduler.framework import Change, Draft, Edit, Handle, Refusal
from scheduler_core.scheduler.framework.drafts import cut, edit_at
from scheduler_core.scheduler.plugins.dynamicresources.node_search import NodeSearch
from scheduler_core.scheduler.plugins.dynamicresources.pod_claims import allocation_of, key_of
from scheduler_core.scheduler.plugins.dynamicresources.state import Facts
from scheduler_core.scheduler.plugins.helper.arguments import alike
from scheduler_core.scheduler.plugins.helper.fixes import HOSTNAME

MOST_FREED = 5
SLICES = "ResourceSlice"
MOST_NAMED = 2
_DRIVER = re.compile(r"""device\.driver == ["']([^"']+)["']""")
_TRIED = 20_000  # devices in one search


@dataclass(frozen=True, slots=True)
class _Case:
    """A node that can't provide the devices for a pod's unallocated claims."""

    handle: Handle
    search: NodeSearch
    refusal: Refusal
    claims: tuple[Manifest, ...]

    def fits(self, index: int, claim: Manifest) -> bool:
        """Return whether the node could allocate the claims if `claim` replaced the one at `index`."""
        asked = [ResourceClaim.from_manifest(each) for each in self.claims]
        asked[index] = ResourceClaim.from_manifest(claim)
        return self.search.search(self.refusal.node, asked, _TRIED).given is not None

    def fits_without(self, taken: AllocatedState) -> bool:
        """Return whether the node could allocate the claims if only `taken` were allocated."""
        asked = [ResourceClaim.of(each) for each in self.claims]
        return self.search.elsewhere(taken).search(self.refusal.node, asked, _TRIED).given is not None


def propose(draft: Draft, refusal: Refusal, handle: Handle, search: NodeSearch, facts: Facts) -> Iterator[Draft]:
    """Propose fixes for a node that can't allocate all claims."""
    claims = tuple(claim for index, claim in facts.store.to_allocate() if not facts.store.is_extended(index))
    if not claims:
        return
    case = _Case(handle, search, refusal, claims)
    for index, claim in enumerate(claims):
        for change, edited in _variants(case, claim):
            if case.fits(index, edited):
                yield draft.with_object(change, edited)
    yield from _by_another_driver(draft, case)
    yield from _publishing(draft, case)
    yield from _propose_deletions(draft, case)


def other_classes(
    draft: Draft, claims: tuple[Manifest, ...], by_name: Mapping[str, Any], missing: str
) -> Iterator[Draft]:
    """Propose existing classes for claims that request a missing class."""
    for claim in claims:
        for at, ask in _asks(claim):
            if ask.get("deviceClassName") == missing:
                for name in by_name:
                    yield draft.with_object(*_with_class(claim, at, missing, name))


# Claims that do not exist


def missing_claims(draft: Draft, pod: Pod, handle: Handle) -> Iterator[Draft]:
    """Propose existing claims of the namespace, most similar names first, and to create the claim for one device of a class."""
    there = [
        str(each["metadata"]["name"])
        for each in handle.list(KIND)
        if each["metadata"].get("namespace") == pod.namespace
    ]
    for entry in pod.manifest["spec"].get("resourceClaims") or ():
        name = entry.get("resourceClaimName")
        if not name or name in there:
            continue
        alike = sorted(there, key=lambda other: (-SequenceMatcher(None, name, other).ratio(), other))
        for other in alike[:MOST_NAMED]:
            yield draft.with_pod(Change("claim-name", {"from": name, "to": other}), _naming(name, other))
        for device_class in list(handle.list(classes.KIND))[:MOST_NAMED]:
            yield _propose_claim(draft, pod.namespace, name, str(device_class["metadata"]["name"]))


def _naming(old: str, new: str) -> Edit:
    def edit(manifest: dict[str, Any]) -> None:
        for entry in manifest["spec"]["resourceClaims"]:
            if entry.get("resourceClaimName") == old:
                entry["resourceClaimName"] = new

    return edit


def _propose_claim(draft: Draft, namespace: str, name: str, device_class: str) -> Draft:
    ask = {"deviceClassName": device_class, "allocationMode": "ExactCount", "count": 1}
    claim = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": KIND,
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"devices": {"requests": [{"name": "device", "exactly": ask}]}},
    }
    values = {"claim": f"{namespace}/{name}", "deviceClass": device_class}
    return draft.with_applied(Change("claim", values), claim).taking_time()


# Objects that claims depend on: device classes, and the nodes' slices


def _by_another_driver(draft: Draft, case: _Case) -> Iterator[Draft]:
    """Propose another driver for a DeviceClass whose driver has no slices: one with a similar name, or the only driver."""
    drivers = sorted({str(each["spec"]["driver"]) for each in case.handle.list(SLICES)})
    asked = {ask.get("deviceClassName") for claim in case.claims for _, ask in _asks(claim)}
    for manifest in case.handle.list(classes.KIND):
        if manifest["metadata"]["name"] not in asked:
            continue
        text = str((manifest.get("spec") or {}).get("selectors") or "")
        for was in dict.fromkeys(_DRIVER.findall(text)):
            for driver in drivers if was not in drivers else ():
                if alike(was, driver) or len(drivers) == 1:
                    spec = _replace_text(manifest["spec"], was, driver)
                    values = {"class": manifest["metadata"]["name"], "from": was, "to": driver}
                    yield draft.with_applied(Change("driver-name", values), {**manifest, "spec": spec})


def _replace_text(data: Any, old: str, new: str) -> Any:
    if isinstance(data, Mapping):
        return {key: _replace_text(each, old, new) for key, each in data.items()}
    if isinstance(data, list):
        return [_replace_text(each, old, new) for each in data]
    return data.replace(old, new) if isinstance(data, str) else data


def _publishing(draft: Draft, case: _Case) -> Iterator[Draft]:
    """Propose slices for a node without slices, like those of another node of the same kind."""
    node, slices = case.refusal.node, case.handle.list(SLICES)
    if any(each["spec"].get("nodeName") == node.name for each in slices):
        return
    kind = _kind_of(node)
    for like in case.refusal.nodes.nodes:
        mine = [each for each in slices if each["spec"].get("nodeName") == like.name]
        if mine and _kind_of(like) == kind:
            made = [slice_like(each, node.name, like.name, number) for number, each in enumerate(mine)]
            values = {"node": node.name, "like": like.name, "driver": str(mine[0]["spec"]["driver"])}
            yield draft.with_applied(Change("slices", values), *made)
            return


def complete_pools(draft: Draft, node: str, handle: Handle) -> Iterator[Draft]:
    """Propose the missing slices of the node's pools, without devices: an incomplete pool satisfies no claim for all devices."""
    mine = [each["spec"] for each in handle.list(SLICES) if each["spec"].get("nodeName") == node]
    for driver, name in dict.fromkeys((each["driver"], each["pool"]["name"]) for each in mine):
        pools = [each["pool"] for each in mine if (each["driver"], each["pool"]["name"]) == (driver, name)]
        newest = max(pools, key=lambda pool: pool.get("generation", 0))
        there, count = sum(each == newest for each in pools), newest.get("resourceSliceCount", 1)
        spec = {"driver": driver, "nodeName": node, "pool": newest, "devices": []}
        made = {"apiVersion": "resource.k8s.io/v1", "kind": SLICES, "spec": spec}
        lacking = [{**made, "metadata": {"name": f"{name}-{number}"}} for number in range(there, count)]
        if lacking:
            values = {"driver": driver, "pool": name, "count": count, "there": there}
            yield draft.with_applied(Change("slices", values), *lacking)


def _kind_of(node: Node) -> tuple[tuple[str, str], ...]:
    """Return the labels of a node without hostname and topology labels."""
    return tuple(sorted((k, v) for k, v in node.labels.items() if k != HOSTNAME and "topology." not in k))


def slice_like(like: Manifest, node: str, other: str, number: int) -> Manifest:
    """Build a slice of a node like a slice of another node."""
    pool = like["spec"]["pool"]
    name = node if pool["name"] == other else f"{pool['name']}-{node}"
    spec = {**like["spec"], "nodeName": node, "pool": {**pool, "name": name}}
    meta = {"name": f"{node}-devices-{number}"}
    return {"apiVersion": like["apiVersion"], "kind": like["kind"], "metadata": meta, "spec": spec}


# Shared claims, and pools over several nodes


def own_claims(draft: Draft, pod: Pod, handle: Handle) -> Iterator[Draft]:
    """Propose a claim of the pod's own in place of a shared claim, so that the pod is not tied to the other users' node."""
    for entry in pod.manifest["spec"].get("resourceClaims") or ():
        name = str(entry.get("resourceClaimName") or "")
        claim = handle.get(KIND, pod.namespace, name) if name else None
        users = ((claim or {}).get("status") or {}).get("reservedFor") or ()
        if claim is None or all(each.get("name") == pod.name for each in users):
            continue
        template = {
            "apiVersion": claim["apiVersion"],
            "kind": f"{KIND}Template",
            "metadata": {"name": f"{name}-own", "namespace": pod.namespace},
            "spec": {"spec": claim["spec"]},
        }
        change = Change("own-claim", {"claim": f"{pod.namespace}/{name}", "template": f"{name}-own"})
        yield draft.with_pod(change, _use_template(name)).beside(template).taking_time()


def _use_template(name: str) -> Edit:
    def edit(manifest: dict[str, Any]) -> None:
        for entry in manifest["spec"]["resourceClaims"]:
            if entry.get("resourceClaimName") == name:
                del entry["resourceClaimName"]
                entry["resourceClaimTemplateName"] = f"{name}-own"
        manifest.pop("status", None)

    return edit


def divide_pools(draft: Draft, handle: Handle) -> Iterator[Draft]:
    """Propose a pool for each node in place of one over several: with one node's slices, the scheduler sees the pool as incomplete."""
    nodes: dict[tuple[str, str], set[str]] = {}
    slices = [each for each in handle.list(SLICES) if each["spec"].get("nodeName")]
    for each in slices:
        spec = each["spec"]
        nodes.setdefault((spec["driver"], spec["pool"]["name"]), set()).add(spec["nodeName"])
    for (driver, pool), names in nodes.items():
        mine = [each for each in slices if (each["spec"]["driver"], each["spec"]["pool"]["name"]) == (driver, pool)]
        if len(names) < 2:
            continue
        changed = draft
        for each in mine:
            node = each["spec"]["nodeName"]
            count = sum(other["spec"]["nodeName"] == node for other in mine)
            of_node = {**each["spec"]["pool"], "name": f"{pool}-{node}", "resourceSliceCount": count}
            changed = changed.beside_anew({**each, "spec": {**each["spec"], "pool": of_node}})
        values = {"pool": pool, "driver": driver, "nodes": sorted(names)}
        yield replace(changed, changes=(*draft.changes, Change("pool", values)), patient=True)


# Variants of a claim


def _variants(case: _Case, claim: Manifest) -> Iterator[tuple[Change, Manifest]]:
    for at, ask in _asks(claim):
        yield from _fewer(case, claim, at, ask)
        for i, selector in enumerate(ask.get("selectors") or ()):
            text = (selector.get("cel") or {}).get("expression") or ""
            values = {"claim": key_of(claim), "request": at[0], "expression": text}
            yield (Change("device-selector", values), _edit_request(claim, at, cut("selectors", i)))
        for key, effect in _taints(case):
            toleration = {"key": key, "operator": "Exists", "effect": effect}
            values = {"claim": key_of(claim), "request": at[0], "taint": f"{key}:{effect}"}
            tolerated = edit_at(tolerations=[*(ask.get("tolerations") or ()), toleration])
            yield (Change("device-toleration", values), _edit_request(claim, at, tolerated))
        for device_class in case.handle.list(classes.KIND):
            name, asked = device_class["metadata"]["name"], ask.get("deviceClassName") or ""
            if name != asked:
                yield _with_class(claim, at, asked, name)
    for i, constraint in enumerate((claim["spec"].get("devices") or {}).get("constraints") or ()):
        about = constraint.get("matchAttribute") or constraint.get("distinctAttribute") or ""
        without = copy.deepcopy(dict(claim))
        del without["spec"]["devices"]["constraints"][i]
        yield Change("device-constraint", {"claim": key_of(claim), "attribute": about}), without


Place = tuple[str, int, int | None]  # the request's name and index, and the alternative's index


def _asks(claim: Manifest) -> Iterator[tuple[Place, Manifest]]:
    for i, request in enumerate((claim["spec"].get("devices") or {}).get("requests") or ()):
        if request.get("exactly") is not None:
            yield (request["name"], i, None), request["exactly"]
        for j, each in enumerate(request.get("firstAvailable") or ()):
            yield (f"{request['name']}/{each['name']}", i, j), each


def _edit_request(claim: Manifest, at: Place, edit: Edit) -> Manifest:
    _, index, alternative = at
    new = copy.deepcopy(dict(claim))
    request = new["spec"]["devices"]["requests"][index]
    edit(request["exactly"] if alternative is None else request["firstAvailable"][alternative])
    return new


def _fewer(case: _Case, claim: Manifest, at: Place, ask: Manifest) -> Iterator[tuple[Change, Manifest]]:
    """Propose the largest number of devices that the node can provide."""
    count = int(ask.get("count") or 0)
    index = case.claims.index(claim)
    for fewer in range(count - 1, 0, -1):
        edited = _edit_request(claim, at, edit_at(count=fewer))
        if case.fits(index, edited):
            values = {"claim": key_of(claim), "request": at[0], "from": count, "to": fewer}
            yield Change("devices", values, (count - fewer) / count), edited
            return


def _with_class(claim: Manifest, at: Place, was: str, name: str) -> tuple[Change, Manifest]:
    values = {"claim": key_of(claim), "request": at[0], "from": was, "to": name}
    return Change("device-class", values), _edit_request(claim, at, edit_at(deviceClassName=name))


def _taints(case: _Case) -> list[tuple[str, str]]:
    """Return key and effect of the taints on the node's devices; none if the gate for device taints is off."""
    if not case.handle.features.dra_device_taints:
        return []
    devices: list[Device] = [device for each in case.search.reaching(case.refusal.node) for device in each.devices]
    return list(dict.fromkeys((taint.key, taint.effect) for device in devices for taint in device.taints))


# Devices that others use


def _propose_deletions(draft: Draft, case: _Case) -> Iterator[Draft]:
    """Propose to delete pods, of the lowest priority first, until the node has enough free devices."""
    here = {each.pool for each in case.search.reaching(case.refusal.node)}
    holders = sorted(_holders(case, here), key=lambda holder: (holder[0].priority, holder[0].key))
    chosen: list[tuple[Pod, ResourceClaim]] = []
    for holder in holders[:MOST_FREED]:
        chosen.append(holder)
        gone = {id(claim.manifest) for _, claim in chosen}
        left = [ResourceClaim.of(claim) for claim in case.handle.claims.list() if id(claim) not in gone]
        taken = AllocatedState.of(left, consumable=case.handle.features.dra_consumable_capacity)
        if case.fits_without(taken):
            values = {
                "node": case.refusal.node.name,
                "amounts": [str(result.device) for _, claim in chosen for result in claim.results],
                "pods": [pod.key for pod, _ in chosen],
            }
            named = tuple((pod.namespace, pod.name) for pod, _ in chosen)
            yield draft.without_pods(Change("free", values, float(len(chosen))), named)
            return


def _holders(case: _Case, pools: Any) -> Iterator[tuple[Pod, ResourceClaim]]:
    """Yield pods that alone use a claim with devices of these pools."""
    for manifest in case.handle.claims.list():
        if allocation_of(manifest) is None:
            continue
        claim = ResourceClaim.of(manifest)
        if len(claim.reserved_for) != 1 or not any(result.device[:2] in pools for result in claim.results):
            continue
        found = case.handle.get("Pod", claim.namespace, claim.reserved_for[0].name)
        if found is not None:
            pod = Pod.from_manifest(found)
            if not pod.deleting:
                yield pod, claim
