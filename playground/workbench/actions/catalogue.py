"""Every action on objects, in the order in which they are offered."""

from __future__ import annotations

from playground.workbench.actions import claims, failing, nodes, plugins, pods, schedulers, workloads
from playground.workbench.actions.budgets import BUDGET
from playground.workbench.actions.common import DELETE, LABEL
from playground.workbench.actions.contract import Action, Offer, Subject
from playground.workbench.actions.duplicating import DUPLICATE
from playground.workbench.actions.programs import PROGRAMS
from playground.workbench.actions.resizing import GATES, PRIORITY, RESIZE_NODE, RESIZE_POD
from playground.workbench.actions.usage import NODE_USAGE, POD_USAGE, WORKLOAD_USAGE

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
    return [
        each for each in ACTIONS if subject.kind in each.kinds and each.together and each.name != "untaint"
    ]


def offers(subject: Subject) -> list[Offer]:
    """The same as plain data, for buttons and menus."""
    return [
        Offer(each.name, each.title, each.note, bool(each.fields), each.danger) for each in applying(subject)
    ]
