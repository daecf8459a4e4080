"""The actions that an object offers, and the facts shown beside them."""

from collections.abc import Iterable, Mapping
from typing import Any, TypedDict
from urllib.parse import urlencode

from playground.presenters.words import Message, clock, gettext_noop, message
from playground.workbench.actions import ACTIONS, SCHEDULER, Offer, Subject, offers
from playground.workbench.actions.nodes import format_taint, taints_of
from scheduler_core.world.readonly import Pod, WorldView, parse_time

MOST_PODS = 30


class DrainedPod(TypedDict):
    key: str
    ends: bool
    tries: int
    refusal: str


class DrainState(TypedDict):
    state: str
    said: Message
    since: str
    outcome: str
    warnings: list[str]
    pods: list[DrainedPod]
    more: int


def draining(sim: WorldView, node: str) -> DrainState | None:
    """Return the last drain of a node, or None. `state`: going, done, or failed."""
    drain = sim.surroundings.nodes.drains.get(node)
    if drain is None:
        return None
    left = [pod for pod in drain.pods if not pod.done]
    if drain.ended is None:
        state, said = "going", message("Draining: %(left)s of %(all)s pods left.", left=len(left), all=len(drain.pods))
    elif drain.outcome:
        state, said = "failed", message("The drain failed: some pods could not be evicted.")
    else:
        state, said = "done", message("The node is drained.")
    return {
        "state": state,
        "said": said,
        "since": clock(drain.since),
        "outcome": drain.outcome,
        "warnings": list(drain.warnings),
        "pods": [
            {"key": pod.key, "ends": pod.evicted, "tries": pod.tries, "refusal": pod.refusal}
            for pod in left[:MOST_PODS]
        ],
        "more": max(len(left) - MOST_PODS, 0),
    }


class PlannedEviction(TypedDict):
    key: str
    at: str
    why: str


def list_planned_evictions(sim: WorldView, pods: Iterable[str]) -> list[PlannedEviction]:
    """Return the times at which NoExecute taints evict some pods (namespace/name), soonest first."""
    evictions = sim.surroundings.nodes.evictions
    rows = sorted((evictions[key].at, key) for key in pods if key in evictions)
    return [{"key": key, "at": clock(at), "why": evictions[key].why} for at, key in rows[:MOST_PODS]]


def grace_ends(sim: WorldView, pods: Iterable[str]) -> dict[str, int]:
    """Return, for each terminating pod (namespace/name), the time (ns) at which its last container ends. Leave out other pods."""
    found = ((key, sim.store.pod_at(key)) for key in pods)
    ends = {key: _end(sim, pod) for key, pod in found if pod is not None}
    return {key: max(end, sim.now) for key, end in ends.items() if end is not None}


def _end(sim: WorldView, pod: Pod) -> int | None:
    """Return the time at which a pod ends: from its containers if the kubelet has begun to stop it, else its deletionTimestamp."""
    run = sim.surroundings.kubelet.pods.get(pod.key)
    if run is not None and run.uid == pod.uid and run.kill is not None:
        running = [each for each in run.all if each.running]
        # A sidecar gets its signal only when the containers before it have ended; the grace period bounds it.
        signalled = all(each.signalled for each in running)
        return max((each.ends or 0 for each in running), default=0) if signalled else run.kill.until
    deletion = pod.manifest["metadata"].get("deletionTimestamp")
    return None if deletion is None else parse_time(str(deletion)) - sim.store.epoch


Fact = dict[str, Any]


def list_actions(sim: WorldView, kind: str, namespace: str, name: str) -> list[Offer]:
    """Return the actions that an object offers in its present state."""
    manifest = sim.store.get(kind, namespace, name)
    if manifest is None:
        return []
    runs = name not in sim.surroundings.inputs.stopped
    drain = sim.surroundings.nodes.drains.get(name) if kind == "Node" else None
    goes_on = drain is not None and drain.ended is None
    return offers(Subject(kind, namespace, name, dict(manifest), kubelet_runs=runs, draining=goes_on))


def facts(subject: Subject) -> list[Fact]:
    """Return the nonempty facts that describe an object's state."""
    of_kind = {"Node": _node, "Pod": _pod, SCHEDULER: _scheduler}.get(subject.kind, _workload)
    shown = [*of_kind(subject), *_owner(subject)]
    return [fact for fact in shown if fact["value"] not in ("", None)]


