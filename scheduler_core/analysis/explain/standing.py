"""Pods with a node: not running, terminating, running on a lost node; and pods that are gone."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from scheduler_core.analysis.explain.ended import KUBELET, Past, list_last_ends
from scheduler_core.analysis.explain.explanation import Explanation, Fact, GivenReason, Role, State
from scheduler_core.analysis.explain.holders import describe_end, describe_holder, end_of, is_node_silent, list_largest
from scheduler_core.analysis.explain.placement import SELECTED, explain_place, note, was_not_scheduled
from scheduler_core.analysis.explain.provenance import list_tiny_amounts, trace_resize, trace_surge
from scheduler_core.analysis.explain.workloads import describe_budgets
from scheduler_core.analysis.fixes.admission import describe_wait
from scheduler_core.analysis.fixes.containers import (
    FOREIGN,
    find_elsewhere,
    find_missing_driver,
    find_platform,
    list_absent_drivers,
)
from scheduler_core.analysis.fixes.kubectl import workload_of
from scheduler_core.analysis.fixes.meanings import PLAIN, PULLING, find_makers
from scheduler_core.apimachinery.objects import SECOND, Node, Pod, controller_of, parse_time
from scheduler_core.apimachinery.objects.resources import list_resized
from scheduler_core.apimachinery.objects.storage.volumes import CLAIM
from scheduler_core.apiserver.kube_events import WARNING
from scheduler_core.controllers.kubelet.devices import missing
from scheduler_core.controllers.memory.volumes import claims_of
from scheduler_core.controllers.nodes.lifecycle import zone_name
from scheduler_core.controllers.nodes.taint_eviction import no_execute, tolerance
from scheduler_core.controllers.nodes.zones import FULL, PARTIAL, Census, state_of
from scheduler_core.controllers.volumes.attachments import ATTACHMENT, get_volume
from scheduler_core.scheduler.plugins.helper.node_selection import GOING, find_setter
from scheduler_core.world.simulation import Simulation

_CONDITIONS = {
    "node.kubernetes.io/disk-pressure": "DiskPressure",
    "node.kubernetes.io/memory-pressure": "MemoryPressure",
    "node.kubernetes.io/network-unavailable": "NetworkUnavailable",
    "node.kubernetes.io/pid-pressure": "PIDPressure",
}
_GROWING = ("FileSystemResizePending", "ControllerResizeError", "NodeResizeError")
_EVERYDAY = ("kubelet", "default-scheduler")  # their Normal Events show how a pod started and ended, not why
_STAGES = ("Launched", "Registered", "Initialized", "InfrastructureReady", "Ready")  # of a new node's object
_LOW = "was low on resource"
_OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
_UNREACHABLE, _NOT_READY = "node.kubernetes.io/unreachable", "node.kubernetes.io/not-ready"
_BY_TAINT = "DeletionByTaintManager"
_PROVISIONER = "volume.kubernetes.io/storage-provisioner"
_WAIT_FOR_POD = "WaitForFirstConsumer"


def explain_bound_pod(world: Simulation, pod: Pod, past: Past, compare: bool) -> Explanation:
    """Explain a pod on an existing node. `compare`: explain the choice of the node, which evaluates all nodes."""
    node = world.store.node(pod.node_name)
    assert node is not None
    known = Explanation(pod.key, State.SCHEDULED, node=pod.node_name, phase=pod.phase, predecessors=past.before(pod))
    if pod.phase == "Succeeded":
        return known
    reasons, pulls = tuple(_list_obstacles(world, pod, node)) if not pod.terminal else (), list[Fact]()
    if not reasons and not pod.terminal and not pod.ready and (last := past.find_warning(pod)) is not None:
        reasons = (_obstacle(last.reason, last.message, node, {}),)
        pulls = [note("PullsFor", node=node.name, left=world.now - last.t)] if last.reason == PULLING else []
    facts: list[Fact] = list(describe_budgets(world, pod)) if node.unschedulable else []
    if facts:
        facts.insert(0, note("NodeIsCordoned", pod=pod.key, node=node.name))
    facts += pulls
    if any(reason.code == f"{KUBELET}/NodeLost" for reason in reasons):
        facts += _list_disruption(world, pod, node)
    if any(reason.code == f"{KUBELET}/WaitsForVolume" for reason in reasons):
        absent = [key for key in claims_of(pod) if world.store.get(CLAIM, *key.split("/", 1)) is None]
        facts += [note("ClaimIsMissing", claim=key.partition("/")[2]) for key in absent]
        facts += _list_unselected(world, pod)
    resources = dict.fromkeys(resource for reason in reasons for resource in reason.evidence.get("resources") or ())
    for resource in resources:
        facts += [*trace_resize(pod, resource), *list_largest(world, pod, resource)]
    facts += [fact for reason in reasons for fact in _list_attached(world, pod, reason)]
    facts += list_tiny_amounts(pod) if reasons else ()
    facts += [*list_last_ends(pod), *_list_platforms(world, pod, node, reasons)]
    for each in [found for reason in reasons for found in find_elsewhere(world, pod.namespace, reason.message)][:1]:
        name, there = each["metadata"]["name"], each["metadata"].get("namespace")
        facts.append(note("IsElsewhere", kind=each["kind"], name=name, namespaces=[there], namespace=pod.namespace))
    for name, maker in [each for reason in reasons for each in find_makers(world, pod, reason.message)][:1]:
        facts.append(note("MakerWaits", pod=maker.key, name=name, why=describe_wait(maker).rstrip(". ")))
    facts += [*past.list_reports(pod, reasons), *_list_absent_drivers(world, reasons, node)] if reasons else ()
    known = replace(known, state=State.NOT_RUNNING if reasons else known.state, reasons=reasons, facts=tuple(facts))
    if not compare:
        return known
    place = explain_place(world, pod, pod.node_name)
    return replace(known, reasons=(*reasons, *place.reasons), facts=(*facts, *place.facts), total=place.total)


def _list_obstacles(world: Simulation, pod: Pod, node: Node) -> Iterator[GivenReason]:
    """Yield the reasons why a pod does not run, or is not known to run: the node, its claims, its containers."""
    if is_node_silent(world, node.name) and node.ready != "True":
        text = f"the kubelet of {node.name} does not report: Ready is {node.ready or 'not said'}"
        yield _obstacle("NodeLost", text, node, {"ready": node.ready})
    elif node.ready == "False":
        ready: Mapping[str, Any] = next(
            (c for c in node.manifest["status"]["conditions"] if c.get("type") == "Ready"), {}
        )
        text = str(ready.get("message") or f"{node.name} is not ready")
        yield _obstacle("NodeNotReady", text, node, {"reason": ready.get("reason") or ""})
    if pod.phase == "Pending":
        if text := missing(world, pod):
            yield _obstacle("WaitsForVolume", text, node, {"names": claims_of(pod)})
        elif is_node_silent(world, node.name) and node.ready == "True":
            yield _obstacle("KubeletStopped", f"the kubelet of {node.name} does not run", node, {})
    yield from _list_conditions(world, pod, node)
    yield from _list_init_containers(pod, node)
    for each in pod.container_statuses:
        waiting = (each.get("state") or {}).get("waiting") or {}
        if waiting and waiting.get("reason") not in PLAIN:
            reason = str(waiting.get("reason") or "Waiting")
            text = str(waiting.get("message") or f"container {each.get('name')} is in {reason}")
            ended = (each.get("lastState") or {}).get("terminated") or {}
            found = {"container": each.get("name"), "restarts": each.get("restartCount") or 0}
            found |= {"exitCode": ended.get("exitCode"), "lastReason": ended.get("reason")} if ended else {}
            yield _obstacle(reason, text, node, found)


def _list_platforms(world: Simulation, pod: Pod, node: Node, reasons: Iterable[GivenReason]) -> Iterator[Fact]:
    """Yield the kind of a pod's node if the pod's program or image is built for another kind."""
    words = (
        *(reason.message for reason in reasons),
        *(str(fact.values["reason"]) for fact in list_last_ends(pod) if "reason" in fact.values),
    )
    if any(FOREIGN.search(each) for each in words) and (label := find_platform(world, node)) is not None:
        others = [each.name for each in world.store.nodes() if each.labels.get(label[0]) == label[1]]
        kind = f"{node.labels.get('kubernetes.io/os', 'linux')}/{node.labels.get('kubernetes.io/arch', '-')}"
        values = {"pod": pod.key, "node": node.name, "kind": kind, "text": "=".join(label)}
        yield note("BuiltForOthers", **values, nodes=others[:2], count=len(others))


def _list_absent_drivers(world: Simulation, reasons: Iterable[GivenReason], node: Node) -> Iterator[Fact]:
    """Yield the DaemonSet of a CSI driver that has no pod on a node without the registered driver."""
    for driver, daemons in list_absent_drivers(world, (each.message for each in reasons), node):
        yield note("DriverRunsElsewhere", driver=driver, owner=daemons["metadata"]["name"], node=node.name)


def _list_init_containers(pod: Pod, node: Node) -> Iterator[GivenReason]:
    """Yield the running init container that the containers wait for. Sidecars do not end."""
    if pod.phase != "Pending" or node.ready not in ("", "True"):
        return
    containers = pod.manifest["spec"].get("initContainers") or ()
    sidecars = {each.get("name") for each in containers if each.get("restartPolicy") == "Always"}
    for each in (pod.manifest.get("status") or {}).get("initContainerStatuses") or ():
        running = (each.get("state") or {}).get("running")
        if running is not None and each.get("name") in sidecars and not each.get("started"):
            text = f"sidecar {each.get('name')} runs, and has not passed its startup probe"
            yield _obstacle("SidecarNotStarted", text, node, {"container": each.get("name")})
        elif running is not None and each.get("name") not in sidecars:
            text = f"init container {each.get('name')} has not ended"
            yield _obstacle("InitContainerRuns", text, node, {"container": each.get("name")})


def _list_conditions(world: Simulation, pod: Pod, node: Node) -> Iterator[GivenReason]:
    """Yield unmet conditions of a running pod: readiness gates, a pending resize, a volume attached elsewhere."""
    ready = pod.condition("Ready") or {}
    if pod.phase == "Running" and ready.get("status") == "False" and node.ready in ("", "True"):
        gates = [str(each.get("conditionType")) for each in pod.manifest["spec"].get("readinessGates") or ()]
        unset = [gate for gate in gates if (pod.condition(gate) or {}).get("status") != "True"]
        if unset and ready.get("reason") == "ReadinessGatesNotReady":
            text = f"no controller has set its readiness gates: {', '.join(unset)}"
            yield _obstacle("ReadinessGates", text, node, {"gates": unset})
        elif ready.get("message"):
            yield _obstacle(str(ready.get("reason") or "NotReady"), str(ready["message"]), node, {})
    failed = pod.condition("PodResizeInProgress") or {}
    if failed.get("status") == "True" and failed.get("reason") == "Error":
        yield _obstacle("ResizeError", f"its resize fails: {failed.get('message') or '-'}", node, {})
    pending = pod.condition("PodResizePending") or {}
    if pending.get("status") == "True":
        lists = list_resized(pod.manifest["spec"], pod.manifest.get("status") or {}, "requests")
        found = {"resources": sorted({name for _, *amounts in lists for each in amounts for name in each})}
        text = str(pending.get("message") or "the node has no room for its resize")
        yield _obstacle(f"Resize{pending.get('reason') or 'Pending'}", text, node, found)
    for key in claims_of(pod):
        status = (world.store.get(CLAIM, *key.split("/", 1)) or {}).get("status") or {}
        for each in (c for c in status.get("conditions") or () if c.get("type") in _GROWING and c.get("message")):
            yield _obstacle("VolumeResize", f"claim {key.partition('/')[2]}: {each['message']}", node, {"claim": key})
    for key in claims_of(pod) if pod.phase == "Pending" else ():
        found_claim = world.store.get(CLAIM, *key.split("/", 1))
        volume = str(((found_claim or {}).get("spec") or {}).get("volumeName") or "")
        if driver := find_missing_driver(world, volume, node.name):
            text = f"CSI driver {driver} of volume {volume} is not registered on {node.name}: its CSINode does not list the driver"
            yield _obstacle("DriverNotOnNode", text, node, {"claim": key, "driver": driver})
        for other in world.store.list(ATTACHMENT) if volume else ():
            place = str((other.get("spec") or {}).get("nodeName") or "")
            refusal = ((other.get("status") or {}).get("attachError") or {}).get("message")
            if get_volume(other) == volume and place == node.name and refusal:
                yield _obstacle("AttachFailed", f"volume {volume} can't be attached: {refusal}", node, {"claim": key})
            if get_volume(other) == volume and place not in ("", node.name) and not _is_shared(found_claim or {}):
                text = f"volume {volume} of claim {key.partition('/')[2]} is attached to {place}"
                text += "" if world.store.node(place) is not None else ", a node that no longer exists"
                yield _obstacle("AttachedElsewhere", text, node, {"claim": key, "attachedTo": place})


def _is_shared(claim: Mapping[str, Any]) -> bool:
    modes = (claim.get("spec") or {}).get("accessModes") or ()
    return any(mode in ("ReadWriteMany", "ReadOnlyMany") for mode in modes)


def _list_attached(world: Simulation, pod: Pod, reason: GivenReason) -> Iterator[Fact]:
    """Yield the pods that use a claim whose volume is attached to another node."""
    for other in world.store.pods_on(reason.evidence["attachedTo"]) if "attachedTo" in reason.evidence else ():
        if reason.evidence["claim"] in claims_of(other) and not other.terminal:
            values = {**describe_holder(world, other), "claim": reason.evidence["claim"].partition("/")[2]}
            yield Fact(Role.HOLDERS, "UsesClaim", values)
            yield from trace_surge(world, pod.manifest, [other])
            owner = workload_of(world.store, other.manifest)
            if owner is not None and owner != workload_of(world.store, pod.manifest):
                values = {"pod": other.key, "kind": owner["kind"], "owner": owner["metadata"]["name"]}
                yield note("HolderIsOfOther", **values, claim=reason.evidence["claim"].partition("/")[2])
            yield from describe_end(world, other)


def list_provisioners(world: Simulation, pod: Pod) -> Iterator[Fact]:
    """Yield the claims whose provisioners a pod's binding waits for."""
    for key in claims_of(pod):
        namespace, _, name = key.partition("/")
        claim = world.store.get(CLAIM, namespace, name)
        annotations = ((claim or {}).get("metadata") or {}).get("annotations") or {}
        if claim is not None and (claim.get("status") or {}).get("phase") != "Bound" and SELECTED in annotations:
            found = world.store.get("StorageClass", "", str((claim.get("spec") or {}).get("storageClassName") or ""))
            by = str((found or {}).get("provisioner") or annotations.get(_PROVISIONER) or "")
            yield note("WaitsForProvisioner", pod=pod.key, claim=name, provisioner=by, node=annotations[SELECTED])


