"""What can be done to workloads, as kubectl scale, rollout, set image and delete do it."""

from typing import Any, Literal

from msgspec import UNSET

from playground.workbench.actions.contract import (
    WORKLOADS,
    Choices,
    Subject,
    Values,
    containers,
    gettext_noop,
    read_action,
)
from scheduler_core.world.commands import DeleteObjects, PatchObject, ScaleObject

SCALED = ("Deployment", "ReplicaSet", "ReplicationController", "StatefulSet")
ROLLED_OUT = ("Deployment", "StatefulSet", "DaemonSet")
SUSPENDED = ("Job", "CronJob")
RESTARTED_AT = "kubectl.kubernetes.io/restartedAt"
ROLLBACK = "deprecated.deployment.rollback.to"
MOST_REPLICAS = 100_000
PROPAGATION = (
    ("Background", gettext_noop("Background: deletes it immediately, then its dependents")),
    ("Foreground", gettext_noop("Foreground: deletes its dependents first")),
    ("Orphan", gettext_noop("Orphan: keeps its dependents")),
)


def _spec(name: str, value: Any) -> Any:
    return lambda subject, values: PatchObject(subject.ref, {"spec": {name: value}})


def _is_paused(subject: Subject) -> bool:
    return bool(subject.part("spec", "paused"))


def _is_suspended(subject: Subject) -> bool:
    return bool(subject.part("spec", "suspend"))


def _restart(subject: Subject, values: Values) -> PatchObject:
    annotations = {"annotations": {RESTARTED_AT: subject.time}}
    return PatchObject(subject.ref, {"spec": {"template": {"metadata": annotations}}})


def _undo(subject: Subject, values: Values) -> PatchObject:
    """The deployment-controller carries it out; kubectl would write the former template itself."""
    annotations = {"annotations": {ROLLBACK: str(values["revision"])}}
    return PatchObject(subject.ref, {"metadata": annotations})


def _image(subject: Subject, values: Values) -> PatchObject:
    container = {"name": values["container"], "image": values["image"]}
    inner: dict[str, Any] = {"spec": {"containers": [container]}}
    patch = inner if subject.kind == "Pod" else {"spec": {"template": inner}}
    return PatchObject(subject.ref, patch, "strategic")


def _containers(subject: Subject) -> Choices:
    return [(name, name) for each in containers(subject) if (name := str(each.get("name")))]


def _first_image(subject: Subject) -> Any:
    return next((each.get("image") for each in containers(subject)), None)


def _delete(subject: Subject, values: Values) -> DeleteObjects:
    propagation: Literal["Background", "Foreground", "Orphan"] = values["propagation_policy"]
    return DeleteObjects((subject.ref,), UNSET, propagation)


def _replicas(subject: Subject) -> Any:
    replicas = subject.part("spec", "replicas")
    return 1 if replicas is None else replicas


ACTIONS = (
    read_action(
        "scale",
        SCALED,
        lambda subject, values: ScaleObject(subject.ref, values["replicas"]),
        fields={"replicas": {"most": MOST_REPLICAS, "initial": _replicas}},
    ),
    read_action(
        "image",
        (*SCALED, "DaemonSet", "Pod"),
        _image,
        fields={"container": {"choices": _containers}, "image": {"initial": _first_image}},
    ),
    read_action("restart", ROLLED_OUT, _restart, applies=lambda subject: not _is_paused(subject)),
    read_action(
        "undo",
        ("Deployment",),
        _undo,
        applies=lambda subject: not _is_paused(subject),
        fields={"revision": {"initial": lambda subject: 0}},
    ),
    read_action("pause", ("Deployment",), _spec("paused", True), applies=lambda subject: not _is_paused(subject)),
    read_action("resume", ("Deployment",), _spec("paused", None), applies=_is_paused),
    read_action(
        "parallelism",
        ("Job",),
        lambda subject, values: PatchObject(subject.ref, {"spec": {"parallelism": values["parallelism"]}}),
        fields={"parallelism": {"most": MOST_REPLICAS, "initial": lambda subject: subject.part("spec", "parallelism")}},
    ),
    read_action("suspend", SUSPENDED, _spec("suspend", True), applies=lambda subject: not _is_suspended(subject)),
    read_action("unsuspend", SUSPENDED, _spec("suspend", False), applies=_is_suspended),
)
DELETE = read_action(
    "delete-workload",
    (*WORKLOADS, "CronJob"),
    _delete,
    fields={"propagation_policy": {"choices": lambda subject: PROPAGATION}},
)
