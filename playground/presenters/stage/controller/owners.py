"""Objects that just changed, terminating pods, and the workloads and budgets that own pods."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import Any, TypedDict, cast

from playground.presenters.acting import grace_ends
from playground.presenters.scene import PodRef, pod_ref, short
from playground.presenters.words import SECOND, clock, duration, gettext_noop, memory, thousands
from scheduler_core.analysis.status import read_eviction
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.base.trace.kinds import ObjectChanged, Reconciled
from scheduler_core.world.readonly import Kill, KubeEvent, Pod, WorldView, controller_of

MOST_RECORDS = 200
_WHAT = {"ADDED": gettext_noop("created"), "MODIFIED": gettext_noop("changed"), "DELETED": gettext_noop("deleted")}


@dataclass(frozen=True, slots=True)
class ObjectChange:
    """An object and the kind of change. `now` is its present manifest, or None if it was deleted."""

    kind: str
    namespace: str
    name: str
    what: str
    now: Manifest | None

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


class ChangeTable(TypedDict):
    rows: list[dict[str, str]]
    more: int


@dataclass(frozen=True, slots=True)
class AllChanged:
    """The objects of the first MOST records; `more` is the number of records that were not read."""

    objects: tuple[ObjectChange, ...]
    more: int

    def of(self, *kinds: str) -> list[ObjectChange]:
        return [each for each in self.objects if each.kind in kinds]

    def table(self) -> ChangeTable:
        rows = [
            {
                "kind": each.kind,
                "key": each.key,
                "name": short(each.key),
                "what": _WHAT.get(each.what, each.what),
                "now": _now(each.now),
            }
            for each in self.objects
        ]
        return {"rows": rows, "more": self.more}


def collect_changes(sim: WorldView) -> AllChanged:
    """Return each changed object once. An object that was created and changed counts as created."""
    found: dict[tuple[str, str, str], str] = {}
    for record in sim.last[:MOST_RECORDS]:
        facts = record.of(ObjectChanged)
        if facts is not None:
            key = (facts.kind, facts.namespace, facts.name)
            created = found.get(key) == "ADDED" and facts.type == "MODIFIED"
            found[key] = "ADDED" if created else facts.type
    objects = (
        ObjectChange(kind, namespace, name, what, sim.store.get(kind, namespace, name))
        for (kind, namespace, name), what in found.items()
    )
    return AllChanged(tuple(objects), max(len(sim.last) - MOST_RECORDS, 0))


def _now(manifest: Manifest | None) -> str:
    """Return an object's state in kube's terms: its phase, node, replica counts, and deletion."""
    if manifest is None:
        return ""
    spec, status = manifest.get("spec") or {}, manifest.get("status") or {}
    words = [str(status["phase"])] if status.get("phase") else []
    words += [str(spec["nodeName"])] if spec.get("nodeName") else []
    for name, value in (("replicas", spec.get("replicas")), ("readyReplicas", status.get("readyReplicas"))):
        words += [f"{name} {value}"] if value is not None else []
    if (manifest.get("metadata") or {}).get("deletionTimestamp"):
        words.append("deletionTimestamp")
    return " · ".join(words)


MOST_ENDING, MOST_EVENTS = 8, 64


class Evictions(TypedDict):
    pods: "list[EndingPod]"
    more: int
    rankings: "list[EvictionRow]"


def evictions(sim: WorldView) -> Evictions:
    """Return {"pods": terminating pods, "rankings": of kubelets at the present time}."""
    ending = [
        pod
        for key in _list_concerned_pods(sim)
        if (pod := sim.store.pod_at(key)) is not None
        and (
            pod.deleting or (pod.manifest.get("status") or {}).get("reason") == "Evicted" or _kill(sim, pod) is not None
        )
    ]
    ends = grace_ends(sim, [pod.key for pod in ending])
    return {
        "pods": [_pod(sim, pod, ends.get(pod.key)) for pod in ending[:MOST_ENDING]],
        "more": max(len(ending) - MOST_ENDING, 0),
        "rankings": [
            eviction(read_eviction(found))
            for kept in sim.surroundings.kubelet.evictions.values()
            for found in kept[-1:]
            if found.t == sim.now and found.chosen in {pod.key for pod in ending}
        ],
    }


def _list_concerned_pods(sim: WorldView) -> list[str]:
    """Return the pods that the last transition changed, and those with an Event of the present time.

    When the kubelet begins to stop a pod, it writes no status yet; only an Event shows it.
    """
    keys = [each.key for each in collect_changes(sim).of("Pod")]
    return list(dict.fromkeys([*keys, *(f"{event.namespace}/{event.name}" for event in _events(sim))]))


def _events(sim: WorldView) -> list[KubeEvent]:
    """Return the Events about pods at the present time, newest first."""
    recent = takewhile(lambda event: event.t == sim.now, reversed(sim.store.events))
    return [event for event in islice(recent, MOST_EVENTS) if event.kind == "Pod"]


def _kill(sim: WorldView, pod: Pod) -> Kill | None:
    """Return the kubelet's state of the pod's termination, or None before that."""
    run = sim.surroundings.kubelet.pods.get(pod.key)
    return run.kill if run is not None and run.uid == pod.uid else None


class EndingPod(TypedDict):
    key: str
    name: str
    node: str
    reason: str
    message: str
    grace: str
    left: str


def _pod(sim: WorldView, pod: Pod, ends: int | None) -> EndingPod:
    """Return a terminating pod. `reason` and `message` are kube's: from DisruptionTarget, else the kubelet, else the Event."""
    target = pod.condition("DisruptionTarget") or {}
    event = next((each for each in _events(sim) if (each.namespace, each.name) == (pod.namespace, pod.name)), None)
    status = pod.manifest.get("status") or {}
    kill = _kill(sim, pod)
    reasons = [target.get("reason"), kill and kill.reason, event and event.reason, status.get("reason")]
    messages = [target.get("message"), kill and kill.message, event and event.message, status.get("message")]
    return {
        "key": pod.key,
        "name": short(pod.key),
        "node": pod.node_name,
        "reason": next((str(each) for each in reasons if each), ""),
        "message": next((str(each) for each in messages if each), ""),
        "grace": _grace(pod, kill),
        "left": "" if ends is None else duration(ends - sim.now),
    }


