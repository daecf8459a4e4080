"""Holders of what a pod lacks: pods, claims, and nominations on the nearest nodes, and until when they hold it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from scheduler_core.analysis.explain.explanation import Fact, GivenReason, Role
from scheduler_core.analysis.explain.placement import list_pods_of, was_not_scheduled
from scheduler_core.analysis.explain.provenance import trace_resize, trace_surge
from scheduler_core.analysis.fixes.diagnosis import Diagnosis
from scheduler_core.analysis.fixes.kubectl import workload_of
from scheduler_core.analysis.fixes.meanings import has_ended_inside, list_remote_volumes
from scheduler_core.analysis.fixes.proposals import map_namespace_labels
from scheduler_core.apimachinery.objects import SECOND, Pod, controller_of, parse_time
from scheduler_core.apimachinery.objects.affinity import affinity_terms
from scheduler_core.apimachinery.objects.storage.volumes import volumes_of
from scheduler_core.controllers.kubelet.heartbeats import runs
from scheduler_core.controllers.kubelet.pods import is_overdue
from scheduler_core.scheduler.cache.pod_classes import PodClass
from scheduler_core.scheduler.plugins.interpodaffinity.explanation import list_counted_pods, repelling, term_figures
from scheduler_core.world.simulation import Simulation

NODES, PODS = 2, 3  # examined nodes, and named pods of each
_JOB_TRACKING = "batch.kubernetes.io/job-tracking"
_AFFINITY, _SPREAD = "PreFilterInterPodAffinity", "PreFilterPodTopologySpread"
WAKING = frozenset(
    ("CountsInDomain", "HoldsCapacity", "HoldsPort", "HoldsSlot", "IsAvoided", "IsItsPartner", "Repels", "UsesClaim")
)
Found = Iterator[tuple[str, Pod, Mapping[str, Any]]]  # code, holder, values


def find_holders(world: Simulation, diagnosis: Diagnosis, reasons: Iterable[GivenReason]) -> list[Fact]:
    """Return facts about the holders, by reason. A pod that holds several things appears for each, and its end once."""
    found: dict[tuple[str, str, str], Fact] = {}
    ends: dict[str, list[Fact]] = {}
    for reason in reasons:
        search = _SEARCHES.get(reason.code)
        if search is None and reason.evidence.get("near"):
            search = _find_capacity
        for code, pod, values in () if search is None else search(world, diagnosis, reason):
            fact = Fact(Role.HOLDERS, code, {**describe_holder(world, pod), **values})
            found.setdefault((code, pod.key, str(values.get("resource") or "")), fact)
            ends.setdefault(pod.key, describe_end(world, pod))
    nominated = _find_nominated(diagnosis, reasons)
    return [*found.values(), *(fact for facts in ends.values() for fact in facts), *nominated]


def describe_holder(world: Simulation, pod: Pod) -> dict[str, Any]:
    """Return the common values of a holder's facts."""
    owner = controller_of(pod.manifest)
    named = None if owner is None else f"{owner.get('kind')}/{owner.get('name')}"
    return {
        "pod": pod.key,
        "node": pod.node_name,
        "priority": pod.priority,
        "terminating": pod.deleting,
        "until": end_of(world, pod),
        "owner": named,
        "returns": named is not None and not pod.deleting,
    }


def is_node_silent(world: Simulation, node: str) -> bool:
    """Return whether nothing acts on a node: its kubelet does not run, or the control plane has lost contact."""
    found = world.store.node(node)
    return bool(node) and (found is None or found.ready == "Unknown" or not runs(world, node))


def end_of(world: Simulation, pod: Pod) -> int | None:
    """Return the virtual time by which a terminating pod is gone. Return None if it does not terminate, or nothing would end it."""
    at = pod.manifest["metadata"].get("deletionTimestamp")
    if not at or is_node_silent(world, pod.node_name) or _list_finalizers(world, pod):
        return None
    if is_overdue(world, pod, world.now):
        return None
    run = world.surroundings.kubelet.pods.get(pod.key)
    return run.kill.until if run is not None and run.kill is not None else parse_time(at) - world.store.epoch


