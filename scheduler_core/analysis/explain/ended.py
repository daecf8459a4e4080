"""Pods that a kubelet refuses, and failed pods: the node, the reason, and how many pods of the same owner ended before."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from scheduler_core.analysis.explain.explanation import Explanation, Fact, GivenReason, Role, State
from scheduler_core.analysis.fixes.meanings import AUTOSCALERS, PULLING, index_events
from scheduler_core.apimachinery.objects import SECOND, Manifest, Pod, controller_of, optional_time
from scheduler_core.apimachinery.objects.names import read_words
from scheduler_core.apimachinery.objects.storage.volumes import volumes_of
from scheduler_core.apiserver.kube_events import WARNING, KubeEvent
from scheduler_core.controllers.kubelet.pods import judge
from scheduler_core.world.simulation import Simulation

FAILED, KUBELET = "Failed", "Kubelet"
REJECTED = "Pod was rejected: "  # prefix of a kubelet's message in the status of a refused pod
LONGEST = 200  # characters of a container's termination message
_BY_RESOURCE = "OutOf"
_REFUSALS = frozenset(
    read_words("""
    AppArmor InvalidNodeInfo NodeAffinity NodePorts NodeShutdown PodFeatureUnsupported PodLevelResourcesNotAdmittedReason PodOSNotSupported
    PodOSSelectorNodeLabelDoesNotMatch SMTAlignmentError SysctlForbidden TaintToleration TopologyAffinityError UnexpectedAdmissionError
    VolumeAttachmentLimitExceeded
""")
)
_UNPLACED = "FailedScheduling"
# Events that repeat a pod's status, or report its attempts.
_REPEATED = frozenset(("BackOff", "Failed", "FailedCreate", "FailedScheduling", "Preempted", PULLING))
_BINDER = "persistentvolume-controller"  # the reasons have its messages about claims
_CLAIM, MOST, REPORT = "PersistentVolumeClaim", 2, 400
_ENDS = frozenset(("DeadlineExceeded", "Evicted", "Preempted", "Preempting", "TaintManagerEviction"))


def _is_readable(event: Manifest) -> bool:
    """Return whether an Event's fields have the expected types. Nothing else validates a dump's Events."""
    try:
        for at in (event.get("lastTimestamp"), event.get("eventTime"), event["metadata"].get("creationTimestamp")):
            optional_time(at)
    except (TypeError, ValueError):
        return False
    return all(isinstance(event.get(part) or {}, Mapping) for part in ("involvedObject", "regarding", "source"))


def record_events(world: Simulation, events: Iterable[Manifest], shift: int = 0) -> None:
    """Record the Events of a dump, of either API group, in the world. `shift`: the offset by which its times were moved."""
    found = []
    for each in filter(_is_readable, events):
        about = each.get("involvedObject") or each.get("regarding") or {}
        at = each.get("lastTimestamp") or each.get("eventTime") or each["metadata"].get("creationTimestamp")
        source = (
            (each.get("source") or {}).get("component")
            or each.get("reportingComponent")
            or each.get("reportingController")
        )
        kind, namespace, name = (str(about.get(field) or "") for field in ("kind", "namespace", "name"))
        text, time = str(each.get("message") or each.get("note") or ""), optional_time(at)
        t = world.now if time is None else min(time + shift - world.store.epoch, world.now)
        type_, reason = str(each.get("type") or ""), str(each.get("reason") or "")
        said = KubeEvent(t, type_, reason, kind, namespace, name, text, str(source or "-"))
        found.append(said)
    for event in sorted(found, key=lambda event: event.t):
        world.store.record(event)


class Past:
    """The ended pods of each owner, the first first: those that the input contains, then those that only Events report."""

    def __init__(self, world: Simulation) -> None:
        self.events = index_events(world)
        self._world = world

    @cached_property
    def _ended(self) -> dict[tuple[str, str], list[str]]:
        # Cached and computed on demand, because it reads all pods of the world.
        world, found = self._world, dict[tuple[str, str], list[str]]()
        about = [event for event in world.store.events if event.kind == "Pod"]
        events = [event for event in about if (_refuses(event.reason) or event.reason in _ENDS)]
        known = {(event.namespace, event.name) for event in events}
        brought = [p for p in world.store.pods() if p.phase == FAILED and (p.namespace, p.name) not in known]
        for pod in sorted(brought, key=lambda pod: pod.creation_time or 0):
            found.setdefault((pod.namespace, owner_of(pod) or _stem(pod.name)), []).append(pod.name)
        for event in events:
            there = world.store.pod(event.namespace, event.name)
            owner = owner_of(there) if there is not None else _stem(event.name)
            found.setdefault((event.namespace, owner), []).append(event.name)
        return found

    def find_warning(self, pod: Pod) -> KubeEvent | None:
        """Return the last Warning about a pod with a node, or the image pull in progress, or None."""
        events = self.events.get(("Pod", pod.namespace, pod.name), {}).values()
        found = [e for e in events if e.type == WARNING or e.reason == PULLING]
        return None if not found or found[-1].reason == _UNPLACED else found[-1]

    def list_reports(self, pod: Pod, reasons: Iterable[GivenReason] = ()) -> Iterator[Fact]:
        """Yield other components' last reports about a pod and its claims, except those that the reasons contain."""
        known, spec = [reason.message for reason in reasons], pod.spec
        yield from self.report_on("Pod", pod.namespace, pod.name, known)
        for use in volumes_of(spec).claims:
            yield from self.report_on(_CLAIM, pod.namespace, use.name(pod), known)

    def report_on(self, kind: str, namespace: str, name: str, known: Iterable[str] = ()) -> Iterator[Fact]:
        """Yield other components' last reports about an object, except known messages."""
        last = self.events.get((kind, namespace, name), {}).values()
        own = [e for e in last if e.reason in _REPEATED or e.reporter == _BINDER]
        said = [e for e in last if e not in own or AUTOSCALERS.search(e.reporter)]
        for each in said[-MOST:]:
            if not any(each.message.rstrip(". ") in text for text in known):
                about = name if kind == "Pod" else f"{kind} {name}"
                values = {"reporter": each.reporter, "reason": each.reason, "about": about}
                yield Fact(Role.NOTES, "Reports", {**values, "message": each.message.rstrip(". ")[:REPORT]})

    def before(self, pod: Pod) -> int:
        """Return the number of pods of the pod's owner that ended before the pod."""
        owner = owner_of(pod)
        ended = self._ended.get((pod.namespace, owner), []) if owner else []
        if pod.phase != FAILED or pod.name not in ended:
            return len(ended)
        return len(ended) - 1 - ended[::-1].index(pod.name)


