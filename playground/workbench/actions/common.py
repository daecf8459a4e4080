"""What can be done to objects of several kinds."""

from __future__ import annotations

from playground.workbench.actions.contract import Action, Field, Subject, Values, Wrong, gettext_noop
from playground.workbench.actions.together import Deleting, Patch, Patching


def _label(subject: Subject, values: Values) -> Patch:
    if not values["labels"]:
        raise Wrong("labels", gettext_noop("Write labels to set, such as disk=ssd, or to take away: disk-"))
    return {"metadata": {"labels": values["labels"]}}


LABEL = Action(
    "label",
    ("Node", "Pod"),
    gettext_noop("Label"),
    gettext_noop("Sets labels, or takes some away."),
    gettext_noop("The labels of %(name)s were changed."),
    Patching(_label),
    (
        Field(
            "labels",
            "labels",
            gettext_noop("Labels"),
            gettext_noop("as kubectl label takes them: disk=ssd sets one, disk- takes it away"),
            True,
            choices=lambda subject: [(each, each) for each in subject.used.get("labels", ())],
        ),
    ),
    letter="l",
    icon="tag",
)


DELETE = Action(
    "delete",
    (
        "Node",
        "PodDisruptionBudget",
        "PersistentVolumeClaim",
        "PersistentVolume",
        "ResourceClaim",
        "PriorityClass",
    ),
    gettext_noop("Delete"),
    gettext_noop("As kubectl delete. A claim that a pod uses is kept until that pod has gone."),
    gettext_noop("%(name)s was deleted."),
    Deleting(),
    danger=True,
    letter="Delete",
    icon="delete",
)