def _list_finalizers(world: Simulation, pod: Pod) -> list[str]:
    """List the finalizers that hold a pod. A Job removes its own after the containers have ended."""
    owner = controller_of(pod.manifest) or {}
    counts = owner.get("kind") == "Job" and not pod.terminal
    job = world.store.get("Job", pod.namespace, str(owner.get("name"))) if counts else None
    held = pod.manifest["metadata"].get("finalizers") or ()
    return [each for each in held if job is None or each != _JOB_TRACKING]


def describe_end(world: Simulation, pod: Pod) -> list[Fact]:
    """Return a fact about the end of a terminating pod: its time, or what it waits for."""
    if not pod.deleting:
        return []
    until = end_of(world, pod)
    values = {"pod": pod.key, "node": pod.node_name, "until": until}
    if finalizers := _list_finalizers(world, pod):
        return [Fact(Role.HOLDERS, "EndsWithoutFinalizer", {**values, "finalizers": finalizers})]
    if pod.node_name and world.store.node(pod.node_name) is None:
        return [Fact(Role.HOLDERS, "EndsWithGarbage", values)]
    if until is None:
        silent = is_node_silent(world, pod.node_name)
        since = world.now + world.store.epoch - parse_time(pod.manifest["metadata"]["deletionTimestamp"])
        code = "EndsNever" if silent else "EndsUncleaned" if has_ended_inside(pod) else "EndsOverdue"
        return [Fact(Role.HOLDERS, code, {**values, "left": since, "volumes": list_remote_volumes(pod) or ["-"]})]
    grace = pod.manifest["metadata"].get("deletionGracePeriodSeconds") or 0
    left = max(until - world.now, 0)
    return [Fact(Role.HOLDERS, "EndsAt", {**values, "left": left, "grace": grace * SECOND})]


# Searches by reason


def _rows(diagnosis: Diagnosis, names: Iterable[str]) -> Iterator[tuple[str, int]]:
    for name in tuple(names)[:NODES]:
        if (row := diagnosis.nodes.row(name)) is not None:
            yield name, row


def _find_capacity(world: Simulation, diagnosis: Diagnosis, reason: GivenReason) -> Found:
    resource = str(reason.evidence["resource"])
    for node, row in _rows(diagnosis, (each["node"] for each in reason.evidence["near"]["nodes"])):
        held = [(pod.requests.get(resource), pod) for pod in diagnosis.nodes.pods[row]]
        largest = sorted((each for each in held if each[0] > 0), key=lambda each: (-each[0], each[1].key))
        for amount, pod in largest[:PODS]:
            whole = next(e["allocatable"] for e in reason.evidence["near"]["nodes"] if e["node"] == node)
            yield "HoldsCapacity", pod, {"resource": resource, "amount": amount, "allocatable": whole}


def explain_bypass(world: Simulation, pod: Pod) -> Iterator[Fact]:
    """Yield that no scheduler decided about a pod that its kubelet refuses, and the pods that hold its host ports."""
    if not was_not_scheduled(world, pod):
        return
    yield Fact(Role.NOTES, "BypassedScheduler", {"pod": pod.key, "node": pod.node_name})
    others = [each for each in world.store.pods_on(pod.node_name) if each.uid != pod.uid and not each.terminal]
    held = list(_list_users_of_ports(pod, others))
    yield from (Fact(Role.HOLDERS, code, {**describe_holder(world, each), **values}) for code, each, values in held)
    yield from trace_surge(world, pod.manifest, [each for _, each, _ in held])


def list_largest(world: Simulation, pod: Pod, resource: str) -> Iterator[Fact]:
    """Yield the other pods on a pod's node that request most of a resource."""
    others = [each for each in world.store.pods_on(pod.node_name) if each.uid != pod.uid and not each.terminal]
    for other in sorted(others, key=lambda each: (-each.requests.get(resource), each.key))[:PODS]:
        if amount := other.requests.get(resource):
            values = {**describe_holder(world, other), "resource": resource, "amount": amount}
            yield Fact(Role.HOLDERS, "HoldsCapacity", values)


