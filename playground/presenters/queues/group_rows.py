"""A group of pods as a row: what it is called, how many, and the pod that it leads to."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TypedDict

from playground.presenters.queues.groups import NO_OWNER, Group, Label, group_pods, reasons
from playground.presenters.words import Message, exactly, gettext_noop, message
from scheduler_core.world.readonly import QueuedPod, SchedulerView, WorldView

FAMILIES = 3


class GroupTitle(TypedDict):
    title: Message
    plugins: list[str]


def title_of(sim: WorldView, by: str, group: Group) -> GroupTitle:
    """`title`, and `plugins` where it is known who refused the pods. Reasons stand in the order that the first pod met them in."""
    if by == "priority":
        return {"title": message(gettext_noop("priority %(priority)s"), priority=group.label[0]), "plugins": []}
    if by == "owner":
        return {"title": _owner(group.label), "plugins": []}
    plugin, *texts = group.label
    if by == "reason" and group.pods:
        texts = reasons(sim, group.first)
    plugins = plugin.split(", ") if plugin else []
    return {"title": exactly(", ".join(texts or plugins)), "plugins": plugins}


def _owner(label: Label) -> Message:
    if label == NO_OWNER:
        return message(gettext_noop("no owner"))
    return exactly("/".join(label))


class GroupRow(GroupTitle):
    count: int
    first: str
    chosen: bool
    families: list[str]


def group_row(sim: WorldView, by: str, group: Group, chosen: str) -> GroupRow:
    return {
        "count": len(group),
        "first": group.first.key,
        "chosen": chosen in group.pods,
        "families": group.largest_families(FAMILIES),
        **title_of(sim, by, group),
    }


def largest(sim: WorldView, scheduler: SchedulerView, place: str, by: str, chosen: str, most: int) -> list[GroupRow]:
    """The largest groups of a place."""
    return [group_row(sim, by, group, chosen) for group in islice(group_pods(sim, scheduler, place, by), most)]


def behind(
    sim: WorldView, scheduler: SchedulerView, head: Sequence[QueuedPod], chosen: str, most: int
) -> list[GroupRow]:
    """The active pods behind the first ones by priority, the highest first."""
    shown = {queued.key for queued in head}
    out: list[GroupRow] = []
    for group in sorted(group_pods(sim, scheduler, "active", "priority"), key=lambda g: -int(g.label[0])):
        count = len(group) - sum(key in group.pods for key in shown)
        if count and len(out) < most:
            first = next(key for key in group.pods if key not in shown)
            mine = chosen in group.pods and chosen not in shown
            row = group_row(sim, "priority", group, chosen)
            out.append({**row, "count": count, "first": first, "chosen": mine})
    return out
