"""What the hints of the last transition said of each group of unschedulable pods: Queue of those that left, Skip of those that stay."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from playground.presenters.queues.groups import Group, Label, by_reason
from playground.presenters.queues.hints import event_of, hint_name, just_happened, list_moves, list_skips
from scheduler_core.world.readonly import ClusterEvent, Move, Place, SchedulerView, WorldView

QUEUE, SKIP = "Queue", "Skip"
MOST = 3


@dataclass(frozen=True, slots=True)
class Answers:
    """`left` counts the pods of a group that an event took away, by event, plugin and hint; `events` are those that happened."""

    scheduler: SchedulerView
    left: dict[Label, Counter[tuple[str, str, str]]]
    events: tuple[ClusterEvent, ...]

    def of(self, group: Group) -> list[dict[str, Any]]:
        """The answers as plain data, at most MOST of them."""
        rows = [
            {
                "answer": QUEUE,
                "count": count,
                "event": event,
                "plugin": plugin,
                "hint": hint_name(plugin, hint),
            }
            for (event, plugin, hint), count in self.left.get(group.label, Counter()).most_common()
        ]
        if group.pods and self.events:
            first = group.first
            stayed = list_skips(self.scheduler.framework_of(first.pod), first, self.events)
            rows += [{"answer": SKIP, "count": len(group), **each} for each in stayed]
        return rows[:MOST]

    def emptied(self) -> list[Label]:
        """Groups that lost a pod, those that lost most first."""
        return sorted(self.left, key=lambda label: (-sum(self.left[label].values()), label))


def answers(sim: WorldView, scheduler: SchedulerView) -> Answers:
    """Return the answers of the pods grouped by reason."""
    left: dict[Label, Counter[tuple[str, str, str]]] = {}
    labels: dict[str, None] = {}
    for move in list_moves(sim):
        event, plugin, hint = move.why or ("", "", "")
        entry = scheduler.queue.find(move.pod)
        if entry is None or not _was_unschedulable(sim, move):
            continue
        labels[event] = None
        left.setdefault(by_reason(sim, entry), Counter())[event, plugin, hint] += 1
    happened = [known for label in labels if (known := event_of(label)) is not None]
    return Answers(scheduler, left, tuple(dict.fromkeys([*happened, *just_happened(sim)])))


def _was_unschedulable(sim: WorldView, move: Move) -> bool:
    return move.prev >= 0 and sim.journal.moves[move.prev].place == Place.UNSCHEDULABLE