def present(subject: Subject, action: str) -> "list[Change]":
    """Return the taints or labels that a form changes."""
    ref = {part: value for part in ("kind", "namespace", "name") if (value := getattr(subject, part))}
    if action in ("taint", "untaint"):
        return [_taint(taint, ref) for taint in taints_of(subject)]
    if action == "label":
        return [_label(key, value, ref) for key, value in (subject.part("metadata", "labels") or {}).items()]
    return []


class Removal(TypedDict):
    """A form field of an action, with the value that removes the taint or the label."""

    name: str
    field: str
    value: str


class Change(TypedDict):
    """A taint or a label. `change` is the query that fills in the form."""

    text: str
    change: str
    remove: Removal


def _taint(taint: Mapping[str, Any], ref: Mapping[str, str]) -> Change:
    text = format_taint(dict(taint))
    filled = {name: str(taint[name]) for name in ("key", "value", "effect") if taint.get(name)}
    return {
        "text": text,
        "change": urlencode({**ref, **filled, "replaces": text}),
        "remove": {"name": "untaint", "field": "taint", "value": text},
    }


def _label(key: str, value: str, ref: Mapping[str, str]) -> Change:
    return {
        "text": f"{key}={value}",
        "change": urlencode({**ref, "labels": f"{key}={value}"}),
        "remove": {"name": "label", "field": "labels", "value": f"{key}-"},
    }


class Owner(TypedDict):
    """The controller of an object. `acts`: the controller offers actions of its own."""

    kind: str
    name: str
    acts: bool


def owner_of(manifest: Mapping[str, Any]) -> Owner | None:
    references = (manifest.get("metadata") or {}).get("ownerReferences") or ()
    owner = next((each for each in references if each.get("controller")), None)
    if owner is None:
        return None
    acts = any(owner["kind"] in each.kinds for each in ACTIONS)
    return {"kind": owner["kind"], "name": owner["name"], "acts": acts}


def _owner(subject: Subject) -> list[Fact]:
    owner = owner_of(subject.manifest)
    if owner is None:
        return []
    return [{**_fact(gettext_noop("owner"), f"{owner['kind']} {owner['name']}"), "owner": owner}]


def _fact(name: str, value: object) -> Fact:
    return {"name": name, "value": value if value is None else str(value)}


def _node(subject: Subject) -> list[Fact]:
    conditions = subject.part("status", "conditions") or ()
    ready = next((each.get("status") for each in conditions if each.get("type") == "Ready"), None)
    pressed = [each["type"] for each in conditions if each.get("type") != "Ready" and each.get("status") == "True"]
    taints = subject.part("spec", "taints") or ()
    return [
        _fact(gettext_noop("Ready"), ready),
        _fact(gettext_noop("conditions"), ", ".join(pressed)),
        _fact(gettext_noop("cordoned"), "true" if subject.part("spec", "unschedulable") else ""),
        _fact(gettext_noop("kubelet"), "" if subject.kubelet_runs else "stopped"),
        _fact(gettext_noop("taints"), ", ".join(f"{each.get('key')}:{each.get('effect')}" for each in taints)),
    ]


def _pod(subject: Subject) -> list[Fact]:
    return [
        _fact(gettext_noop("phase"), subject.part("status", "phase") or "Pending"),
        _fact(gettext_noop("node"), subject.part("spec", "nodeName")),
        _fact(gettext_noop("deleting since"), subject.part("metadata", "deletionTimestamp")),
    ]


def _scheduler(subject: Subject) -> list[Fact]:
    return [
        _fact(gettext_noop("stage"), subject.part("status", "stage")),
        _fact(gettext_noop("partitioned"), "true" if subject.part("status", "cutOff") else ""),
    ]


def _workload(subject: Subject) -> list[Fact]:
    return [
        _fact(gettext_noop("replicas"), subject.part("spec", "replicas")),
        _fact(gettext_noop("ready"), subject.part("status", "readyReplicas")),
        _fact(gettext_noop("updated"), subject.part("status", "updatedReplicas")),
        _fact(gettext_noop("active"), subject.part("status", "active")),
        _fact(gettext_noop("paused"), "true" if subject.part("spec", "paused") else ""),
        _fact(gettext_noop("suspended"), "true" if subject.part("spec", "suspend") else ""),
    ]
