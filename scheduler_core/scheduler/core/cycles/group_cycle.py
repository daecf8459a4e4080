"""A group's cycle as data: its placements, the members tried in each, and the group's outcome.

```
open -> TRYING, placement by placement, member by member -> POST_FILTER (none is feasible) -> SUBMITTING, member by member -> over
```

kube: schedule_one_podgroup.go @ v1.37.2
"""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scheduler_core.base.state import Copied, Shared, State
from scheduler_core.scheduler.core.cycles.scheduling_cycle import SchedulingCycle
from scheduler_core.scheduler.framework.status import SUCCESS, Code, Status
from scheduler_core.scheduler.queue.types import QueuedPod

UNPLACED = "pod group is unschedulable"  # kube: errPodGroupUnschedulable, the first part of the messages


class Stage(enum.StrEnum):
    """The next stage of a group's cycle."""

    TRYING = "trying"
    POST_FILTER = "PodGroupPostFilter"
    SUBMITTING = "submitting"
    OVER = "over"


@dataclass(frozen=True, slots=True)
class PlacementScore:
    """A plugin's score of a placement, raw and normalized."""

    plugin: str
    raw: int
    score: int


@dataclass(frozen=True, slots=True)
class MemberTrial:
    """The result of a trial for one member: a node, or the text of its refusal."""

    node: str
    text: str

    @property
    def found(self) -> bool:
        """True if the member has a node."""
        return bool(self.node)


@dataclass(slots=True)
class Trial(State):
    """A placement with the members tried in it. `nodes`: None for all nodes."""

    name: str = ""
    nodes: tuple[str, ...] | None = None
    status: Status = SUCCESS
    scheduled: int = 0  # members with a node, including those of earlier cycles
    remaining: int = 0
    placed_any: bool = False
    cycles: Copied[list[SchedulingCycle]] = field(default_factory=list)
    tried: tuple[MemberTrial, ...] = ()
    quorum: tuple[Status, ...] = ()  # before the first member, and after each
    scores: tuple[PlacementScore, ...] = ()

    @property
    def total(self) -> int:
        """The sum of the scores."""
        return sum(each.score for each in self.scores)

    @property
    def placed(self) -> list[SchedulingCycle]:
        """The members that found a node."""
        return [cycle for cycle in self.cycles if cycle.chosen is not None]


@dataclass(slots=True)
class GroupCycle(State):
    """One attempt to place a group. `before` is how many members had a node when it began."""

    number: int
    profile: str
    queued: QueuedPod
    group: Shared[Mapping[str, Any]]
    started: int
    before: int = 0
    stage: Stage = Stage.TRYING
    trials: Copied[list[Trial]] = field(default_factory=list)
    at: int = 0  # the placement that is tried
    chosen: int | None = None  # the placement whose members are submitted
    index: int = 0  # the member that is submitted
    status: Status = SUCCESS
    root: Status = SUCCESS  # before PodGroupPostFilter adds reasons
    preempts: bool = False
    victims: tuple[str, ...] = ()
    nominations: Mapping[str, str] = field(default_factory=dict)  # by pod key
    untried: Copied[list[SchedulingCycle]] = field(default_factory=list)  # of members that no trial reached
    nested: bool = False  # runs for a preemption
    reported: bool = False  # the PodGroup's condition is written
    driving: bool = False  # a member's own cycle runs
    ended: int | None = None

    @property
    def trial(self) -> Trial:
        """The current placement's trial."""
        return self.trials[self.at]

    @property
    def results(self) -> list[SchedulingCycle]:
        """The submitted cycles of the members, in order."""
        return [*([] if self.chosen is None else self.trials[self.chosen].cycles), *self.untried]

    @property
    def current(self) -> SchedulingCycle | None:
        """The member's cycle under way."""
        if self.stage is Stage.TRYING and self.trials:
            return self.trial.cycles[-1] if self.trial.cycles else None
        return self.results[self.index - 1] if self.index else None

    @property
    def key(self) -> str:
        """The group's namespace and name."""
        return self.queued.pod.key


def unplaced(*reasons: str) -> Status:
    """Return the refusal of a group, as kube words it with its own error first."""
    return Status(Code.UNSCHEDULABLE, (UNPLACED, *reasons))


def error_text(status: Status) -> str:
    """Return the text of a status as an error: kube's own one hides the reasons."""
    return UNPLACED if status.reasons[:1] == (UNPLACED,) else status.message
