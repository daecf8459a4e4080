"""Facts about a pod's claims that no plugin's message has: a selected node that is gone, a template without its class, a pool of devices
that spans nodes, a volume that ties the pod to a few nodes.
"""

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

from scheduler_core.analysis.explain.explanation import Fact, GivenReason
from scheduler_core.analysis.explain.placement import SELECTED, note
from scheduler_core.analysis.fixes.admission import predict_claim
from scheduler_core.apimachinery.objects import Pod, Taint, controller_of
from scheduler_core.apimachinery.objects.labels import IN, NodeSelector
from scheduler_core.apimachinery.objects.storage.volumes import CLAIM, VOLUME
from scheduler_core.base.releases import Behavior, behaviors_of
from scheduler_core.controllers.memory.volumes import claims_of
from scheduler_core.controllers.workloads.statefulsets.identity import parent_and_ordinal
from scheduler_core.scheduler.plugins.helper.fixes import HOSTNAME
from scheduler_core.scheduler.plugins.nodevolumelimits import limits_of
from scheduler_core.scheduler.plugins.volumebinding.fixes import PROTECTION, find_alike
from scheduler_core.world.simulation import Simulation

_VOLUMES, _DEVICES = ("VolumeBinding", "VolumeZone", "VolumeRestrictions"), "DynamicResources"

SHOWN, COMPARED = 5, 40  # nodes
_UPDATED, NOT_CREATED = "currently being updated", "DynamicResources/ClaimNotCreated"
STOPS_CLAIM = ("TemplateIsMissing", "ClaimIsRefused")


def find_blocked_claims(world: Simulation, pod: Pod, reasons: Iterable[GivenReason]) -> Iterator[Fact]:
    """Yield the facts that explain the refusals of volume and device plugins."""
    reasons = list(reasons)
    plugins = {reason.plugin for reason in reasons}
    if plugins & set(_VOLUMES):
        yield from _list_volume_facts(world, pod)
        yield from _list_ties(world, reasons)
        if any(reason.code == "VolumeBinding/NotEnoughStorage" for reason in reasons):
            yield from _list_capacities(world, pod)
    if any(reason.code == "NodeVolumeLimits/TooManyVolumes" for reason in reasons):
        yield from _list_attach_limits(world, pod, reasons)
    if _DEVICES in plugins:
        yield from _list_device_facts(world, pod, any(reason.code == NOT_CREATED for reason in reasons))
        refusing = [reason for reason in reasons if reason.plugin == _DEVICES]
        yield from _list_reach(world, refusing)
        yield from _list_tainted(world, {node for reason in refusing for node in reason.nodes})
        if any(_UPDATED in reason.message or reason.code == NOT_CREATED for reason in reasons):
            yield from _list_wide_pools(world)


def _list_volume_facts(world: Simulation, pod: Pod) -> Iterator[Fact]:
    for key in claims_of(pod):
        namespace, _, name = key.partition("/")
        claim = world.store.get(CLAIM, namespace, name)
        if claim is None and (owner := _find_maker(world, pod, name)):
            yield note("ClaimOfStatefulSet", pod=pod.key, claim=name, owner=owner)
        others = [each["metadata"] for each in world.store.list(CLAIM)] if claim is None else []
        if found := [each["namespace"] for each in others if each["name"] == name]:
            yield note("ClaimIsElsewhere", claim=name, namespaces=found[:SHOWN])
        kept = [each for each in ((claim or {}).get("metadata") or {}).get("finalizers") or () if each != PROTECTION]
        if claim is not None and claim["metadata"].get("deletionTimestamp") and kept:
            yield note("ClaimKeptBy", claim=name, finalizers=kept)
        if claim is not None and claim["metadata"].get("deletionTimestamp"):
            over = [p.key for p in world.store.pods() if p.terminal and key in claims_of(p)]
            yield from (note("UsesClaimAfterEnd", pod=each, claim=name) for each in over[:SHOWN])
        if claim is None or (claim.get("status") or {}).get("phase") == "Bound":
            continue
        now = _find_template(world, pod, name).get("storageClassName")
        if now and now != (has := (claim.get("spec") or {}).get("storageClassName")):
            owner = _find_maker(world, pod, name)
            yield note("ClaimKeepsItsClass", claim=name, owner=owner, old=has or "-", storageClass=now)
        node = (claim["metadata"].get("annotations") or {}).get(SELECTED)
        wanted = str((claim.get("spec") or {}).get("storageClassName") or "")
        of_class = world.store.get("StorageClass", "", wanted) or {}
        if terms := of_class.get("allowedTopologies"):
            asked = [each for term in terms for each in term["matchLabelExpressions"]]
            parts = [f"{each.get('key')} in ({', '.join(each.get('values') or ())})" for each in asked]
            yield note("ClassTopologies", storageClass=of_class["metadata"]["name"], claim=name, topologies=parts)
        if (claim.get("spec") or {}).get("storageClassName") == "":
            yield note("NoClassWanted", pod=pod.key, claim=name)
        if node:
            code = "SelectedNode" if world.store.node(node) is not None else "SelectedNodeIsGone"
            yield note(code, pod=pod.key, claim=name, node=node)