def find_resizes(diagnosis: Diagnosis, reasons: Iterable[GivenReason]) -> list[Fact]:
    """Return other pods' pending resizes on the nearest nodes, which count for more than the pods run with."""
    found: list[Fact] = []
    for reason in reasons:
        near = reason.evidence.get("near")
        for _, row in _rows(diagnosis, (each["node"] for each in near["nodes"])) if near else ():
            for pod in diagnosis.nodes.pods[row]:
                found += trace_resize(pod, str(reason.evidence["resource"]))
    return found


def _find_ports(world: Simulation, diagnosis: Diagnosis, reason: GivenReason) -> Found:
    for _, row in _rows(diagnosis, reason.nodes):
        yield from _list_users_of_ports(diagnosis.pod, diagnosis.nodes.pods[row])


def _list_users_of_ports(pod: Pod, others: Iterable[Pod]) -> Found:
    wanted = {(port.protocol, port.port) for port in pod.spec.host_ports}
    for other in others:
        for port in other.spec.host_ports:
            if (port.protocol, port.port) in wanted:
                yield "HoldsPort", other, {"port": port.port, "protocol": port.protocol}


def _find_slots(world: Simulation, diagnosis: Diagnosis, reason: GivenReason) -> Found:
    for _, row in _rows(diagnosis, reason.nodes):
        mine = workload_of(world.store, diagnosis.pod.manifest)
        there = diagnosis.nodes.pods[row]
        own = [pod for pod in there if mine is not None and workload_of(world.store, pod.manifest) is mine]
        for pod in [*own, *there][:PODS]:
            yield "HoldsSlot", pod, {"count": len(there)}


def _find_avoided(world: Simulation, diagnosis: Diagnosis, reason: GivenReason) -> Found:
    rules = diagnosis.state.get(_AFFINITY)
    if rules is None:
        return
    for node, row in _rows(diagnosis, reason.nodes):
        for term in rules.anti_terms:
            for pod in term_figures(diagnosis.nodes, row, term).pods[:PODS]:
                yield "IsAvoided", pod, {"topologyKey": term.topology_key, "at": node}


def _find_partners(world: Simulation, diagnosis: Diagnosis, reason: GivenReason) -> Found:
    """Yield the pods that the required affinity selects, on nodes where the pod can't go."""
    terms, nodes = affinity_terms(diagnosis.pod).required, diagnosis.nodes
    spaces = map_namespace_labels(world)

    def is_partner(each: PodClass) -> bool:
        return all(t.matches(each.namespace, each.labels, spaces.get(each.namespace, {})) for t in terms)

    for pod in list_pods_of(nodes, is_partner, np.ones(len(nodes), np.bool_))[:PODS]:
        labels = nodes.nodes[nodes.rows[pod.node_name]].labels
        lacking = [term.topology_key for term in terms if term.topology_key not in labels]
        itself = all(term.selector.matches(diagnosis.pod.labels) for term in terms)
        code = "PartnerWithoutLabel" if lacking else "IsItsPartner"
        yield code, pod, {"topologyKey": lacking[0] if lacking else terms[0].topology_key, "itself": itself}


def _find_repelling(world: Simulation, diagnosis: Diagnosis, reason: GivenReason) -> Found:
    rules = diagnosis.state.get(_AFFINITY)
    if rules is None:
        return
    for node, row in _rows(diagnosis, reason.nodes):
        for figures in repelling(rules, diagnosis.nodes, row):
            yield "Repels", figures.pods[0], {"topologyKey": figures.term.topology_key, "at": node}


def _find_spread(world: Simulation, diagnosis: Diagnosis, reason: GivenReason) -> Found:
    spread = diagnosis.state.get(_SPREAD)
    if spread is None:
        return
    for _, row in _rows(diagnosis, reason.nodes):
        for constraint in spread.constraints.items:
            key = constraint.topology_key
            domain = diagnosis.nodes.nodes[row].labels.get(key)
            for pod in list_counted_pods(diagnosis.nodes, constraint.counted, key, row)[:PODS]:
                yield "CountsInDomain", pod, {"topologyKey": key, "domain": domain}