def _grace(pod: Pod, kill: Kill | None) -> str:
    seconds = pod.manifest["metadata"].get("deletionGracePeriodSeconds", kill and kill.grace)
    return "" if seconds is None else duration(int(seconds) * SECOND)


class RankedPod(TypedDict):
    pod: str
    priority: int
    usage: str
    request: str
    exceeds: bool
    critical: bool


class EvictionRow(TypedDict):
    """The reason for an eviction, and the ranking in which the pod was chosen."""

    t: str
    signal: str
    threshold: str
    available: str
    chosen: str
    message: str
    ranking: list[RankedPod]


def eviction(row: Mapping[str, Any]) -> EvictionRow:
    show = memory if row["resource"] in ("memory", "ephemeral-storage") else thousands
    ranking = [
        {**ranked, "usage": show(ranked["usage"]), "request": show(ranked["request"])} for ranked in row["ranking"]
    ]
    return cast(EvictionRow, {**row, "t": clock(row["t"]), "ranking": ranking})


MOST, PODS = 4, 12
OF_CONTROLLER = {
    "deployment-controller": "Deployment",
    "replicaset-controller": "ReplicaSet",
    "replicationcontroller-controller": "ReplicationController",
    "statefulset-controller": "StatefulSet",
    "daemonset-controller": "DaemonSet",
    "job-controller": "Job",
    "cronjob-controller": "CronJob",
}
_KINDS = tuple(OF_CONTROLLER.values())
Owner = tuple[str, str, str]


def owners(sim: WorldView, rows: AllChanged) -> "list[OwnerChain]":
    """Return chains of owners, topmost first, each with its counts and, at the end, the pods that were created, changed, or deleted."""
    chains: dict[tuple[Owner, ...], list[ObjectChange]] = {}
    for leaf in _leaves(sim, rows):
        chains.setdefault(leaf, [])
    for pod in rows.of("Pod"):
        reference = controller_of(pod.now)
        if reference is not None and reference.get("kind") in _KINDS:
            owner = (str(reference["kind"]), pod.namespace, str(reference["name"]))
            chains.setdefault(_chain(sim, owner), []).append(pod)
    longest = [way for way in chains if not any(way != more and more[: len(way)] == way for more in chains)]
    return [_present_owner_chain(sim, way, chains[way]) for way in longest[:MOST]]


def chain_of(sim: WorldView, owner: Owner) -> "OwnerChain":
    """Return the chain of one workload, whether or not it changed."""
    return _present_owner_chain(sim, _chain(sim, owner), [])