def _find_maker(world: Simulation, pod: Pod, claim: str) -> str:
    """Return the StatefulSet whose volumeClaimTemplates define a claim of the pod, or ""."""
    owner = controller_of(pod.manifest) or {}
    name = str(owner.get("name") or parent_and_ordinal(pod.name)[0])
    return name if _find_template(world, pod, claim) else ""


def _find_template(world: Simulation, pod: Pod, claim: str) -> Mapping[str, Any]:
    """Return the spec of the volumeClaimTemplate that defines a claim of the pod, or {}."""
    owner = controller_of(pod.manifest) or {}
    found = world.store.get("StatefulSet", pod.namespace, str(owner.get("name") or parent_and_ordinal(pod.name)[0]))
    templates = ((found or {}).get("spec") or {}).get("volumeClaimTemplates") or ()
    return next((each["spec"] for each in templates if f"{each['metadata']['name']}-{pod.name}" == claim), {})


def _list_ties(world: Simulation, reasons: Iterable[GivenReason]) -> Iterator[Fact]:
    """Yield the bound volumes that restrict a pod to few nodes."""
    for reason in reasons:
        if reason.code not in ("VolumeBinding/VolumeOutOfReach", "VolumeZone/OtherZone"):
            continue
        for claim in reason.evidence.get("claims") or ():
            for volume in claim.get("candidates") or () if claim.get("volume") else ():
                if volume["volume"] == claim["volume"] and volume.get("affinity"):
                    yield note("VolumeTies", claim=claim["claim"], volume=volume["volume"], affinity=volume["affinity"])
                    yield from _list_renamed(world, volume["volume"])
                    yield from _list_named_nodes(world, volume["volume"])
                    if claim.get("bindingMode") == "Immediate":
                        values = {"volume": volume["volume"], "storageClass": claim["class"]}
                        yield note("MadeBeforeItsPod", **values)


def _list_named_nodes(world: Simulation, name: str) -> Iterator[Fact]:
    """Yield the node of a local volume if the node is gone or has another hostname label than the volume requires."""
    asked = [each for each in _read_expressions(world, name) if each.get("key") == HOSTNAME]
    named = [value for each in asked for value in each.get("values") or () if each.get("operator") == IN]
    if not named or any(node.labels.get(HOSTNAME) in named for node in world.store.nodes()):
        return
    found = next((node for value in named if (node := world.store.node(value)) is not None), None)
    if found is not None:
        yield note("HostnameDiffers", volume=name, node=found.name, value=found.labels.get(HOSTNAME) or "-")
    else:
        yield note("NodeOfVolumeIsGone", volume=name, names=named[:SHOWN])


def _read_expressions(world: Simulation, name: str) -> list[dict[str, Any]]:
    """Return the match expressions of a volume's required node affinity."""
    spec = (world.store.get(VOLUME, "", name) or {}).get("spec") or {}
    terms = ((spec.get("nodeAffinity") or {}).get("required") or {}).get("nodeSelectorTerms") or ()
    return [each for term in terms for each in term.get("matchExpressions") or ()]


def _list_renamed(world: Simulation, name: str) -> Iterator[Fact]:
    """Yield the label key that a volume requires and no node has, if nodes have an equivalent key."""
    nodes = world.store.nodes()
    for each in _read_expressions(world, name):
        named = ((node, find_alike(node.labels, each)) for node in nodes)
        node, other = next((pair for pair in named if pair[1]), (None, ""))
        if node is not None and not any(each["key"] in node.labels for node in nodes):
            values = {"key": each["key"], "other": other, "value": node.labels[other], "node": node.name}
            yield note("KeyWasRenamed", volume=name, **values)


def _list_attach_limits(world: Simulation, pod: Pod, reasons: Iterable[GivenReason]) -> Iterator[Fact]:
    """Yield the attach limits of the pod's volumes' drivers on the nodes that reject the pod."""
    claims = [world.store.get(CLAIM, *key.split("/", 1)) or {} for key in claims_of(pod)]
    names = [str((claim.get("spec") or {}).get("volumeName") or "") for claim in claims]
    found = [(world.store.get("PersistentVolume", "", name) or {}).get("spec") or {} for name in names]
    drivers = {str((each.get("csi") or {}).get("driver")) for each in found}
    for reason in reasons:
        for node in reason.nodes[:SHOWN] if reason.code == "NodeVolumeLimits/TooManyVolumes" else ():
            limits = limits_of(world.store.get("CSINode", "", node))
            for driver in sorted(drivers & limits.keys()):
                yield note("AttachLimit", node=node, driver=driver, limit=limits[driver])