def owner_of(pod: Pod) -> str:
    """Return the name of the object that controls a pod, or ""."""
    return str((controller_of(pod.manifest) or {}).get("name") or "")


def explain_failed(pod: Pod, past: Past) -> Explanation:
    """Explain a pod whose phase is Failed."""
    status = pod.manifest.get("status") or {}
    reason, message = str(status.get("reason") or ""), str(status.get("message") or "")
    state = State.REFUSED if is_refusal(status) else State.FAILED
    given = (_build_reason(reason, message, pod, past),) if reason else tuple(_containers(pod, past))
    facts = (*describe_limits(pod, reason, pod.node_name), *list_last_ends(pod))
    known = Explanation(pod.key, state, given, node=pod.node_name, phase=pod.phase, reason=reason, facts=facts)
    return replace(known, predecessors=past.before(pod))


def list_last_ends(pod: Pod) -> Iterator[Fact]:
    """Yield the ends of containers before a restart, and those at a memory limit."""
    spec = pod.manifest["spec"]
    containers = (*(spec.get("initContainers") or ()), *spec["containers"])
    limits = {c.get("name"): (c.get("resources") or {}).get("limits") or {} for c in containers}
    for each in pod.container_statuses:
        last = (each.get("lastState") or {}).get("terminated") or {}
        ended = last or (each.get("state") or {}).get("terminated") or {}
        limit = str(limits.get(each.get("name"), {}).get("memory") or "")
        text = " ".join(str(ended.get("message") or "").split())
        reason = ": ".join(filter(None, (str(ended.get("reason") or "Error"), text[:LONGEST])))
        values = {"container": each.get("name"), "reason": reason}
        values |= {"exitCode": ended.get("exitCode"), "count": each.get("restartCount") or 0, "limit": limit}
        if ended.get("reason") == "OOMKilled" and limit:
            yield Fact(Role.NOTES, "OutOfMemory", values)
        elif last:
            yield Fact(Role.NOTES, "LastEnd", values)
        mounts = (m for c in containers if c.get("name") == each.get("name") for m in c.get("volumeMounts") or ())
        for mount in mounts if last else ():
            if re.search(rf"(?<![\w/]){re.escape(str(mount['mountPath']).rstrip('/'))}\b", text):
                volume: Manifest = next((v for v in spec.get("volumes") or () if v.get("name") == mount["name"]), {})
                of = (" ".join([k, *(v[n] for n in v if n.endswith("ame"))]) for k, v in volume.items() if k != "name")
                said = {"path": mount["mountPath"], "volume": mount["name"], "source": next(of, "-")}
                yield Fact(Role.NOTES, "PathIsMounted", said)


