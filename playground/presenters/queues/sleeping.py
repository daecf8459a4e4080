"""The unschedulable pods in groups: how many, what would wake them, and what hints have just said of them."""

from __future__ import annotations

from itertools import islice
from typing import Any

from playground.presenters.queues import chips
from playground.presenters.queues.answers import Answers, answers
from playground.presenters.queues.group_rows import title_of
from playground.presenters.queues.groups import Group, Grouped, group_pods, some
from playground.presenters.queues.hints import wakes
from scheduler_core.world.readonly import SchedulerView, WorldView

GROUPS, EMPTIED, PODS = 6, 2, 6


def sleeping(
    sim: WorldView, scheduler: SchedulerView, by: str, chosen: str, *, with_pods: bool
) -> dict[str, Any]:
    """{"groups", "more_groups", "more_pods"}: the largest groups, and those that the last event has emptied."""
    known = group_pods(sim, scheduler, "unschedulable", by)
    said = answers(sim, scheduler) if by == "reason" else None
    emptied = _list_empty_groups(known, said)
    shown = list(islice(known, GROUPS - len(emptied)))
    most = max((len(group) for group in shown), default=1)
    groups = [_group(sim, scheduler, by, group, said) for group in [*shown, *emptied]]
    for group, data in zip([*shown, *emptied], groups, strict=True):
        data["share"] = round(100 * len(group) / most)
        data["chosen"] = chosen in group.pods
        data["pods"] = (
            [chips.build_refused_chip(queued, chosen) for queued in some(group, PODS)] if with_pods else []
        )
        data["more"] = len(group) - len(data["pods"])
    return {
        "groups": groups,
        "more_groups": len(known) - len(shown),
        "more_pods": len(scheduler.queue.unschedulable_pods) - sum(map(len, shown)),
    }


def _list_empty_groups(known: Grouped, said: Answers | None) -> list[Group]:
    """Groups that have no pod any more."""
    gone = () if said is None else (label for label in said.emptied() if known.get(label) is None)
    return [Group(label) for label in islice(gone, EMPTIED)]


def _group(
    sim: WorldView, scheduler: SchedulerView, by: str, group: Group, said: Answers | None
) -> dict[str, Any]:
    title = title_of(sim, by, group)
    profile = scheduler.framework_of(group.first.pod) if group.pods else None
    woken_by = wakes(profile, title["plugins"])
    return {
        **title,
        "count": len(group),
        "first": group.first.key if group.pods else "",
        "families": group.largest_families(2),
        "wakes": woken_by,
        "events": list(dict.fromkeys(event for each in woken_by for event in each["events"])),
        "said": [] if said is None else said.of(group),
    }
