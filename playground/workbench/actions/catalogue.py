"""Every action on objects, in the order in which they are offered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playground.workbench.actions import claims, failing, nodes, plugins, pods, schedulers, workloads
from playground.workbench.actions.contract import Action, Choices, Field, Offer, Subject, Values, Wrong, gettext_noop
from playground.workbench.actions.duplicating import DUPLICATE
from playground.workbench.actions.resizing import GATES, PRIORITY, RESIZE_NODE, RESIZE_POD
from playground.workbench.actions.templates import WORKLOADS, labels, template
from playground.workbench.actions.together import Deleting, Patch, Patching
from playground.workbench.actions.usage import NODE_USAGE, POD_USAGE, SECOND, WORKLOAD_USAGE, clock
from scheduler_core.world.commands import PatchObject, SetPrograms

# What runs in containers: a rule for the pods of an object, put before all other rules (docs/cluster.md).

READY = (
    ("at once", gettext_noop("immediately when it starts")),
    ("after", gettext_noop("some time after the start")),
    ("never", gettext_noop("never, as with a failing readiness probe")),
)
ON_TERM = (
    ("default", gettext_noop("stops within a second, with exit code 143")),
    ("after", gettext_noop("stops after some time")),
    ("ignore", gettext_noop("ignores SIGTERM, so the kubelet kills it after the grace period")),
)


def _all_containers(subject: Subject) -> Choices:
    spec = template(subject).get("spec") or {}
    names = [str(each["name"]) for part in ("containers", "initContainers") for each in spec.get(part) or ()]
    return [("", gettext_noop("all containers")), *((name, name) for name in names)]


def _make(subject: Subject, values: Values) -> SetPrograms:
    """The rule comes first; one for the same pods and container gives way to it, also to a rule that says nothing."""
    rule: dict[str, Any] = {}
    if values["pods"]:
        rule["pods"] = ",".join(f"{key}={value}" for key, value in values["pods"].items())
    if values["container"]:
        rule["container"] = values["container"]
    same = dict(rule)
    if values["length"] is not None:
        rule["runs"] = [{"for": clock(values["length"]), "exit": values["exit"] or 0}]
    elif values["exit"]:
        raise Wrong("length", gettext_noop("Set the time after which the container exits with this code."))
    rule |= _ready(values) | _on_term(values)
    others = [each for each in subject.programs if _of(each) != _of(same)]
    return SetPrograms((rule, *others) if rule != same else tuple(others))


def _ready(values: Values) -> dict[str, Any]:
    if values["ready"] == "never":
        return {"ready": False}
    if values["ready"] == "after":
        return {"ready": {"after": clock(values["ready_after"] or 0)}}
    return {}


def _on_term(values: Values) -> dict[str, Any]:
    if values["on_term"] == "ignore":
        return {"onTerm": "ignore"}
    if values["on_term"] == "after":
        return {"onTerm": {"after": clock(values["term_after"] or SECOND), "exit": 143}}
    return {}


def _of(rule: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the pods and the container of a rule."""
    return rule.get("pods") or "", rule.get("container") or ""


PROGRAMS = Action(
    "programs",
    ("Pod", *WORKLOADS),
    gettext_noop('Set container behavior'),
    gettext_noop(
        'How long containers run, how they exit, and when they are ready, for every current and future pod ' 'with these labels.'
    ),
    gettext_noop('Container behavior set.'),
    _make,
    (
        Field("pods", "pairs", gettext_noop("Pods with these labels"), gettext_noop("empty: all pods"), initial=labels),
        Field("container", "choice", gettext_noop("Containers"), choices=_all_containers),
        Field("length", "seconds", gettext_noop("Runs for"), gettext_noop('such as 30s; empty: forever')),
        Field("exit", "number", gettext_noop('Exit code'), gettext_noop('0, the default, means success'), most=255),
        Field("ready", "choice", gettext_noop("Ready"), choices=lambda subject: READY),
        Field("ready_after", "seconds", gettext_noop("After"), gettext_noop('such as 5s, if the container takes time to become ready')),
        Field("on_term", "choice", gettext_noop("On SIGTERM"), choices=lambda subject: ON_TERM),
        Field("term_after", "seconds", gettext_noop("After"), gettext_noop('such as 20s, if the container takes time to stop')),
    ),
)  # fmt: skip

