"""What can be done to objects of several kinds."""

from __future__ import annotations

from playground.actions.contract import Action, Field, Subject, Values, Wrong, gettext_noop
from scheduler_core.commands import PatchObject


def _label(subject: Subject, values: Values) -> PatchObject:
    if not values["labels"]:
        raise Wrong("labels", gettext_noop("Write labels to set, such as disk=ssd, or to take away: disk-"))
    return PatchObject(subject.ref, {"metadata": {"labels": values["labels"]}})


LABEL = Action(
    "label",
    ("Node", "Pod"),
    gettext_noop("Label"),
    gettext_noop("Sets labels, or takes some away."),
    gettext_noop("The labels of %(name)s were changed."),
    _label,
    (
        Field(
            "labels",
            "labels",
            gettext_noop("Labels"),
            gettext_noop("as kubectl label takes them: disk=ssd sets one, disk- takes it away"),
            True,
        ),
    ),
)
