"""What can be done to an object, and what there is to know of it before."""

from collections.abc import Mapping
from typing import Any, TypedDict
from urllib.parse import urlencode

from playground.presenters.words import gettext_noop
from playground.workbench.actions import ACTIONS, SCHEDULER, Offer, Subject, offers
from playground.workbench.actions.nodes import format_taint, taints_of
from scheduler_core.world.readonly import WorldView

Fact = dict[str, Any]


def list_actions(sim: WorldView, kind: str, namespace: str, name: str) -> list[Offer]:
    """The actions that an object offers as it is now."""
    manifest = sim.store.get(kind, namespace, name)
    if manifest is None:
        return []
    runs = name not in sim.surroundings.inputs.stopped
    drain = sim.surroundings.nodes.drains.get(name) if kind == "Node" else None
    goes_on = drain is not None and drain.ended is None
    subject = Subject(kind, namespace, name, dict(manifest), kubelet_runs=runs, draining=goes_on)
    return offers(subject)


def facts(subject: Subject) -> list[Fact]:
    """Return the nonempty facts that describe an object's state."""
    of_kind = {"Node": _node, "Pod": _pod, SCHEDULER: _scheduler}.get(subject.kind, _workload)
    shown = [*of_kind(subject), *_owner(subject)]
    return [fact for fact in shown if fact["value"] not in ("", None)]


def present(subject: Subject, action: str) -> "list[Change]":
    """The taints or labels that a form changes."""
    ref = {part: value for part in ("kind", "namespace", "name") if (value := getattr(subject, part))}
    if action in ("taint", "untaint"):
        return [_taint(taint, ref) for taint in taints_of(subject)]
    if action == "label":
        return [_label(key, value, ref) for key, value in (subject.part("metadata", "labels") or {}).items()]
    return []


class Removal(TypedDict):
    """An action's form field with the value that takes something away."""

    name: str
    field: str
    value: str


class Change(TypedDict):
    """A taint or a label: `change` is the query that fills the form in with it."""

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
    """The controller of an object; `acts`: it offers actions of its own."""

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