# What can be done to objects of several kinds.


def _label(subject: Subject, values: Values) -> Patch:
    if not values["labels"]:
        raise Wrong("labels", gettext_noop("Write labels to set, such as disk=ssd, or to remove, such as disk-"))
    return {"metadata": {"labels": values["labels"]}}


LABEL = Action(
    "label",
    ("Node", "Pod"),
    gettext_noop("Label"),
    gettext_noop("Sets or removes labels."),
    gettext_noop("Labels of %(name)s changed."),
    Patching(_label),
    (
        Field(
            "labels",
            "labels",
            gettext_noop("Labels"),
            gettext_noop("as in kubectl label: disk=ssd sets a label, disk- removes it"),
            True,
            choices=lambda subject: [(each, each) for each in subject.used.get("labels", ())],
        ),
    ),
    letter="l",
    icon="tag",
)


DELETE = Action(
    "delete",
    ("Node", "PodDisruptionBudget", "PersistentVolumeClaim", "PersistentVolume", "ResourceClaim", "PriorityClass"),
    gettext_noop("Delete"),
    gettext_noop("Same as kubectl delete. A claim in use is kept until its pod is deleted."),
    gettext_noop("%(name)s deleted."),
    Deleting(),
    danger=True,
    letter="Delete",
    icon="delete",
)

# What can be done to disruption budgets.

LEAST, MOST = "minAvailable", "maxUnavailable"


def _budget(subject: Subject, values: Values) -> PatchObject:
    given = {LEAST: values["least"], MOST: values["most"]}
    chosen = {name: int(text) if text.isdecimal() else text for name, text in given.items() if text}
    if len(chosen) != 1:
        raise Wrong("least", gettext_noop("Fill in one of the two: a number, or a percentage such as 50%"))
    return PatchObject(subject.ref, {"spec": {name: chosen.get(name) for name in given}})


BUDGET = Action(
    "budget",
    ("PodDisruptionBudget",),
    gettext_noop("Change the budget"),
    gettext_noop(
        "How many of its pods must stay available, or may be unavailable. A number, or a percentage such as 50%."
    ),
    gettext_noop("Budget of %(name)s changed."),
    _budget,
    (
        Field("least", "text", LEAST, initial=lambda subject: subject.part("spec", LEAST)),
        Field("most", "text", MOST, initial=lambda subject: subject.part("spec", MOST)),
    ),
    letter="b",
    icon="resize",
)

ACTIONS: tuple[Action, ...] = (
    nodes.TAINT,
    nodes.UNTAINT,
    LABEL,
    *nodes.CORDONS,
    RESIZE_NODE,
    RESIZE_POD,
    PRIORITY,
    GATES,
    *pods.ACTIONS,
    *workloads.ACTIONS,
    *claims.ACTIONS,
    BUDGET,
    *failing.ACTIONS,
    DUPLICATE,
    *nodes.KUBELETS,
    NODE_USAGE,
    POD_USAGE,
    WORKLOAD_USAGE,
    PROGRAMS,
    pods.DELETE,
    workloads.DELETE,
    DELETE,
    *plugins.ACTIONS,
    *schedulers.ACTIONS,
)


def action(kind: str, name: str) -> Action | None:
    """The action of this name that objects of a kind have."""
    return next((each for each in ACTIONS if each.name == name and kind in each.kinds), None)


def applying(subject: Subject) -> list[Action]:
    """Return the actions that apply to an object now."""
    return [each for each in ACTIONS if subject.kind in each.kinds and each.applies(subject)]


def together(subject: Subject) -> list[Action]:
    """Return the actions that apply to several objects of a kind at once, represented by this one."""
    return [each for each in ACTIONS if subject.kind in each.kinds and each.together and each.name != "untaint"]


def offers(subject: Subject) -> list[Offer]:
    """The same as plain data, for buttons and menus."""
    return [Offer(each.name, each.title, each.note, bool(each.fields), each.danger) for each in applying(subject)]