def _leaves(sim: WorldView, rows: AllChanged) -> Iterator[tuple[Owner, ...]]:
    """Yield the chain of the workload that a controller reconciled, and of those that changed."""
    for record in sim.last[-1:]:
        facts = record.of(Reconciled)
        kind = None if facts is None else OF_CONTROLLER.get(facts.controller)
        if facts is not None and kind is not None:
            namespace, _, name = facts.key.rpartition("/")
            yield _chain(sim, (kind, namespace, name))
    for each in rows.of(*_KINDS):
        yield _chain(sim, (each.kind, each.namespace, each.name))


def _chain(sim: WorldView, owner: Owner) -> tuple[Owner, ...]:
    """Return an object and its owners, topmost first."""
    way = [owner]
    while len(way) < MOST:
        kind, namespace, name = way[0]
        reference = controller_of(sim.store.get(kind, namespace, name))
        if reference is None:
            break
        way.insert(0, (str(reference["kind"]), namespace, str(reference["name"])))
    return (*way, *_largest_set(sim, way[-1]))


def _largest_set(sim: WorldView, owner: Owner) -> tuple[Owner, ...]:
    """Return a Deployment's ReplicaSet with the most desired pods; empty for other kinds."""
    kind, namespace, name = owner
    deployment = sim.store.get(kind, namespace, name) if kind == "Deployment" else None
    if deployment is None:
        return ()
    uid = deployment["metadata"].get("uid")
    owned = [each for each in sim.store.list("ReplicaSet") if (controller_of(each) or {}).get("uid") == uid]
    largest = max(owned, key=lambda each: int((each.get("spec") or {}).get("replicas") or 0), default=None)
    return () if largest is None else (("ReplicaSet", namespace, str(largest["metadata"]["name"])),)


class ChangedPod(PodRef):
    what: str
    gone: bool


class OwnerChain(TypedDict):
    way: "list[Workload]"
    pods: list[ChangedPod]
    more: int


def _present_owner_chain(sim: WorldView, way: tuple[Owner, ...], pods: list[ObjectChange]) -> OwnerChain:
    return {
        "way": [_workload(sim, owner) for owner in way],
        "pods": [{**pod_ref(pod.key), "what": pod.what.lower(), "gone": pod.now is None} for pod in pods[:PODS]],
        "more": max(len(pods) - PODS, 0),
    }


class Counts(TypedDict):
    """The number of desired, existing, and ready pods; for a Job: completions, active, and succeeded pods."""

    desired: int | None
    current: int | None
    ready: int | None


_UNCOUNTED: Counts = {"desired": None, "current": None, "ready": None}


class Workload(Counts):
    kind: str
    name: str
    at: str
    gone: bool


def _workload(sim: WorldView, owner: Owner) -> Workload:
    kind, namespace, name = owner
    manifest = sim.store.get(kind, namespace, name)
    key = f"{namespace}/{name}" if namespace else name
    counts = _counts(kind, manifest) if manifest is not None else _UNCOUNTED
    gone = manifest is None
    return {"kind": kind, "name": short(key), "at": f"{kind}/{namespace}/{name}", "gone": gone, **counts}


def _counts(kind: str, manifest: Manifest) -> Counts:
    spec, status = manifest.get("spec") or {}, manifest.get("status") or {}
    if kind == "DaemonSet":
        names = ("desiredNumberScheduled", "currentNumberScheduled", "numberReady")
        desired, current, ready = (int(status.get(name) or 0) for name in names)
    elif kind == "Job":
        desired, current = int(spec.get("completions") or 1), int(status.get("active") or 0)
        ready = int(status.get("succeeded") or 0)
    elif kind == "CronJob":
        return _UNCOUNTED
    else:
        wanted = spec.get("replicas")
        desired = 1 if wanted is None else int(wanted)
        current, ready = int(status.get("replicas") or 0), int(status.get("readyReplicas") or 0)
    return {"desired": desired, "current": current, "ready": ready}


class BudgetRow(TypedDict):
    name: str
    allowed: int
    healthy: int
    needed: int


def budgets(sim: WorldView, rows: AllChanged) -> list[BudgetRow]:
    """Return the PodDisruptionBudgets that changed."""
    return [
        {
            "name": short(each.key),
            "allowed": int(status.get("disruptionsAllowed") or 0),
            "healthy": int(status.get("currentHealthy") or 0),
            "needed": int(status.get("desiredHealthy") or 0),
        }
        for each in rows.of("PodDisruptionBudget")[:MOST]
        if each.now is not None
        for status in [each.now.get("status") or {}]
    ]