def _obstacle(reason: str, text: str, node: Node, evidence: Mapping[str, Any]) -> GivenReason:
    return GivenReason(f"{KUBELET}/{reason}", KUBELET, text, (node.name,), 1, evidence=evidence)


def _list_unselected(world: Simulation, pod: Pod) -> Iterator[Fact]:
    """Yield the claims that wait for a scheduler to select a node; none does for a pod created with its nodeName."""
    if not was_not_scheduled(world, pod):
        return
    for key in claims_of(pod):
        namespace, _, name = key.partition("/")
        claim = world.store.get(CLAIM, namespace, name)
        if claim is None or (claim.get("status") or {}).get("phase") == "Bound":
            continue
        of_class = world.store.get("StorageClass", "", str((claim.get("spec") or {}).get("storageClassName") or ""))
        if of_class is not None and of_class.get("volumeBindingMode") == _WAIT_FOR_POD:
            yield note("NobodySelectsNode", pod=pod.key, claim=name, storageClass=of_class["metadata"]["name"])


# Lost nodes


def _list_disruption(world: Simulation, pod: Pod, node: Node) -> Iterator[Fact]:
    """Yield why a pod of a lost node is not evicted: its zone is in disruption, or its toleration has not expired."""
    planned = world.surroundings.nodes.evictions.get(pod.key)
    if planned is not None:
        yield note("EvictedAt", pod=pod.key, node=node.name, until=planned.at)
        return
    if taints := no_execute(node):
        found = tolerance(taints, pod)
        if found is not None and found.seconds is not None:
            yield note("EvictedAfter", pod=pod.key, node=node.name, seconds=found.seconds * SECOND)
        elif found is not None:
            yield note("ToleratesForever", pod=pod.key, node=node.name)
        return
    mates = [each for each in world.store.nodes() if each.zone_key == node.zone_key]
    lost = [each.name for each in mates if each.ready != "True"]
    flags = world.cluster.controller_manager
    zone = state_of(Census(len(mates) - len(lost), len(lost)), flags.unhealthy_zone_threshold)
    values = {"pod": pod.key, "lost": len(lost), "total": len(mates), "zone": zone_name(node.zone_key)}
    values |= {"threshold": round(flags.unhealthy_zone_threshold * 100), "size": flags.large_cluster_size_threshold}
    if zone == FULL:
        yield note("FullDisruption", **values)
    elif zone == PARTIAL and len(mates) <= flags.large_cluster_size_threshold:
        yield note("PartialDisruption", **values)


