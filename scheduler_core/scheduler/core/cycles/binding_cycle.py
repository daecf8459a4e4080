"""A binding cycle as data."""

from __future__ import annotations

from dataclasses import dataclass, field

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.base.state import Copied, State
from scheduler_core.scheduler.core.cycles.extension import Extension
from scheduler_core.scheduler.core.cycles.phases import Phase
from scheduler_core.scheduler.framework.cycle_state import CycleState
from scheduler_core.scheduler.framework.status import SUCCESS, Status
from scheduler_core.scheduler.framework.step import PluginStep
from scheduler_core.scheduler.queue.types import QueuedPod


@dataclass(slots=True)
class BindingCycle(State):
    """The binding cycle after a successful scheduling cycle: WaitOnPermit, PreBind, Bind, PostBind."""

    number: int
    scheduler: str
    profile: str
    queued: QueuedPod
    pod: Pod  # as assumed: with its nodeName
    node: str
    state: Copied[CycleState]
    started: int
    popped: int = 0  # when the attempt began (ns)
    entered: int = 0  # when the phase was entered (ns)
    since: int = 0  # when the plugin at `index` was called first (ns)
    span: int = 0
    point_span: int = 0
    phase: Phase = Phase.WAIT_ON_PERMIT
    index: int = 0
    t: int = 0  # of the step in progress
    position: int = 0
    steps: Copied[list[PluginStep]] = field(default_factory=list)
    waiting: Copied[dict[str, int]] = field(default_factory=dict)  # Permit plugin -> deadline (ns)
    decision: Status | None = None  # of the wait
    done: bool = False  # the plugin at `index` has answered and only its latency is being waited for
    answer: Status = SUCCESS
    extension: Copied[Extension | None] = None  # of extenders that bind, once one is asked
    exchanges: int = 0  # with extenders, in the scheduling cycle
