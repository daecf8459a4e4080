"""What can be done to pods."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from playground.workbench.actions.contract import Action, Choices, Field, Subject, Values, gettext_noop
from playground.workbench.actions.together import Deleting
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
        gettext_noop("Asks for the pod's eviction, which disruption budgets may refuse."),
        gettext_noop("The eviction of %(name)s was granted."),
        lambda subject, values: EvictPod(subject.key, values["grace_period_seconds"], values["dry_run"]),
        (
            Field(
                "dry_run",
                "flag",
                gettext_noop("Only ask whether it could be"),
                gettext_noop("--dry-run=server: nothing is evicted"),
            ),
            GRACE,
        ),
        danger=True,
        asked=gettext_noop("%(name)s could be evicted now; nothing was changed."),
        letter="v",
        icon="down",
    ),
    Action(
        "bind",
        POD,
        gettext_noop("Bind by hand"),
        gettext_noop("As a scheduler binds it, but no plugin is asked: the kubelet may refuse the pod."),
        gettext_noop("%(name)s was bound."),
        lambda subject, values: BindPod(subject.key, values["node"]),
        (Field("node", "text", gettext_noop("Node"), required=True, choices=_nodes),),
        applies=lambda subject: not subject.part("spec", "nodeName"),
        letter="b",
        icon="bind",
    ),
)
DELETE = Action(
    "delete-pod",
    POD,
    gettext_noop("Delete"),
    gettext_noop("As kubectl delete: no budget is asked. 0 seconds removes the pod at once."),
    gettext_noop("%(name)s was deleted."),
    Deleting(_options),
    (GRACE,),
    danger=True,
    letter="d",
    icon="delete",
)
