"""The table of record kinds with their texts: a sentence, and a line of a sequence diagram."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypedDict, TypeVar

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
    choose,
    fill_text,
)
from playground.presenters.sentences.records import WORDS, of_step
from playground.presenters.words import Message, duration, exactly, gettext_noop, message
from scheduler_core.base.trace import kinds as trace
from scheduler_core.world.readonly import Record, StepFacts

F = TypeVar("F", bound=trace.Facts)


@dataclass(frozen=True, slots=True)
class Kind(Generic[F]):
    """The texts for records of a kind: a sentence with its `head`, and a line of a sequence diagram.

    A kind that is not `telling` never represents a whole step.
    """

    facts: type[F]
    head: str | Callable[[F], str]
    describe: Callable[[F], Message]
    line: Line[F]
    telling: bool = True


class RecordLine(TypedDict):
    """A record for display. `head` is the extension point, or the kind of record; `sentence` describes it."""

    head: str
    sentence: Message | None


class Row(RecordLine):
    """`no` marks refusals and failures."""

    kind: str
    no: bool


_FAILED = ("unschedulable", "error", "failed")


def of_facts(facts: trace.Facts) -> RecordLine:
    """Return the `head`, the extension point or the kind of record, and the `sentence` that describes it."""
    kind = BY_KIND[facts.KIND]
    head = kind.head if isinstance(kind.head, str) else kind.head(facts)
    return {"head": head, "sentence": kind.describe(facts)}


def row(record: Record) -> Row:
    """Return a record as a row of a list. `no` marks refusals and failures."""
    source = record.source
    if isinstance(source, StepFacts) and source.nodes is not None:
        step = source.step
        return {
            "kind": record.kind,
            "head": f"{step.point} · {step.plugin}",
            "sentence": of_step(step, short(source.pod)),
            "no": bool(step.refused) or step.status.code.kube_name not in records.FINE,
        }
    return {"kind": record.kind, **of_facts(record.facts), "no": _has_failed(record.facts)}


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
        choose("outcome", WORDS["records"]["attempts"]),
        Line(CYCLE, CYCLE, lines.attempt_ended),
    ),
    Kind(
        trace.BindingEnded,
        gettext_noop("The binding cycle ends"),
        choose("outcome", WORDS["records"]["bindings"]),
        Line(BINDING, lines.binding_to, choose("outcome", WORDS["lines"]["bindings"])),
    ),
    Kind(
        trace.NodeSelected,
        gettext_noop("Select"),
        records.node_selected,
        Line(CYCLE, CYCLE, fill_text("selectHost: %(node)s")),
    ),
    Kind(
        trace.AttemptStarted,
        gettext_noop("A scheduling cycle begins"),
        fill_text("The scheduler pops %(pod)s from the active queue. The cycle uses a snapshot taken now."),
        Line(CYCLE, CACHE, fill_text("UpdateSnapshot: nodes: %(n)s", n="nodes")),
    ),
    Kind(
        trace.BindingStarted,
        gettext_noop("A binding cycle begins"),
        fill_text("The binding cycle of %(pod)s to %(node)s begins, in parallel with the scheduling of other pods."),
        Line(CYCLE, BINDING, fill_text("go: the binding cycle")),
    ),
    Kind(
        trace.WaitEnded,
        gettext_noop("WaitOnPermit"),
        fill_text("%(pod)s no longer waits on Permit."),
        Line(PLUGINS, BINDING, fill_text("WaitOnPermit: %(code)s", code=lambda ended: ended.status["code"])),
    ),
    Kind(
        trace.WaitDecided,
        gettext_noop("Permit"),
        choose("decision", WORDS["records"]["decisions"], plugin=lambda said: said.plugin or "–", why="message"),
        Line(
            PLUGINS,
            BINDING,
            fill_text(
                "%(decision)s by %(plugin)s",
                decision=lambda said: said.decision.capitalize(),
                plugin=lambda said: said.plugin or "–",
            ),
        ),
    ),
    Kind(
        trace.PodWaits,
        gettext_noop("Permit"),
        fill_text("%(pod)s waits on Permit."),
        Line(PLUGINS, CYCLE, fill_text("Wait: the pod waits on Permit")),
    ),
    Kind(
        trace.ExtenderAsked,
        gettext_noop("Extender"),
        choose("verb", WORDS["records"]["asked"], n="nodes"),
        Line(lambda asked, standing: standing.cycle, PLUGINS, lambda asked: exactly(f"POST {asked.url}")),
    ),
    Kind(
        trace.PodAssumed,
        gettext_noop("Assume"),
        fill_text(
            "%(pod)s is assumed on %(node)s: the cache counts its requests before the API server confirms the binding."
        ),
        Line(CYCLE, CACHE, fill_text("AssumePod on %(node)s")),
    ),
    Kind(
        trace.PodForgotten,
        gettext_noop("Forget"),
        fill_text("The cache forgets %(pod)s. Its requests no longer count as used."),
        Line(
            lambda forgotten, standing: CACHE if forgotten.cause else standing.cycle,
            CACHE,
            fill_text("ForgetPod: the requests of the pod no longer count as used"),
        ),
    ),
    Kind(
        trace.WatchEventHeard,
        gettext_noop("Informer"),
        fill_text(
            "The scheduler's informer delivers %(kind)s %(name)s: %(change)s.", change=lambda heard: heard.type.lower()
        ),
        Line(HANDLERS, HANDLERS, lambda heard: exactly(f"{heard.type} {heard.kind} {heard.name}")),
    ),
    Kind(
        trace.TimerFired,
        gettext_noop("Queue timer"),  # a flush of the queue (kube: scheduling_queue.go, Run @ v1.34.1)
        lambda fired: message(WORDS["records"]["timers"].get(fired.timer, fired.timer)),
        Line(QUEUE, QUEUE, lambda fired: exactly(fired.timer)),
    ),
    Kind(
        trace.CommandApplied,
        gettext_noop("Cluster change"),
        records.command,
        Line(
            USER,
            lambda command, standing: PROCESS if standing.start_up else API,
            lambda command: message(
                lines.EXACT.get(command.kind) or WORDS["lines"]["commands"].get(command.kind, command.kind)
            ),
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
        choose("type", WORDS["records"]["changes"]),
        Line(
            API,
            lambda changed, standing: API if standing.start_up else HANDLERS,
            lambda changed: exactly(f"{changed.type} {changed.kind} {changed.name}"),
        ),
    ),
    Kind(
        trace.QueueMoved,
        gettext_noop("Queue"),
        choose("to", WORDS["records"]["places"], place="to"),
        Line(lines.moves_from, lines.moves_to, lines.describe_queue_move),
    ),
    Kind(trace.ApiCall, gettext_noop("API call"), records.api_call, Line(BINDING, API, lines.call, lines.answer)),
    Kind(
        trace.ApiThrottled,
        gettext_noop("API client"),
        fill_text(
            "the API client delays a call for %(pod)s by %(time)s, to stay within its rate limit",
            time=lambda held: duration(held.wait),
        ),
        Line(BINDING, BINDING, fill_text("the client waits %(time)s", time=lambda held: duration(held.wait))),
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
        fill_text("%(pod)s %(reason)s: %(message)s", pod=lambda event: short(f"{event.namespace}/{event.name}")),
        Line(lines.reporter, API, fill_text("Event %(reason)s")),
        telling=False,
    ),
    Kind(
        trace.PointStarted,
        lambda started: started.point,
        fill_text("begins for %(pod)s"),
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
        choose("stage", WORDS["records"]["stages"], name=lambda came: records.get_host(came.identity)),
        Line(
            lambda came, standing: lines.stage(came)[0],
            lambda came, standing: lines.stage(came)[1],
            lambda came: message(lines.stage(came)[2]),
        ),
    ),
    Kind(
        trace.LeaderElection,
        gettext_noop("Leader election"),
        choose(
            "what",
            WORDS["records"]["election"],
            name=lambda said: records.get_host(said.identity),
            leader=lambda said: records.get_host(said.leader) or "–",
        ),
        Line(
            lambda said, standing: lines.election(said)[0],
            lambda said, standing: lines.election(said)[1],
            lambda said: message(lines.election(said)[2], leader=records.get_host(said.leader) or "–"),
        ),
    ),
    Kind(
        trace.SchedulerStarted,
        gettext_noop("Scheduler"),
        fill_text("starts with the profiles %(names)s", names=lambda started: ", ".join(started.profiles)),
        Line(PROCESS, PROCESS, fill_text("New: profiles %(names)s", names=lambda started: ", ".join(started.profiles))),
        telling=False,
    ),
)
"""One for each kind, the most telling first."""

BY_KIND: dict[str, Kind[Any]] = {kind.facts.KIND: kind for kind in RECORD_KINDS}
RANK = {kind.facts.KIND: rank for rank, kind in enumerate(RECORD_KINDS) if kind.telling}
