"""What can be done to pods."""

from typing import Any

from msgspec import UNSET

from playground.workbench.actions.contract import (
    Action,
    Choices,
    Deleting,
    Field,
    Subject,
    Values,
    gettext_noop,
    read_action,
)
from scheduler_core.world.commands import BindPod, EvictPod

POD = ("Pod",)
MOST_NODES = 200  # that are suggested
GRACE = Field(
    "grace_period_seconds", "number", gettext_noop("Grace period in seconds"), gettext_noop("empty: the pod's own")
)


def _options(values: Values) -> dict[str, Any]:
    grace = values["grace_period_seconds"]
    return {"grace_period_seconds": UNSET if grace is None else grace}


def _nodes(subject: Subject) -> Choices:
    return [(name, name) for name in subject.nodes[:MOST_NODES]]


ACTIONS = (
    Action(
        "evict",
        POD,
        gettext_noop("Evict"),
        gettext_noop("Requests the eviction of the pod. Disruption budgets can refuse it."),
        gettext_noop("The eviction of %(name)s was granted."),
        lambda subject, values: EvictPod(subject.key, values["grace_period_seconds"], values["dry_run"]),
        (
            Field("dry_run", "flag", gettext_noop("Dry run"), gettext_noop("--dry-run=server: the pod is not evicted")),
            GRACE,
        ),
        danger=True,
        asked=gettext_noop("%(name)s can be evicted now. Nothing was changed."),
        letter="v",
        icon="down",
    ),
    read_action(
        "bind",
        POD,
        lambda subject, values: BindPod(subject.key, values["node"]),
        applies=lambda subject: not subject.part("spec", "nodeName"),
        fields={"node": {"choices": _nodes}},
    ),
)
DELETE = Action(
    "delete-pod",
    POD,
    gettext_noop("Delete"),
    gettext_noop(
        "Same as kubectl delete, regardless of budgets. A grace period of 0 seconds removes the pod immediately."
    ),
    gettext_noop("%(name)s deleted."),
    Deleting(_options),
    (GRACE,),
    danger=True,
    letter="d",
    icon="delete",
)
