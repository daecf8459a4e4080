"""The unschedulable pods in groups: how many, what would wake them, and what hints have just said of them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NotRequired, TypedDict

from playground.presenters.queues import chips
from playground.presenters.queues import hints as hinting
from playground.presenters.queues.chips import PodChip
from playground.presenters.queues.groups import NO_OWNER, Group, Grouped, Label, by_reason, group_pods, reasons, some
from playground.presenters.words import Message, exactly, gettext_noop, message
from scheduler_core.world.readonly import ClusterEvent, Move, Place, QueuedPod, SchedulerView, WorldView

# A group of pods as a row: what it is called, how many, and the pod that it leads to.

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


# What the hints of the last transition said of each group of unschedulable pods: Queue of those that left, Skip of those that stay.

QUEUE, SKIP = "Queue", "Skip"
MOST = 3


class HintAnswer(hinting.Skip):
    answer: str
    count: int


@dataclass(frozen=True, slots=True)
class Answers:
    """`left` counts the pods of a group that an event took away, by event, plugin and hint; `events` are those that happened."""

    scheduler: SchedulerView
    left: dict[Label, Counter[tuple[str, str, str]]]
    events: tuple[ClusterEvent, ...]

    def of(self, group: Group) -> list[HintAnswer]:
        """The answers as plain data, at most MOST of them."""
        rows: list[HintAnswer] = [
            {"answer": QUEUE, "count": count, "event": event, "plugin": plugin, "hint": hinting.hint_name(plugin, hint)}
            for (event, plugin, hint), count in self.left.get(group.label, Counter()).most_common()
        ]
        if group.pods and self.events:
            first = group.first
            stayed = hinting.list_skips(self.scheduler.framework_of(first.pod), first, self.events)
            rows += [{"answer": SKIP, "count": len(group), **each} for each in stayed]
        return rows[:MOST]

    def emptied(self) -> list[Label]:
        """Groups that lost a pod, those that lost most first."""
        return sorted(self.left, key=lambda label: (-sum(self.left[label].values()), label))


def answers(sim: WorldView, scheduler: SchedulerView) -> Answers:
    """Return the answers of the pods grouped by reason."""
    left: dict[Label, Counter[tuple[str, str, str]]] = {}
    labels: dict[str, None] = {}
    for move in hinting.list_moves(sim):
        event, plugin, hint = move.why or ("", "", "")
        entry = scheduler.queue.find(move.pod)
        if entry is None or not _was_unschedulable(sim, move):
            continue
        labels[event] = None
        left.setdefault(by_reason(sim, entry), Counter())[event, plugin, hint] += 1
    happened = [known for label in labels if (known := hinting.event_of(label)) is not None]
    return Answers(scheduler, left, tuple(dict.fromkeys([*happened, *hinting.just_happened(sim)])))


def _was_unschedulable(sim: WorldView, move: Move) -> bool:
    return move.prev >= 0 and sim.journal.moves[move.prev].place == Place.UNSCHEDULABLE


GROUPS, EMPTIED, PODS = 6, 2, 6


class Sleeping(TypedDict):
    groups: "list[SleepingGroup]"
    more_groups: int
    more_pods: int


def sleeping(sim: WorldView, scheduler: SchedulerView, by: str, chosen: str, *, with_pods: bool) -> Sleeping:
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
        data["pods"] = [chips.build_refused_chip(queued, chosen) for queued in some(group, PODS)] if with_pods else []
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


class SleepingGroup(GroupTitle):
    count: int
    first: str
    families: list[str]
    events: list[str]
    said: list[HintAnswer]
    share: NotRequired[int]
    chosen: NotRequired[bool]
    pods: NotRequired[list[PodChip]]
    more: NotRequired[int]


def _group(sim: WorldView, scheduler: SchedulerView, by: str, group: Group, said: Answers | None) -> SleepingGroup:
    title = title_of(sim, by, group)
    profile = scheduler.framework_of(group.first.pod) if group.pods else None
    return {
        "title": title["title"],
        "plugins": title["plugins"],
        "count": len(group),
        "first": group.first.key if group.pods else "",
        "families": group.largest_families(2),
        "events": hinting.list_waking_events(profile, title["plugins"]),
        "said": [] if said is None else said.of(group),
    }