def list_lost_nodes(world: Simulation, reasons: Iterable[GivenReason]) -> Iterator[Fact]:
    """Yield the nodes that are tainted because they are unreachable or not ready."""
    for reason in reasons:
        if reason.evidence.get("key") in (_UNREACHABLE, _NOT_READY):
            for name in reason.nodes[:2]:
                if reason.evidence["key"] == _UNREACHABLE:
                    yield note("NodeIsLost", node=name)
                elif message := _read_condition(world, name, "Ready", "False"):
                    yield note("NodeIsNotReady", node=name, message=message)
        key = str(reason.evidence.get("key") or "")
        for name in reason.nodes[:2]:
            if key in _CONDITIONS and (message := _read_condition(world, name, _CONDITIONS[key], "True")):
                yield note("TaintOfCondition", node=name, condition=_CONDITIONS[key], message=message)
                texts = {p.key: str(p.manifest["status"].get("message") or "") for p in world.store.pods_on(name)}
                for pod in [each for each, text in texts.items() if _LOW in text][-1:]:
                    yield note("EvictedBefore", pod=pod, node=name, message=texts[pod].rstrip(". "))
        if key == _OUT_OF_SERVICE:
            yield note("TaintSetByHand", key=key, nodes=list(reason.nodes[:2]), count=reason.count)
        if setter := find_setter(key):
            code = "NodeIsGoing" if key in GOING else "TaintIsTemporary"
            pods = [pod for name in reason.nodes[:2] for pod in world.store.pods_on(name) if _sets(pod, setter)]
            if code == "TaintIsTemporary" and pods and all(pod.ready for pod in pods):
                yield note("TaintIsLeft", key=key, setter=setter, pods=[pod.key for pod in pods])
                continue
            yield note(code, key=key, setter=setter, nodes=list(reason.nodes[:2]), count=reason.count)
            yield from _list_managers(world, reason.nodes[:2])