def describe_limits(pod: Pod, reason: str, node: str) -> Iterator[Fact]:
    """Yield the limits of a pod that caused its end, and the checks that its placement bypassed."""
    spec = pod.manifest["spec"]
    if reason == "DeadlineExceeded" and spec.get("activeDeadlineSeconds") is not None:
        yield Fact(
            Role.PROVENANCE, "Deadline", {"pod": pod.key, "seconds": int(spec["activeDeadlineSeconds"]) * SECOND}
        )
    if reason.startswith(_BY_RESOURCE) and pod.phase == FAILED:
        yield Fact(Role.NOTES, "IsNotPlacedAgain", {"pod": pod.key, "node": pod.node_name})
    if reason in ("NodeAffinity", "PodOSSelectorNodeLabelDoesNotMatch") and spec.get("nodeSelector"):
        labels = [f"{key}={value}" for key, value in sorted(spec["nodeSelector"].items())]
        yield Fact(Role.PROVENANCE, "AsksForLabels", {"pod": pod.key, "labels": labels, "node": node})
    if reason == "PodOSNotSupported":
        system = (spec.get("os") or {}).get("name")
        yield Fact(Role.PROVENANCE, "AsksForSystem", {"pod": pod.key, "system": system, "node": node})


def explain_refused(world: Simulation, pod: Pod, node: str, past: Past) -> Explanation | None:
    """Explain a pod on a node, or about to be bound, that its kubelet has not admitted and would refuse. Otherwise return None."""
    if pod.phase != "Pending" or pod.deleting or pod.key in world.surroundings.kubelet.pods:
        return None
    _, refused = sort_out(world, pod, [node], past)
    if not refused:
        return None
    reason = refused[0].evidence["reason"]
    facts = tuple(describe_limits(pod, str(reason), node))
    known = Explanation(pod.key, State.REFUSED, refused, node=node, phase=FAILED, reason=reason, facts=facts)
    return replace(known, predecessors=past.before(pod))


def sort_out(
    world: Simulation, pod: Pod, names: Iterable[str], past: Past, most: int = 1
) -> tuple[tuple[str, ...], tuple[GivenReason, ...]]:
    """Return the first of these nodes whose kubelets would admit the pod now, and the refusals of the kubelets before them."""
    taken: list[str] = []
    found: dict[tuple[str, str], list[str]] = {}
    for name in names:
        node = world.store.node(name)
        refusal = None if node is None else judge(world, pod, node)[0]
        if refusal is None:
            taken.append(name)
        else:
            found.setdefault((refusal.reason, f"{REJECTED}{refusal.message}"), []).append(name)
        if len(taken) == most:
            break
    return tuple(taken), tuple(_build_reason(*said, pod, past, *nodes) for said, nodes in found.items())


def is_refusal(status: Mapping[str, Any]) -> bool:
    """Return whether the pod's status shows that a kubelet did not admit the pod."""
    started = status.get("containerStatuses") or status.get("initContainerStatuses")
    reason = str(status.get("reason") or "")
    return str(status.get("message") or "").startswith(REJECTED) or (not started and _refuses(reason))


def _refuses(reason: str) -> bool:
    return reason.startswith(_BY_RESOURCE) or reason in _REFUSALS


def _stem(name: str) -> str:
    """Return the owner's name within the name of a controller's pod: web-x7k2p, web-0."""
    return name.rpartition("-")[0]


def _build_reason(reason: str, message: str, pod: Pod, past: Past, *nodes: str) -> GivenReason:
    names = nodes or ((pod.node_name,) if pod.node_name else ())
    evidence = {"reason": reason, "predecessors": past.before(pod), "owner": owner_of(pod)}
    return GivenReason(f"{KUBELET}/{reason}", KUBELET, message or reason, names, len(names), evidence=evidence)


def _containers(pod: Pod, past: Past) -> Iterable[GivenReason]:
    """Yield the containers that ended with an error, for a pod whose status has no reason."""
    for each in pod.container_statuses:
        end = (each.get("state") or {}).get("terminated") or {}
        if end.get("exitCode"):
            reason = str(end.get("reason") or "Error")
            text = f"container {each.get('name')} ended with exit code {end['exitCode']} ({reason})"
            yield _build_reason(reason, text, pod, past)
