"""A scheduler's process: its clock, its network, and the stage that it is in.

| stage | what happens | then |
|---|---|---|
| STARTING | its informers have listed every object | LISTED |
| LISTED | its handlers have processed them: cache and queue are filled | STANDBY, or WORKING without leader election |
| STANDBY | it is elected (with delayCacheUntilActive its informers start only then: STARTING) | WORKING |
| WORKING | it schedules; its lease is lost | the end |
| any | SIGTERM: it begins no more cycles, and releases its lease | ENDING |
| ENDING | the current cycle and its bindings are over, and the lease is released | the end |
| any | SIGKILL, or 30 s after SIGTERM | the end |

DEVIATION: kube-scheduler ends as soon as its lease is released, even during a cycle; here it finishes the current cycle, as reference
documents draw it. It does not wait for pods that wait on Permit.

kube: cmd/kube-scheduler/app/server.go Run @ v1.34.1
"""

import enum
import hashlib
from dataclasses import dataclass

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.base.clock.agenda import FOREVER, SECOND
from scheduler_core.base.state import Copied, State
from scheduler_core.base.trace.journal import Place
from scheduler_core.scheduler.core import measure
from scheduler_core.scheduler.core.world import Owner
from scheduler_core.scheduler.framework import ClusterEvent, ObjectEvent, Plugin, PluginStep, Point, groups
from scheduler_core.scheduler.framework.runtime.framework import Framework, record_gate
from scheduler_core.scheduler.framework.runtime.points import queue_sort_key, run_pre_enqueue
from scheduler_core.scheduler.leaderelection.elector import LeaderElector, Phase
from scheduler_core.scheduler.leaderelection.lock import LeaseCall
from scheduler_core.scheduler.queue.hints import Hints
from scheduler_core.scheduler.queue.types import QueuedPod, RequeueDecision, Strategy

# The queue's interface to the scheduler: order, gates, hints, and notification of moves.


class QueueRules:
    """The queue's rules by the profiles of one scheduler."""

    def __init__(self, scheduler: Owner) -> None:
        self._scheduler = scheduler
        self._hints = Hints(scheduler.profiles, scheduler.figures.queueing_hint.counts)

    def sort_key(self, pod: Pod, timestamp: int) -> tuple[int, ...]:
        first = next(iter(self._scheduler.profiles.values()))
        return queue_sort_key(first, pod, timestamp)

    def group(self, key: str, member: Pod) -> Pod | None:
        manifest = self._scheduler.view.get(groups.KIND, *key.split("/", 1))
        return None if manifest is None else groups.stand_in(manifest, member.spec.scheduler_name)

    def gate(self, pod: Pod, first: str) -> str:
        framework = self._scheduler.framework_of(pod)
        if framework is None:
            return ""
        steps: list[PluginStep] = []
        gate = ""
        for plugin in _gates(framework, first):
            step = run_pre_enqueue(plugin, pod)
            steps.append(step)
            if not step.status.ok:
                record_gate(self._scheduler.world, self._scheduler.name, pod, step)
                gate = plugin.name
                break
        measure.record_pre_enqueue(self._scheduler, pod, steps)
        return gate

    def of_interest(self, event: ClusterEvent) -> bool:
        return self._hints.of_interest(event)

    def listeners(self, event: ClusterEvent) -> frozenset[str]:
        return self._hints.listeners(event)

    def requeue_decision(self, entry: QueuedPod, what: ObjectEvent) -> RequeueDecision:
        if entry.members:
            return max((self._hints.requeue_decision(each, what) for each in entry.members), key=_best)
        return self._hints.requeue_decision(entry, what)

    def moved(self, entry: QueuedPod, place: str, cause: str, why: RequeueDecision | None) -> None:
        until = entry.backoff_until or 0 if place == Place.BACKOFF else 0
        reason = () if why is None else why.reason
        for each in entry.pods():
            self._scheduler.move(each.key, place, cause, reason, until, self._is_about(each.pod))

    def _is_about(self, pod: Pod) -> bool:
        """Return False if another pod now has the pod's name: the new pod is for another scheduler while the queue still holds the old
        pod (until it is popped), or a scheduler with lagging informers still moves the deleted pod.
        """
        scheduler = self._scheduler
        if scheduler.replica is not None:
            live = scheduler.world.store.pod_at(pod.key)
            if live is not None and live.uid != pod.uid:
                return False
        return pod.spec.scheduler_name in scheduler.profiles


def _best(decision: RequeueDecision) -> int:
    return tuple(Strategy).index(decision.strategy)


def _gates(framework: Framework, first: str) -> tuple[Plugin, ...]:
    """Return the PreEnqueue plugins; the plugin that rejected the pod last runs first."""
    plugins = framework.at(Point.PRE_ENQUEUE)
    if not first:
        return plugins
    return tuple(sorted(plugins, key=lambda plugin: plugin.name != first))


PART = 1_000_000
GRACE = 30 * SECOND  # a static pod's terminationGracePeriodSeconds


@dataclass(frozen=True, slots=True)
class Clock:
    """A process' own clock: ahead by `offset` (ns) when the world began, and `rate` millionths of a second a second."""

    offset: int = 0
    rate: int = PART

    def at(self, now: int) -> int:
        """Return the clock's reading (ns) at a virtual time."""
        return self.offset + now * self.rate // PART

    def when(self, shown: int) -> int:
        """Return the first virtual time (ns) at which the clock shows this reading."""
        return min(-((self.offset - shown) * PART // self.rate), FOREVER)


class Stage(enum.Enum):
    STARTING = "starting"
    LISTED = "listed"
    STANDBY = "standby"
    WORKING = "working"
    ENDING = "ending"
    ENDED = "ended"


@dataclass(slots=True, eq=False)
class Process(State):
    """`listed`: its handlers receive changes. `hang`: the time (ns) after which its API calls fail while it is cut off.

    `call`: the pending call about the lease.
    """

    identity: str
    clock: Clock
    elector: Copied[LeaderElector | None] = None
    reporter: str = ""  # of its Events about the lease
    launched: bool = True  # started as a process; else the process of a scheduler that already existed
    stage: Stage = Stage.STARTING
    since: int = 0
    delayed: bool = False  # informers start only when it leads
    listed: bool = False
    hang: int | None = None
    call: LeaseCall | None = None
    renewal_failed: bool = False
    exit_code: int | None = None

    @property
    def decides(self) -> bool:
        """True if pods wait in the queue of this process."""
        return self.stage in (Stage.WORKING, Stage.ENDING)

    @property
    def leads(self) -> bool:
        """True if the process acts as leader, regardless of the lease holder."""
        return self.elector is not None and self.elector.leads

    @property
    def electing(self) -> bool:
        """True if the elector still runs."""
        return self.elector is not None and self.elector.phase not in (Phase.IDLE, Phase.STOPPED)


def working_process(name: str, since: int) -> Process:
    """Return the process of a scheduler that runs without leader election."""
    return Process(name, Clock(), launched=False, stage=Stage.WORKING, since=since, listed=True)


def identity_of(name: str, seed: int) -> str:
    """Return the host name and a UUID that depends only on name and seed. kube: cmd/kube-scheduler/app/options/options.go"""
    digest = hashlib.sha256(f"{name}/{seed}".encode()).hexdigest()
    parts = (digest[:8], digest[8:12], f"4{digest[13:16]}", f"8{digest[17:20]}", digest[20:32])
    return f"{name}_{'-'.join(parts)}"
