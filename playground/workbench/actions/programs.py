"""What runs in containers: a rule for the pods of an object, put before all other rules (docs/cluster.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playground.workbench.actions.contract import Action, Choices, Field, Subject, Values, Wrong, gettext_noop
from playground.workbench.actions.templates import WORKLOADS, labels, template
from playground.workbench.actions.usage import SECOND, clock
from scheduler_core.world.commands import SetPrograms

READY = (
    ("at once", gettext_noop("as soon as it runs")),
    ("after", gettext_noop("some time after its start")),
    ("never", gettext_noop("never, as with a readiness probe that fails")),
)
ON_TERM = (
    ("default", gettext_noop("it ends within a second, with exit code 143")),
    ("after", gettext_noop("it ends after some time")),
    ("ignore", gettext_noop("it ignores SIGTERM, and is killed when the grace period is over")),
)


def _all_containers(subject: Subject) -> Choices:
    spec = template(subject).get("spec") or {}
    names = [str(each["name"]) for part in ("containers", "initContainers") for each in spec.get(part) or ()]
    return [("", gettext_noop("all of them")), *((name, name) for name in names)]


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
        raise Wrong("length", gettext_noop("Say after which time it exits with this code."))
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
    gettext_noop("Set what runs in it"),
    gettext_noop(
        "How long containers run, how they exit, when they are ready: of every pod with these labels, also of those to come."
    ),
    gettext_noop("What runs in the containers was set."),
    _make,
    (
        Field("pods", "pairs", gettext_noop("Pods with these labels"), gettext_noop("empty: all pods"), initial=labels),
        Field("container", "choice", gettext_noop("Containers"), choices=_all_containers),
        Field("length", "seconds", gettext_noop("Runs for"), gettext_noop("such as 30s; empty: for ever")),
        Field("exit", "number", gettext_noop("Then exits with code"), gettext_noop("0, the default, is success"), most=255),
        Field("ready", "choice", gettext_noop("Ready"), choices=lambda subject: READY),
        Field("ready_after", "seconds", gettext_noop("After"), gettext_noop("such as 5s, where it takes some time to be ready")),
        Field("on_term", "choice", gettext_noop("On SIGTERM"), choices=lambda subject: ON_TERM),
        Field("term_after", "seconds", gettext_noop("After"), gettext_noop("such as 20s, where it takes some time to end")),
    ),
)  # fmt: skip
