"""What can be done to workloads, as kubectl scale, rollout, set image and delete do it."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET

from playground.workbench.actions.contract import (
    WORKLOADS,
    Action,
    Choices,
    Field,
    Subject,
    Values,
    containers,
    gettext_noop,
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
    Action(
        "scale",
        SCALED,
        gettext_noop("Scale"),
        gettext_noop("Sets the number of pods."),
        gettext_noop("%(name)s scaled."),
        lambda subject, values: ScaleObject(subject.ref, values["replicas"]),
        (Field("replicas", "number", gettext_noop("Replicas"), required=True, initial=_replicas, most=MOST_REPLICAS),),
        letter="s",
        icon="resize",
    ),
    Action(
        "image",
        (*SCALED, "DaemonSet", "Pod"),
        gettext_noop("Change the image"),
        gettext_noop("A Deployment, StatefulSet, or DaemonSet then replaces its pods. Other workloads keep theirs."),
        gettext_noop("Image of %(name)s changed."),
        _image,
        (
            Field("container", "choice", gettext_noop("Container"), required=True, choices=_containers),
            Field("image", "text", gettext_noop("Image"), required=True, initial=_first_image),
        ),
        icon="file",
    ),
    Action(
        "restart",
        ROLLED_OUT,
        gettext_noop("Restart the rollout"),
        gettext_noop(
            "Same as kubectl rollout restart: an annotation of the template changes, so all pods are replaced."
        ),
        gettext_noop("The rollout of %(name)s restarts."),
        _restart,
        applies=lambda subject: not _is_paused(subject),
        letter="r",
        icon="restart",
    ),
    Action(
        "undo",
        ("Deployment",),
        gettext_noop("Roll back"),
        gettext_noop("Same as kubectl rollout undo: the template of an earlier revision becomes the newest one."),
        gettext_noop("%(name)s is rolled back."),
        _undo,
        (
            Field(
                "revision",
                "number",
                gettext_noop("Revision"),
                gettext_noop("0 means the previous revision."),
                required=True,
                initial=lambda subject: 0,
            ),
        ),
        applies=lambda subject: not _is_paused(subject),
    ),
    Action(
        "pause",
        ("Deployment",),
        gettext_noop("Pause the rollout"),
        gettext_noop("Changes to the template do not start a rollout until you resume it."),
        gettext_noop("The rollout of %(name)s is paused."),
        _spec("paused", True),
        applies=lambda subject: not _is_paused(subject),
    ),
    Action(
        "resume",
        ("Deployment",),
        gettext_noop("Resume the rollout"),
        gettext_noop("Rolls out the changes made during the pause."),
        gettext_noop("The rollout of %(name)s continues."),
        _spec("paused", None),
        applies=_is_paused,
    ),
    Action(
        "parallelism",
        ("Job",),
        gettext_noop("Change the parallelism"),
        gettext_noop("The number of pods of the Job that can run at the same time."),
        gettext_noop("Parallelism of %(name)s changed."),
        lambda subject, values: PatchObject(subject.ref, {"spec": {"parallelism": values["parallelism"]}}),
        (
            Field(
                "parallelism",
                "number",
                gettext_noop("Parallel pods"),
                required=True,
                initial=lambda subject: subject.part("spec", "parallelism"),
                most=MOST_REPLICAS,
            ),
        ),
    ),
    Action(
        "suspend",
        SUSPENDED,
        gettext_noop("Suspend"),
        gettext_noop("A Job deletes its pods. A CronJob creates no new Jobs."),
        gettext_noop("%(name)s suspended."),
        _spec("suspend", True),
        applies=lambda subject: not _is_suspended(subject),
    ),
    Action(
        "unsuspend",
        SUSPENDED,
        gettext_noop("Resume"),
        gettext_noop("Ends the suspension."),
        gettext_noop("%(name)s resumed."),
        _spec("suspend", False),
        applies=_is_suspended,
    ),
)
DELETE = Action(
    "delete-workload",
    (*WORKLOADS, "CronJob"),
    gettext_noop("Delete"),
    gettext_noop("Same as kubectl delete. Choose what happens to its dependents."),
    gettext_noop("%(name)s deleted."),
    _delete,
    (
        Field(
            "propagation_policy",
            "choice",
            gettext_noop("Dependents"),
            required=True,
            choices=lambda subject: PROPAGATION,
        ),
    ),
    danger=True,
    letter="d",
    icon="delete",
)