def _sets(pod: Pod, setter: str) -> bool:
    """Return whether a pod belongs to a DaemonSet and, by its name, to the program that removes a temporary taint."""
    is_daemon = (controller_of(pod.manifest) or {}).get("kind") == "DaemonSet"
    return is_daemon and pod.name.startswith(setter.partition(" ")[0].lower())


def _list_managers(world: Simulation, names: Iterable[str]) -> Iterator[Fact]:
    """Yield the problems that the object behind an autoscaler's node (a NodeClaim, a Machine) reports."""
    kinds = [kind for kind in world.store.kinds() if kind.partition(".")[0] in ("NodeClaim", "Machine")]
    for each in (found for kind in kinds for found in world.store.list(kind)):
        status = each.get("status") or {}
        node = str(status.get("nodeName") or (status.get("nodeRef") or {}).get("name"))
        bad = [c for c in status.get("conditions") or () if c.get("type") in _STAGES and c.get("status") != "True"]
        for c in bad[:1] if node in names else ():
            text, values = c.get("message") or c.get("reason") or "-", {"type": c["type"], "status": c.get("status")}
            name = each["metadata"]["name"]
            yield note("ObjectOfNode", kind=each["kind"], name=name, node=node, message=text.rstrip(". "), **values)


def _read_condition(world: Simulation, node: str, kind: str, status: str) -> str:
    """Return the message of a node's condition if it has this status, else ""."""
    conditions = ((world.store.get("Node", "", node) or {}).get("status") or {}).get("conditions") or ()
    found: Mapping[str, Any] = next((each for each in conditions if each.get("type") == kind), {})
    text = str(found.get("message") or found.get("reason") or kind)
    return text.rstrip(". ") if found.get("status") == status else ""


