"""All actions on objects, in the order of their display."""

import re
from collections.abc import Mapping
from typing import Any

from playground.workbench.actions import contract, nodes, resizing, workloads
from playground.workbench.actions.nodes import SECOND, clock
from scheduler_core.world.commands import ApplyObjects, CreateObject, PatchObject, ReportDeviceCondition, SetPrograms

# Actions on claims for devices.


def _results(subject: contract.Subject) -> list[dict[str, object]]:
    return list(subject.part("status", "allocation", "devices", "results") or ())


def _devices(subject: contract.Subject) -> contract.Choices:
    """All devices of the claim, and each."""
    names = ["/".join(str(each.get(name)) for name in ("driver", "pool", "device")) for each in _results(subject)]
    return [("", contract.gettext_noop("all devices of the claim")), *((name, name) for name in dict.fromkeys(names))]


def _conditions(subject: contract.Subject) -> contract.Choices:
    """Return the binding conditions."""
    fields = ("bindingConditions", "bindingFailureConditions")
    names = [str(name) for each in _results(subject) for field in fields for name in each.get(field) or ()]  # type: ignore[attr-defined]
    return [(name, name) for name in dict.fromkeys(names)]


def _report_device(subject: contract.Subject, values: contract.Values) -> ReportDeviceCondition:
    """Build the command. Omitted fields are ""."""
    given = {name: values[name] or "" for name in ("device", "reason", "message")}
    return ReportDeviceCondition(subject.key, values["type"], values["status"], **given)


# The same object once more, under the next free name.

HOSTNAME = "kubernetes.io/hostname"
_OWN = ("name", "uid", "resourceVersion", "generation", "creationTimestamp", "ownerReferences", "generateName")
_GIVEN = "node.kubernetes.io/"  # taints that controllers give


def _copy(subject: contract.Subject, name: str) -> dict[str, Any]:
    meta = {key: value for key, value in (subject.part("metadata") or {}).items() if key not in _OWN}
    bare = {key: value for key, value in subject.manifest.items() if key != "status"}
    made = _node(subject) if subject.kind == "Node" else _pod(subject)
    if HOSTNAME in (meta.get("labels") or {}):
        meta["labels"] = {**meta["labels"], HOSTNAME: name}
    return {**bare, "metadata": {**meta, "name": name}, **made}


def _node(subject: contract.Subject) -> dict[str, Any]:
    spec = dict(subject.part("spec") or {})
    kept = [each for each in spec.get("taints") or () if not str(each.get("key")).startswith(_GIVEN)]
    status = subject.part("status") or {}
    amounts = {part: status[part] for part in ("capacity", "allocatable") if part in status}
    return {"spec": {**spec, "taints": kept}, "status": amounts}


def _pod(subject: contract.Subject) -> dict[str, Any]:
    """Return a pod's spec without the fields that binding and admission set."""
    gone = ("nodeName", "priority", "preemptionPolicy")
    return {"spec": {name: value for name, value in (subject.part("spec") or {}).items() if name not in gone}}


def _names(first: str, count: int) -> list[str]:
    """Return `api-5`, `api-6` ..., or `first`, `first-2` ... for a name without a number."""
    counted = re.fullmatch(r"(.*?)(\d{1,9})", first)
    if counted is None:
        return [first, *(f"{first}-{i}" for i in range(2, count + 1))]
    return [f"{counted[1]}{int(counted[2]) + i}" for i in range(count)]


def _duplicate(subject: contract.Subject, values: contract.Values) -> ApplyObjects | CreateObject:
    copies = tuple(_copy(subject, name) for name in _names(values["copy"], values["count"]))
    return CreateObject(copies[0]) if len(copies) == 1 else ApplyObjects(copies, create_only=True)


# What runs in containers: a rule for the pods of an object, put before all other rules (docs/cluster.md).


def _all_containers(subject: contract.Subject) -> contract.Choices:
    spec = contract.template(subject).get("spec") or {}
    names = [str(each["name"]) for part in ("containers", "initContainers") for each in spec.get(part) or ()]
    return [("", contract.gettext_noop("all containers")), *((name, name) for name in names)]