def _list_capacities(world: Simulation, pod: Pod) -> Iterator[Fact]:
    """Yield the storage capacity that drivers report for the classes of the pod's unbound claims."""
    for key in claims_of(pod):
        claim = world.store.get(CLAIM, *key.split("/", 1)) or {}
        spec = claim.get("spec") or {}
        rooms = [
            f"{', '.join(((each.get('nodeTopology') or {}).get('matchLabels') or {}).values()) or '-'} {each.get('capacity')}"
            for each in world.store.list("CSIStorageCapacity")
            if each.get("storageClassName") == spec.get("storageClassName")
        ]
        if "volumeName" not in spec and rooms:
            size = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
            values = {"claim": key.partition("/")[2], "size": size, "storageClass": spec["storageClassName"]}
            yield note("StorageIsTold", **values, rooms=sorted(rooms)[:SHOWN])


def _list_device_facts(world: Simulation, pod: Pod, absent: bool) -> Iterator[Fact]:
    """Yield the templates of the pod's device claims, and each missing template or class. `absent`: a claim has not been created."""
    for entry in pod.manifest["spec"].get("resourceClaims") or ():
        template, claim = entry.get("resourceClaimTemplateName"), entry.get("resourceClaimName")
        found = world.store.get("ResourceClaimTemplate", pod.namespace, template) if template else None
        if template and found is None:
            yield note("TemplateIsMissing", pod=pod.key, entry=entry.get("name"), template=template)
        if template and found is not None:
            yield note("ClaimOfTemplate", pod=pod.key, entry=entry.get("name"), template=template)
            if message := predict_claim(world, pod, str(entry.get("name")), found) if absent else "":
                yield note("ClaimIsRefused", template=template, message=message.rstrip(". "))
            spec = (found.get("spec") or {}).get("spec") or {}
            yield from _list_constraints(world, spec, template)
            yield from _list_missing_classes(world, spec, template)
        manifest = world.store.get("ResourceClaim", pod.namespace, claim) if claim else None
        if manifest is not None and not (manifest.get("status") or {}).get("allocation"):
            yield from _list_constraints(world, manifest.get("spec") or {}, claim)
        if manifest is not None:
            yield from _list_missing_classes(world, manifest.get("spec") or {}, claim)


def _list_constraints(world: Simulation, spec: Mapping[str, Any], of: str) -> Iterator[Fact]:
    for each in (spec.get("devices") or {}).get("constraints") or ():
        if each.get("matchAttribute"):
            yield note("DevicesHaveToMatch", source=of, attribute=each["matchAttribute"])
    for name, each in _list_asks(spec):
        yield from _list_other_drivers(world, str(each.get("deviceClassName") or ""))
        if each.get("allocationMode") == "All":
            yield note("AllDevicesAreAsked", source=of, request=name)
        if int(each.get("count") or 1) > 1:
            values = {"source": of, "request": name, "count": int(each["count"])}
            yield note("DevicesAreCounted", **values, devices=_count_devices(world))
        for text in _read_selectors(each):
            yield note("DevicesAreSelected", source=of, request=name, expression=text)
            if devices := _list_properties(world, text):
                yield note("DevicesHave", devices=devices[:SHOWN])