# Terminating pods, and pods that are gone


def explain_terminating(world: Simulation, pod: Pod, past: Past) -> Explanation:
    """Explain a pod that is being deleted: how long it stays, what it waits for, and its successor."""
    target = pod.condition("DisruptionTarget") or {}
    facts = list(describe_end(world, pod))
    if target.get("status") == "True":
        waiting = [p.key for p in world.store.pods() if p.nominated_node_name == pod.node_name and not p.node_name]
        message = f"{str(target.get('message') or '').rstrip('. ')}."
        values = {"pod": pod.key, "reason": target.get("reason") or "", "message": message}
        node = world.store.node(pod.node_name)
        there = [each for each in (node.taints if node is not None else ()) if each.effect == "NoExecute"]
        taints = [str(each) for each in there if not pod.spec.tolerates(each)]
        code = "EvictedFor" if waiting and target.get("reason") == "PreemptionByScheduler" else "Disrupted"
        code = "EvictedByTaint" if taints and target.get("reason") == _BY_TAINT else code
        facts.insert(0, note(code, **values, pods=waiting[:2], node=pod.node_name, taints=taints))
    else:
        facts = [*_list_surplus(world, pod), *facts]
    known = Explanation(pod.key, State.TERMINATING, until=end_of(world, pod), node=pod.node_name, phase=pod.phase)
    reports = past.list_reports(pod) if known.until is None else ()
    return replace(known, predecessors=past.before(pod), facts=(*facts, *reports, *_list_successors(world, pod)))


