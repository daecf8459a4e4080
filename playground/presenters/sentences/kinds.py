"""The table of record kinds as people are told of them: a sentence, and a line of a sequence diagram."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypedDict, TypeVar

from playground.presenters.amounts import duration
from playground.presenters.scene import short
from playground.presenters.sentences import lines, records
from playground.presenters.sentences.lines import (
    API,
    BINDING,
    CACHE,
    CONTROLLERS,
    CYCLE,
    HANDLERS,
    KUBELET,
    PLUGINS,
    PROCESS,
    QUEUE,
    USER,
    Line,
)
from playground.presenters.sentences.records import of_step
from playground.presenters.words import Message, exactly, gettext_noop, message
from scheduler_core.base.trace import kinds as trace
from scheduler_core.world.readonly import Record, StepFacts

F = TypeVar("F", bound=trace.Facts)


@dataclass(frozen=True, slots=True)
class Kind(Generic[F]):
    """What people are told of records of a kind: a sentence with its subject, the `head`, and a line of a sequence diagram.

    One that is not `telling` never stands for a whole step.
    """

    facts: type[F]
    head: str | Callable[[F], str]
    describe: Callable[[F], Message]
    line: Line[F]
    telling: bool = True


class RecordLine(TypedDict):
    """A record as people read it: `head` names the kind of thing, or the extension point; `sentence` says what happened."""

    head: str
    sentence: Message | None


class Row(RecordLine):
    """`no` marks refusals and failures."""

    kind: str
    no: bool


_FAILED = ("unschedulable", "error", "failed")


def of_record(record: Record) -> RecordLine:
    """`head` names the kind of thing, or the extension point; `sentence` says what happened."""
    return of_facts(record.facts)


def of_facts(facts: trace.Facts) -> RecordLine:
    kind = BY_KIND[facts.KIND]
    head = kind.head if isinstance(kind.head, str) else kind.head(facts)
    return {"head": head, "sentence": kind.describe(facts)}


def row(record: Record) -> Row:
    """A record as a row of a list; `no` marks refusals and failures."""
    source = record.source
    if isinstance(source, StepFacts) and source.nodes is not None:
        step = source.step
        no = bool(step.refused) or step.status.code.kube_name not in records.FINE
        return {
            "kind": record.kind,
            "head": f"{step.point} · {step.plugin}",
            "sentence": of_step(step, short(source.pod)),
            "no": no,
        }
    return {"kind": record.kind, **of_record(record), "no": _has_failed(record.facts)}


def _has_failed(facts: trace.Facts) -> bool:
    if isinstance(facts, trace.PluginRan):
        return facts.status["code"] not in records.FINE
    if isinstance(facts, trace.AttemptEnded | trace.BindingEnded):
        return facts.outcome in _FAILED
    if isinstance(facts, trace.EventRecorded):
        return facts.type == "Warning"
    return isinstance(facts, trace.ApiCall) and bool(facts.fault)


RECORD_KINDS: tuple[Kind[Any], ...] = (
    Kind(
        trace.AttemptEnded,
        gettext_noop("The scheduling cycle ends"),
        records.attempt_ended,
        Line(CYCLE, CYCLE, lines.attempt_ended),
    ),
    Kind(
        trace.BindingEnded,
        gettext_noop("The binding cycle ends"),
        records.binding_ended,
        Line(BINDING, lines.binding_to, lines.binding_ended),
    ),
    Kind(
        trace.NodeSelected,
        gettext_noop("Select"),
        records.node_selected,
        Line(CYCLE, CYCLE, lambda selected: message(gettext_noop("selectHost: %(node)s"), node=selected.node)),
    ),
    Kind(
        trace.AttemptStarted,
        gettext_noop("A scheduling cycle begins"),
        records.attempt_started,
        Line(CYCLE, CACHE, lambda started: message(gettext_noop("UpdateSnapshot: nodes: %(n)s"), n=started.nodes)),
    ),
    Kind(
        trace.BindingStarted,
        gettext_noop("A binding cycle begins"),
        records.binding_started,
        Line(CYCLE, BINDING, lambda started: message(gettext_noop("go: the binding cycle"))),
    ),
    Kind(
        trace.WaitEnded,
        gettext_noop("WaitOnPermit"),
        records.wait_ended,
        Line(
            PLUGINS, BINDING, lambda ended: message(gettext_noop("WaitOnPermit: %(code)s"), code=ended.status["code"])
        ),
    ),
    Kind(
        trace.WaitDecided,
        gettext_noop("Permit"),
        records.wait_decided,
        Line(
            PLUGINS,
            BINDING,
            lambda said: message(
                gettext_noop("%(decision)s in the name of %(plugin)s"),
                decision=said.decision.capitalize(),
                plugin=said.plugin or "–",
            ),
        ),
    ),
    Kind(
        trace.PodWaits,
        gettext_noop("Permit"),
        records.pod_waits,
        Line(PLUGINS, CYCLE, lambda waits: message(gettext_noop("Wait: the pod waits on Permit"))),
    ),
    Kind(
        trace.ExtenderAsked,
        gettext_noop("Extender"),
        records.extender_asked,
        Line(lambda asked, standing: standing.cycle, PLUGINS, lambda asked: exactly(f"POST {asked.url}")),
    ),
    Kind(
        trace.PodAssumed,
        gettext_noop("Assume"),
        records.pod_assumed,
        Line(CYCLE, CACHE, lambda assumed: message(gettext_noop("AssumePod on %(node)s"), node=assumed.node)),
    ),
    Kind(
        trace.PodForgotten,
        gettext_noop("Forget"),
        records.pod_forgotten,
        Line(
            lambda forgotten, standing: CACHE if forgotten.cause else standing.cycle,
            CACHE,
            lambda forgotten: message(gettext_noop("ForgetPod: the requests of the pod no longer count as used")),
        ),
    ),
    Kind(
        trace.WatchEventHeard,
        gettext_noop("Informer"),
        records.watch_event,
        Line(HANDLERS, HANDLERS, lambda heard: exactly(f"{heard.type} {heard.kind} {heard.name}")),
    ),
    Kind(
        trace.TimerFired,
        gettext_noop("Queue timer"),
        records.timer_fired,
        Line(QUEUE, QUEUE, lambda fired: exactly(fired.timer)),
    ),
    Kind(
        trace.CommandApplied,
        gettext_noop("Cluster change"),
        records.command,
        Line(
            USER,
            lambda command, standing: PROCESS if standing.start_up else API,
            lambda command: message(lines.COMMANDS.get(command.kind, command.kind)),
        ),
    ),
    Kind(
        trace.Reconciled,
        lambda done: done.controller,
        records.describe_reconcile,
        Line(
            lambda done, standing: KUBELET if lines.kubelets(done.controller) else CONTROLLERS,
            lambda done, standing: API if done.did else CONTROLLERS,
            lines.describe_reconcile,
        ),
    ),
    Kind(
        trace.ObjectChanged,
        gettext_noop("API server"),
        records.object,
        Line(
            API,
            lambda changed, standing: API if standing.start_up else HANDLERS,
            lambda changed: exactly(f"{changed.type} {changed.kind} {changed.name}"),
        ),
    ),
    Kind(
        trace.QueueMoved,
        gettext_noop("Queue"),
        records.queue_moved,
        Line(lines.moves_from, lines.moves_to, lines.describe_queue_move),
    ),
    Kind(trace.ApiCall, gettext_noop("API call"), records.api_call, Line(BINDING, API, lines.call, lines.answer)),
    Kind(
        trace.ApiThrottled,
        gettext_noop("API client"),
        records.describe_throttling,
        Line(
            BINDING, BINDING, lambda held: message(gettext_noop("the client waits %(time)s"), time=duration(held.wait))
        ),
    ),
    Kind(
        trace.PluginRan,
        lambda ran: f"{ran.point} · {ran.plugin}",
        records.plugin_ran,
        Line(PLUGINS, lines.plugin_to, lines.plugin),
        telling=False,
    ),
    Kind(
        trace.EventRecorded,
        gettext_noop("Kubernetes Event"),
        records.event,
        Line(lines.reporter, API, lambda event: message(gettext_noop("Event %(reason)s"), reason=event.reason)),
        telling=False,
    ),
    Kind(
        trace.PointStarted,
        lambda started: started.point,
        records.point_started,
        Line(lines.asks, PLUGINS, lines.point),
        telling=False,
    ),
    Kind(
        trace.PreemptionStarted,
        gettext_noop("Preemption"),
        records.preemption_started,
        Line(PLUGINS, BINDING, lines.evicts),
    ),
    Kind(
        trace.SchedulerStage,
        gettext_noop("Scheduler"),
        records.scheduler_stage,
        Line(
            lambda came, standing: lines.stage(came)[0],
            lambda came, standing: lines.stage(came)[1],
            lambda came: message(lines.stage(came)[2]),
        ),
    ),
    Kind(
        trace.LeaderElection,
        gettext_noop("Leader election"),
        records.leader_election,
        Line(
            lambda said, standing: lines.election(said)[0],
            lambda said, standing: lines.election(said)[1],
            lambda said: message(lines.election(said)[2], leader=said.leader.rpartition("_")[0] or said.leader or "–"),
        ),
    ),
    Kind(
        trace.SchedulerStarted,
        gettext_noop("Scheduler"),
        records.scheduler_started,
        Line(
            PROCESS,
            PROCESS,
            lambda started: message(gettext_noop("New: profiles %(names)s"), names=", ".join(started.profiles)),
        ),
        telling=False,
    ),
)
"""One for each kind, the most telling first."""

BY_KIND: dict[str, Kind[Any]] = {kind.facts.KIND: kind for kind in RECORD_KINDS}
RANK = {kind.facts.KIND: rank for rank, kind in enumerate(RECORD_KINDS) if kind.telling}