def _list_asks(spec: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Return each request of a claim with its name, and each alternative as a request of its own."""
    return [
        ("/".join(filter(None, (request.get("name"), each.get("name")))), each)
        for request in (spec.get("devices") or {}).get("requests") or ()
        for each in (request.get("exactly") or {}, *(request.get("firstAvailable") or ()))
    ]


def _read_selectors(asked: Mapping[str, Any]) -> list[str]:
    found = (str((each.get("cel") or {}).get("expression") or "").strip() for each in asked.get("selectors") or ())
    return list(found)


def _list_reach(world: Simulation, reasons: Iterable[GivenReason]) -> Iterator[Fact]:
    """Yield the pools of devices that do not reach the nodes without devices."""
    refused = [
        node for reason in reasons for name in reason.nodes[:COMPARED] if (node := world.store.node(name)) is not None
    ]
    for each in world.store.list("ResourceSlice"):
        spec = each.get("spec") or {}
        if not spec.get("nodeSelector"):
            continue
        selector = NodeSelector.of(spec["nodeSelector"])
        out = [n.name for n in refused if not any(t.matches(n.labels, n.name) for t in selector.terms)]
        if out:
            text = "; ".join(", ".join(map(str, term.expressions)) for term in selector.terms)
            values = {"pool": (spec.get("pool") or {}).get("name"), "driver": spec.get("driver"), "affinity": text}
            yield note("PoolReaches", **values, nodes=out[:SHOWN], count=len(out))


def _list_tainted(world: Simulation, nodes: Container[str]) -> Iterator[Fact]:
    """Yield the tainted devices of nodes."""
    slices = [each for found in _find_newest_slices(world).values() for each in found if each.get("nodeName") in nodes]
    for name, device in [(each["nodeName"], device) for each in slices for device in each.get("devices") or ()]:
        for each in device.get("taints") or ():
            taint = Taint(each["key"], each.get("value") or "", each["effect"])
            yield note("DeviceIsTainted", device=f"{name}/{device['name']}", taint=str(taint))


def _list_other_drivers(world: Simulation, name: str) -> Iterator[Fact]:
    """Yield the selectors of a class that name none of the drivers that publish devices."""
    found = (world.store.get("DeviceClass", "", name) or {}).get("spec") or {}
    drivers = sorted({str((each.get("spec") or {}).get("driver")) for each in world.store.list("ResourceSlice")})
    for text in _read_selectors(found):
        if "device.driver" in text and not any(driver in text for driver in drivers):
            code = "ClassSelectsOthers" if drivers else "NoDevicesPublished"
            yield note(code, deviceClass=name, expression=text, drivers=drivers[:SHOWN])


def _list_properties(world: Simulation, expression: str) -> list[str]:
    """List the devices' values of the attributes and capacities that an expression names."""
    found = []
    for each in world.store.list("ResourceSlice"):
        spec = each.get("spec") or {}
        for device in spec.get("devices") or ():
            named = {**(device.get("attributes") or {}), **(device.get("capacity") or {})}
            parts = [
                f"{name} {next(iter(value.values()), '-')}"
                for name, value in named.items()
                if name.rpartition("/")[2] in re.findall(r"\w+", expression)
            ]
            if parts:
                found.append(f"{spec.get('nodeName') or spec['pool']['name']}/{device.get('name')}: {', '.join(parts)}")
    return sorted(found)


def _count_devices(world: Simulation) -> list[str]:
    """Count the devices of each node that has ResourceSlices of its own."""
    counts: dict[str, int] = {}
    for spec in [each for slices in _find_newest_slices(world).values() for each in slices]:
        if node := spec.get("nodeName"):
            counts[node] = counts.get(node, 0) + len(spec.get("devices") or ())
    return [f"{node} {count}" for node, count in sorted(counts.items())][:SHOWN]


def _list_missing_classes(world: Simulation, spec: Mapping[str, Any], of: str) -> Iterator[Fact]:
    for request, each in _list_asks(spec):
        name = each.get("deviceClassName")
        if name and world.store.get("DeviceClass", "", name) is None:
            yield note("DeviceClassIsMissing", deviceClass=name, request=request, source=of)


def _find_newest_slices(world: Simulation) -> dict[tuple[str, str], list[Mapping[str, Any]]]:
    """Return the slices of each pool's newest generation, by driver and pool. Older generations do not count."""
    pools: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for spec in [each.get("spec") or {} for each in world.store.list("ResourceSlice")]:
        pools.setdefault((str(spec.get("driver")), str((spec.get("pool") or {}).get("name"))), []).append(spec)
    return {
        key: [each for each in found if _generation_of(each) == max(map(_generation_of, found))]
        for key, found in pools.items()
    }


def _generation_of(spec: Mapping[str, Any]) -> int:
    return int((spec.get("pool") or {}).get("generation") or 0)


def _list_wide_pools(world: Simulation) -> Iterator[Fact]:
    """Yield the pools that schedulers treat as incomplete: slices are missing, or before 1.35 belong to several nodes."""
    by_node = Behavior.COUNTERS_OF_POOLS not in behaviors_of(world.settings.release)
    for (driver, name), slices in _find_newest_slices(world).items():
        nodes = list(dict.fromkeys(each["nodeName"] for each in slices if each.get("nodeName")))
        if by_node and len(nodes) > 1:
            yield note("PoolOverNodes", pool=name, driver=driver, nodes=nodes)
        wanted = int((slices[0].get("pool") or {}).get("resourceSliceCount") or 0)
        if len(slices) < wanted:
            values = {"there": len(slices), "wanted": wanted, "generation": _generation_of(slices[0])}
            yield note("PoolIsIncomplete", pool=name, driver=driver, **values)