def _list_surplus(world: Simulation, pod: Pod) -> Iterator[Fact]:
    """Yield that the owner deleted a pod as surplus, and that the owner had adopted the pod."""
    owner = controller_of(pod.manifest) or {}
    kind, name = str(owner.get("kind") or ""), str(owner.get("name") or "")
    found = world.store.get(kind, pod.namespace, name) if kind in ("ReplicaSet", "ReplicationController") else None
    if found is None:
        return
    meta = pod.manifest["metadata"]
    since = parse_time(str(meta["deletionTimestamp"])) - int(meta.get("deletionGracePeriodSeconds") or 0) * SECOND
    others = sum(
        (controller_of(each.manifest) or {}).get("uid") == owner.get("uid") and (each.creation_time or 0) <= since
        for each in world.store.pods()
        if each.namespace == pod.namespace and not (each.deleting or each.terminal)
    )  # the owner replaces a pod that another client deleted
    replicas = int(found["spec"].get("replicas", 1))
    if others < replicas:
        return
    yield note("Surplus", pod=pod.key, kind=kind, owner=name, replicas=replicas, others=others)
    if not pod.name.startswith(f"{name}-"):
        selector = found["spec"].get("selector") or {}
        labels = [f"{key}={value}" for key, value in (selector.get("matchLabels") or selector).items()]
        yield note("Adopted", pod=pod.key, kind=kind, owner=name, labels=labels)


def _list_successors(world: Simulation, pod: Pod) -> Iterator[Fact]:
    """Yield the successor of a terminating pod: a new pod of the same name has to wait, others do not."""
    owner = controller_of(pod.manifest)
    if owner is None:
        yield note("NobodyReplaces", pod=pod.key)
    elif owner.get("kind") == "StatefulSet":
        yield note("SameNameWaits", pod=pod.key, owner=owner.get("name"))


def explain_gone(world: Simulation, key: str) -> Explanation | None:
    """Explain a deleted pod by its Events and records. Return None if nothing is known about it."""
    namespace, _, name = key.partition("/")
    parts = re.escape(name), rf"(?:Deleted|Scaled down) .*{re.escape(name.rpartition('-')[0])}"
    named = re.compile(rf"(?<![\w-])(?:{'|'.join(parts)})(?![\w-])")
    events = [each for each in world.store.events if each.namespace == namespace]
    events = [e for e in events if (e.name == name if e.kind == "Pod" else e.name != name and named.search(e.message))]
    if not events and key not in world.journal.last_move:
        return None
    others = (e for e in events if e.type == WARNING or e.reporter not in _EVERYDAY)
    telling = [e for e in others if e.reason != "SuccessfulCreate"] or events
    last = (
        {"reason": e.reason, "message": e.message.rstrip(". "), "reporter": e.reporter, "time": e.t}
        for e in telling[-3:]
    )
    facts = [note("LastEvent", **each) for each in last]
    lane = world.journal.lane(key)
    if lane:
        facts.append(note("GoneSince", pod=key, time=lane[-1].t, place=lane[-1].place))
    return Explanation(key, State.GONE, facts=tuple(facts), message=events[-1].message if events else "")