def _find_claim_users(world: Simulation, diagnosis: Diagnosis, reason: GivenReason) -> Found:
    pod = diagnosis.pod
    for use in volumes_of(pod.spec).claims:
        claim = f"{pod.namespace}/{use.name(pod)}"
        for other in world.surroundings.volumes.users.of(world.store, claim):
            if other.uid != pod.uid and other.node_name and not other.terminal:
                yield "UsesClaim", other, {"claim": claim}


def _find_volumes(world: Simulation, diagnosis: Diagnosis, reason: GivenReason) -> Found:
    for _, row in _rows(diagnosis, reason.nodes):
        using = [pod for pod in diagnosis.nodes.pods[row] if volumes_of(pod.spec).claims]
        for pod in using[:PODS]:
            yield "HoldsVolumes", pod, {"count": len(volumes_of(pod.spec).claims)}


def _find_devices(world: Simulation, diagnosis: Diagnosis, reason: GivenReason) -> Found:
    """Yield the pods with reserved claims for devices of the nearest nodes."""
    for claim in world.store.list("ResourceClaim"):
        status = claim.get("status") or {}
        results = ((status.get("allocation") or {}).get("devices") or {}).get("results") or ()
        for entry in status.get("reservedFor") or () if results else ():
            pod = world.store.pod(claim["metadata"]["namespace"], str(entry.get("name")))
            if pod is not None and pod.uid != diagnosis.pod.uid and pod.node_name in reason.nodes[:20]:
                devices = [f"{each['pool']}/{each['device']}" for each in results]
                yield "HoldsDevices", pod, {"claim": claim["metadata"]["name"], "devices": devices}


def _find_shared_claim(world: Simulation, diagnosis: Diagnosis, reason: GivenReason) -> Found:
    """Yield the pods that share an allocated claim, which restricts the pod to their node."""
    pod, statuses = diagnosis.pod, diagnosis.pod.manifest.get("status") or {}
    made = {each.get("name"): each.get("resourceClaimName") for each in statuses.get("resourceClaimStatuses") or ()}
    for entry in pod.manifest["spec"].get("resourceClaims") or ():
        name = entry.get("resourceClaimName") or made.get(entry.get("name"))
        claim = world.store.get("ResourceClaim", pod.namespace, str(name)) if name else None
        for user in ((claim or {}).get("status") or {}).get("reservedFor") or ():
            other = world.store.pod(pod.namespace, str(user.get("name")))
            if other is not None and other.uid != pod.uid:
                yield "SharesClaim", other, {"claim": name}


def _find_nominated(diagnosis: Diagnosis, reasons: Iterable[GivenReason]) -> Iterator[Fact]:
    """Yield the pods of the same or a higher priority that are nominated to the nearest nodes."""
    seen: dict[tuple[str, str], Fact] = {}
    for reason in reasons:
        near = reason.evidence.get("near")
        for node, _ in _rows(diagnosis, (each["node"] for each in near["nodes"])) if near else ():
            for pod in diagnosis.scheduler.queue.nominator.on(node):
                if pod.uid != diagnosis.pod.uid and pod.priority >= diagnosis.pod.priority:
                    values = {"pod": pod.key, "node": node, "priority": pod.priority}
                    seen[pod.key, node] = Fact(Role.HOLDERS, "IsNominated", values)
    yield from seen.values()


_SEARCHES: Mapping[str, Callable[[Simulation, Diagnosis, GivenReason], Found]] = {
    "NodePorts/HostPortsTaken": _find_ports,
    "NodeResourcesFit/TooManyPods": _find_slots,
    "InterPodAffinity/MatchingPod": _find_avoided,
    "InterPodAffinity/NoMatchingPod": _find_partners,
    "InterPodAffinity/RefusedByPod": _find_repelling,
    "PodTopologySpread/SkewTooLarge": _find_spread,
    "VolumeRestrictions/ClaimInUse": _find_claim_users,
    "VolumeRestrictions/DiskConflict": _find_claim_users,
    "NodeVolumeLimits/TooManyVolumes": _find_volumes,
    "DynamicResources/CannotAllocate": _find_devices,
    "DynamicResources/CannotFitResource": _find_devices,
    "DynamicResources/ClaimOutOfReach": _find_shared_claim,
}