def _make(subject: contract.Subject, values: contract.Values) -> SetPrograms:
    """Build the command with the new rule first. It replaces a rule for the same pods and container; an empty rule removes it."""
    rule: dict[str, Any] = {}
    if values["pods"]:
        rule["pods"] = ",".join(f"{key}={value}" for key, value in values["pods"].items())
    if values["container"]:
        rule["container"] = values["container"]
    same = dict(rule)
    if values["length"] is not None:
        rule["runs"] = [{"for": clock(values["length"]), "exit": values["exit"] or 0}]
    elif values["exit"]:
        raise contract.Wrong(
            "length", contract.gettext_noop("Set the time after which the container exits with this code.")
        )
    rule |= _ready(values) | _on_term(values)
    others = [each for each in subject.programs if _of(each) != _of(same)]
    return SetPrograms((rule, *others) if rule != same else tuple(others))


def _ready(values: contract.Values) -> dict[str, Any]:
    if values["ready"] == "never":
        return {"ready": False}
    if values["ready"] == "after":
        return {"ready": {"after": clock(values["ready_after"] or 0)}}
    return {}


def _on_term(values: contract.Values) -> dict[str, Any]:
    if values["on_term"] == "ignore":
        return {"onTerm": "ignore"}
    if values["on_term"] == "after":
        return {"onTerm": {"after": clock(values["term_after"] or SECOND), "exit": 143}}
    return {}


def _of(rule: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the pods and the container of a rule."""
    return rule.get("pods") or "", rule.get("container") or ""


# What can be done to objects of several kinds.


def _label(subject: contract.Subject, values: contract.Values) -> contract.Patch:
    if not values["labels"]:
        raise contract.Wrong(
            "labels", contract.gettext_noop("Write labels to set, such as disk=ssd, or to remove, such as disk-")
        )
    return {"metadata": {"labels": values["labels"]}}


# What can be done to disruption budgets.

LEAST, MOST = "minAvailable", "maxUnavailable"


def _budget(subject: contract.Subject, values: contract.Values) -> PatchObject:
    given = {LEAST: values["least"], MOST: values["most"]}
    chosen = {name: int(text) if text.isdecimal() else text for name, text in given.items() if text}
    if len(chosen) != 1:
        raise contract.Wrong(
            "least", contract.gettext_noop("Fill in one of the two: a number, or a percentage such as 50%")
        )
    return PatchObject(subject.ref, {"spec": {name: chosen.get(name) for name in given}})


ACTIONS = contract.read_actions(
    {
        "label": contract.Code(
            contract.Patching(_label),
            choices={"labels": lambda subject: [(each, each) for each in subject.used.get("labels", ())]},
        ),
        "report-device": contract.Code(_report_device, choices={"type": _conditions, "device": _devices}),
        "budget": contract.Code(_budget),
        "duplicate": contract.Code(_duplicate, initial={"copy": lambda subject: subject.free}),
        "programs": contract.Code(_make, initial={"pods": contract.labels}, choices={"container": _all_containers}),
        "delete": contract.Code(contract.Deletion()),
        **nodes.CODE,
        **resizing.CODE,
        **workloads.CODE,
    }
)


def action(kind: str, name: str) -> contract.Action | None:
    """The action of this name that objects of a kind have."""
    return next((each for each in ACTIONS if each.name == name and kind in each.kinds), None)


def applying(subject: contract.Subject) -> list[contract.Action]:
    """Return the actions that apply to an object now."""
    return [each for each in ACTIONS if subject.kind in each.kinds and each.applies(subject)]


def together(subject: contract.Subject) -> list[contract.Action]:
    """Return the actions that apply to several objects of a kind at once, represented by this one."""
    return [each for each in ACTIONS if subject.kind in each.kinds and each.together and each.name != "untaint"]


def offers(subject: contract.Subject) -> list[contract.Offer]:
    """Return the applicable actions as plain data for buttons and menus."""
    return [
        contract.Offer(each.name, each.title, each.note, bool(each.fields), each.danger) for each in applying(subject)
    ]
