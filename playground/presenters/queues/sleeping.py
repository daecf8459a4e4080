"""The unschedulable pods in groups, and queueing hints: the events that may move a pod, and the answers to the latest events."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import NotRequired, TypedDict

from playground.presenters.queues import chips
from playground.presenters.queues.groups import NO_OWNER, Group, Label, by_reason, group_pods, reasons, some
from playground.presenters.words import Message, exactly, message
from scheduler_core.base.trace.kinds import ObjectChanged, WatchEventHeard
from scheduler_core.world.readonly import (
    EXTENDER_NAME,
    Action,
    ClusterEvent,
    Move,
    On,
    Place,
    ProfileView,
    QueuedPod,
    SchedulerView,
    WorldView,
    action_name,
    list_registrations,
)

CLAIM = "resource.k8s.io/ResourceClaim"
LOOKED_THROUGH = 64  # records of one transition; an import has thousands
ANY = "*"

# kube's names of the hint functions, by plugin (kube: pkg/scheduler/framework/plugins, EventsToRegister @ v1.34.1).
_HINTS: dict[str, dict[str, str]] = json.loads(Path(__file__).with_name("hints.json").read_text(encoding="utf-8"))


def hint_name(plugin: str, hint: str) -> str:
    """Return kube's name of a hint function, or the function's own name if kube has no such plugin."""
    return _HINTS.get(plugin, {}).get(hint, hint)


def list_waking_events(profile: ProfileView | None, rejectors: Sequence[str]) -> list[str]:
    """Return the events that the pod's rejecting plugins registered for, by kube's labels."""
    events: dict[str, None] = {}
    for name in rejectors:
        plugin = profile.plugin(name) if profile is not None else None
        if plugin is not None:
            events |= dict.fromkeys(event for on in list_registrations(plugin) for event in _labels(on))
        elif name == EXTENDER_NAME:
            events[ANY] = None
    return list(events)


@lru_cache(maxsize=256)
def _labels(on: On) -> tuple[str, ...]:
    kind = on.resource.rpartition("/")[2]
    if on.action in (Action.ALL, Action.UPDATE):
        return (f"{kind}{action_name(on.action)}",)
    whole = (Action.UPDATE,) if Action.UPDATE in on.action else ()
    rest = on.action & ~Action.UPDATE if whole else on.action
    return tuple(f"{kind}{action_name(part)}" for part in (*rest, *whole))


def just_happened(sim: WorldView) -> list[ClusterEvent]:
    """Return the cluster events of the last transition that hints handled, if its records identify them.

    The event of an update is known only if it moved a pod (`moved`); this lists created and deleted objects.
    """
    heard: list[ObjectChanged | WatchEventHeard] = [
        record.facts
        for record in sim.last[:LOOKED_THROUGH]
        if isinstance(record.facts, WatchEventHeard if sim.settings.informer_lag else ObjectChanged)
    ]
    events = [event for facts in heard if (event := _event(sim, facts)) is not None]
    return list(dict.fromkeys(events))


_ACTIONS = {"ADDED": Action.ADD, "DELETED": Action.DELETE}
_RESOURCES = {
    "Node": "Node",
    "PersistentVolume": "PersistentVolume",
    "PersistentVolumeClaim": "PersistentVolumeClaim",
    "StorageClass": "storage.k8s.io/StorageClass",
    "CSINode": "storage.k8s.io/CSINode",
    "CSIStorageCapacity": "storage.k8s.io/CSIStorageCapacity",
    "VolumeAttachment": "storage.k8s.io/VolumeAttachment",
    "DeviceClass": "resource.k8s.io/DeviceClass",
    "ResourceSlice": "resource.k8s.io/ResourceSlice",
}


def _event(sim: WorldView, facts: ObjectChanged | WatchEventHeard) -> ClusterEvent | None:
    action = _ACTIONS.get(facts.type)
    if facts.kind == "Pod":
        # Only assigned pods cause events for others; an unscheduled pod's events concern only itself.
        lane = sim.journal.lane(f"{facts.namespace}/{facts.name}")
        if action is Action.DELETE:
            return ClusterEvent("AssignedPod", Action.DELETE) if _had_node(lane) else None
        now = [move.place for move in lane if move.position == sim.position]
        return ClusterEvent("AssignedPod", Action.ADD) if Place.BOUND in now else None
    resource = _RESOURCES.get(facts.kind)
    return ClusterEvent(resource, action) if resource and action else None


def _had_node(lane: Sequence[Move]) -> bool:
    before = [move.place for move in lane if move.place != Place.DELETED]
    return bool(before) and before[-1] in (Place.BOUND, Place.RUNNING)


def list_moves(sim: WorldView) -> Iterator[Move]:
    """Yield the moves of the last transition that an event caused, latest first."""
    for move in reversed(sim.journal.moves):
        if move.position != sim.position:
            return
        if move.why:
            yield move


class Skip(TypedDict):
    event: str
    plugin: str
    hint: str


_BY_LABEL = {
    event.label: event
    for resource in (*_RESOURCES.values(), "AssignedPod", "UnschedulablePod", "UnscheduledPod", "TargetPod", CLAIM)
    for action in Action
    if (event := ClusterEvent(resource, action)).label != resource
}


# A group of pods as a row: its title, the number of pods, and the linked pod.

FAMILIES = 3


class GroupTitle(TypedDict):
    title: Message
    plugins: list[str]


def title_of(sim: WorldView, by: str, group: Group) -> GroupTitle:
    """Return the `title`, and the `plugins` that refused the pods, if known. Reasons are in the order of the first pod."""
    if by == "priority":
        return {"title": message("priority %(priority)s", priority=group.label[0]), "plugins": []}
    if by == "owner":
        owner = message("no owner") if group.label == NO_OWNER else exactly("/".join(group.label))
        return {"title": owner, "plugins": []}
    plugin, *texts = group.label
    if by == "reason" and group.pods:
        texts = reasons(sim, group.first)
    plugins = plugin.split(", ") if plugin else []
    return {"title": exactly(", ".join(texts or plugins)), "plugins": plugins}


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
    """Return the largest groups of a place."""
    return [group_row(sim, by, group, chosen) for group in islice(group_pods(sim, scheduler, place, by), most)]


def behind(
    sim: WorldView, scheduler: SchedulerView, head: Sequence[QueuedPod], chosen: str, most: int
) -> list[GroupRow]:
    """Return the groups of active pods after the first ones by priority, highest first."""
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


# The hints of the last transition for each group of unschedulable pods: Queue for pods that left, Skip for pods that stay.

QUEUE, SKIP = "Queue", "Skip"
MOST = 3


class HintAnswer(Skip):
    answer: str
    count: int


@dataclass(frozen=True, slots=True)
class Answers:
    """`left` counts the pods of a group that an event moved, by event, plugin, and hint; `events` are the latest events."""

    scheduler: SchedulerView
    left: dict[Label, Counter[tuple[str, str, str]]]
    events: tuple[ClusterEvent, ...]

    def of(self, group: Group) -> list[HintAnswer]:
        """Return the answers for a group as plain data, at most MOST."""
        rows: list[HintAnswer] = [
            {"answer": QUEUE, "count": count, "event": event, "plugin": plugin, "hint": hint_name(plugin, hint)}
            for (event, plugin, hint), count in self.left.get(group.label, Counter()).most_common()
        ]
        if group.pods and self.events:
            first = group.first
            profile = self.scheduler.framework_of(first.pod)
            stayed: list[Skip] = []
            for name in first.rejectors:
                plugin = profile.plugin(name) if profile is not None else None
                if plugin is not None:
                    stayed += [
                        {"event": event.label, "plugin": name, "hint": hint_name(name, on.hint.__name__)}
                        for event in self.events
                        for on in list_registrations(plugin)
                        if on.hint is not None and on.matches(event)
                    ]
            rows += [{"answer": SKIP, "count": len(group), **each} for each in stayed]
        return rows[:MOST]

    def emptied(self) -> list[Label]:
        """Return the groups that lost pods, those with the most first."""
        return sorted(self.left, key=lambda label: (-sum(self.left[label].values()), label))


def answers(sim: WorldView, scheduler: SchedulerView) -> Answers:
    """Return the answers of the pods grouped by reason."""
    left: dict[Label, Counter[tuple[str, str, str]]] = {}
    labels: dict[str, None] = {}
    for move in list_moves(sim):
        event, plugin, hint = move.why or ("", "", "")
        entry = scheduler.queue.find(move.pod)
        if entry is None or not (move.prev >= 0 and sim.journal.moves[move.prev].place == Place.UNSCHEDULABLE):
            continue
        labels[event] = None
        left.setdefault(by_reason(sim, entry), Counter())[event, plugin, hint] += 1
    happened = [known for label in labels if (known := _BY_LABEL.get(label)) is not None]
    return Answers(scheduler, left, tuple(dict.fromkeys([*happened, *just_happened(sim)])))


GROUPS, EMPTIED, PODS = 6, 2, 6


class SleepingPods(TypedDict):
    groups: "list[SleepingGroup]"
    more_groups: int
    more_pods: int


def sleeping(sim: WorldView, scheduler: SchedulerView, by: str, chosen: str, *, with_pods: bool) -> SleepingPods:
    """Return {"groups", "more_groups", "more_pods"}: the largest groups, and groups that the last event emptied."""
    known = group_pods(sim, scheduler, "unschedulable", by)
    said = answers(sim, scheduler) if by == "reason" else None
    gone = () if said is None else (label for label in said.emptied() if known.get(label) is None)
    emptied = [Group(label) for label in islice(gone, EMPTIED)]
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


class SleepingGroup(GroupTitle):
    count: int
    first: str
    families: list[str]
    events: list[str]
    said: list[HintAnswer]
    share: NotRequired[int]
    chosen: NotRequired[bool]
    pods: NotRequired[list[chips.PodChip]]
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
        "events": list_waking_events(profile, title["plugins"]),
        "said": [] if said is None else said.of(group),
    }
