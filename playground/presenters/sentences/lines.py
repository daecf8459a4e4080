"""The lines of a sequence diagram: sender, receiver, and call for each kind of record (kinds.py has the table).

records.py has the same records as sentences. Calls have the names of kube-scheduler.

kube: pkg/scheduler/schedule_one.go, pkg/scheduler/scheduler.go, cmd/kube-scheduler/app/server.go @ v1.34.1
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from playground.common.catalogs import read_yaml
from playground.presenters.scene import short
from playground.presenters.words import Message, brief, exactly, gettext_noop, match_text, message
from scheduler_core.base.trace import kinds as trace
from scheduler_core.world.readonly import ATTEMPT_FAILED, BACKOFF_COMPLETE, Point

# The forms of clauses.
WORDS = Path(__file__).with_name("deeds.yaml")
MIGRATIONS = Path(__file__).with_name("migrations.yaml")
BOTH = gettext_noop("%(first)s; %(rest)s")
_MORE = gettext_noop("and %(more)s more like these")
MOST_ALIKE = 3  # clauses of one form listed one by one


def describe_deeds(did: str) -> Message:
    """Describe the actions of a controller, clause by clause."""
    clauses = list[Message]()
    for _form, same in groupby((_describe_by(WORDS, each) for each in did.split("; ")), lambda one: one.get("text")):
        alike = list(same)
        clauses += alike if len(alike) <= MOST_ALIKE else [alike[0], message(_MORE, more=len(alike) - 1)]
    return reduce(lambda rest, first: message(BOTH, first=first, rest=rest), clauses[-2::-1], clauses[-1])


def describe_key(key: str) -> Message:
    """Return the display name of a controller's work-queue key: an object, or all nodes at once."""
    return message(key) if key in read_yaml(WORDS)["keys"] else exactly(short(key))


def describe_cause(cause: str) -> Message | str:
    """Return the cause of a pod's move. Events keep kube's names."""
    return message(cause) if cause in read_yaml(WORDS)["causes"] else cause


def describe_migration(note: str) -> Message:
    """Return a note about the conversion of a configuration, or about a plugin that is not modeled."""
    return _describe_by(MIGRATIONS, note)


def _describe_by(words: Path, clause: str) -> Message:
    if (found := match_text(read_yaml(words)["forms"], clause)) is None:
        return exactly(clause)
    form, values = found
    nested = {name: _describe_by(words, value) for name, value in values.items() if name in ("why", "what")}
    return message(form, **values | nested)


# The lifelines of a sequence diagram, in their order.

USER = "user"
API = "api"
CONTROLLERS = "controllers"
HANDLERS = "handlers"
QUEUE = "queue"
CYCLE = "cycle"
PLUGINS = "plugins"
CACHE = "cache"
BINDING = "binding"
KUBELET = "kubelet"
PROCESS = "process"
ELECTOR = "elector"

TITLES = {
    USER: (gettext_noop("User"), "kubectl"),
    API: (gettext_noop("API server"), gettext_noop("store and watch")),
    CONTROLLERS: (gettext_noop("Controllers"), gettext_noop("workloads, nodes …")),
    HANDLERS: (gettext_noop("Informers"), gettext_noop("event handlers")),
    QUEUE: (gettext_noop("Queue"), gettext_noop("pods to schedule")),
    CYCLE: (gettext_noop("Scheduling"), gettext_noop("cycle: one pod")),
    PLUGINS: (gettext_noop("Plugins"), gettext_noop("framework")),
    CACHE: (gettext_noop("Cache"), gettext_noop("nodes with pods")),
    BINDING: (gettext_noop("Binding"), gettext_noop("cycle, API calls")),
    KUBELET: (gettext_noop("Kubelet"), gettext_noop("on the node")),
    PROCESS: (gettext_noop("Process"), "kube-scheduler"),
    ELECTOR: (gettext_noop("Elector"), gettext_noop("leader election")),
}
OF_A_POD = (USER, API, CONTROLLERS, HANDLERS, QUEUE, CYCLE, PLUGINS, CACHE, BINDING, KUBELET)
OF_A_START = (USER, PROCESS, HANDLERS, ELECTOR, API, QUEUE, CYCLE)


F = TypeVar("F", bound=trace.Facts)


class RecordContext(NamedTuple):
    """The context that a record lacks: its lifeline for the pod's cycle, and whether the diagram shows a scheduler's start."""

    cycle: str = CYCLE
    start_up: bool = False


Who = str | Callable[[F, RecordContext], str]


@dataclass(frozen=True, slots=True)
class Line(Generic[F]):
    """An arrow between two lifelines, or a note if both are the same. `answer` is an arrow back."""

    source: Who[F]
    target: Who[F]
    words: Callable[[F], Message]
    answer: Callable[[F], Message | None] = lambda facts: None


def fill_text(text: str, **values: str | Callable[[Any], object]) -> Callable[[Any], Message]:
    """Return a function that fills a text with fields of the facts, or as `values` defines. It shortens the pod's name."""
    return lambda facts: message(text, **{name: _value(facts, values.get(name, name)) for name in _NAMES.findall(text)})


def choose(field: str, texts: Mapping[str, str], **values: str | Callable[[Any], object]) -> Callable[[Any], Message]:
    """Return a function that fills one of several texts, selected by a field; `otherwise` is for all other values."""
    return lambda facts: fill_text(texts.get(getattr(facts, field), texts["otherwise"]), **values)(facts)


_NAMES = re.compile(r"%\((\w+)\)s")


def _value(facts: trace.Facts, source: str | Callable[[Any], object]) -> object:
    if not isinstance(source, str):
        return source(facts)
    value = getattr(facts, source)
    return short(value) if source == "pod" else describe_cause(value) if source == "cause" else value


# Outside of the scheduler

EXACT = {"DeleteObjects": "DELETE", "PatchObject": "PATCH", "DrainNode": "kubectl drain"}
_POINTS = {
    Point.QUEUE_SORT: "Less",
    Point.EXTENDER_FILTER: "findNodesThatPassExtenders",
    Point.EXTENDER_PREEMPT: "callExtenders",
    Point.EXTENDER_PRIORITIZE: "Prioritize",
    Point.EXTENDER_BIND: "extendersBinding",
    Point.RESERVE: "RunReservePluginsReserve",
    Point.UNRESERVE: "RunReservePluginsUnreserve",
}


def kubelets(controller: str) -> bool:
    return controller in ("kubelet", "allocation-manager", "eviction-manager", "out-of-memory-killer")


def reporter(event: trace.EventRecorded, standing: RecordContext) -> str:
    if standing.start_up:
        return ELECTOR
    if kubelets(event.reporter):
        return KUBELET
    return CONTROLLERS if event.reporter.endswith("controller") else standing.cycle


def describe_reconcile(done: trace.Reconciled) -> Message:
    return describe_deeds(brief(done.did)) if done.did else message("nothing to do")


# The queue


def moves_from(moved: trace.QueueMoved, standing: RecordContext) -> str:
    if moved.cause == ATTEMPT_FAILED:
        return standing.cycle
    return HANDLERS if not moved.came_from or moved.event else QUEUE


def moves_to(moved: trace.QueueMoved, standing: RecordContext) -> str:
    return CYCLE if moved.cause == "popped" else QUEUE


def describe_queue_move(moved: trace.QueueMoved) -> Message:
    if moved.cause == "popped":
        return message("Pop: %(pod)s", pod=short(moved.pod))
    if moved.cause == ATTEMPT_FAILED:
        return message("AddUnschedulableIfNotPresent: %(place)s", place=moved.to)
    if moved.cause == BACKOFF_COMPLETE:
        return message("backoff over: %(place)s", place=moved.to)
    if moved.to == "binding":
        return message("leaves the queue")
    if not moved.came_from:
        return message("Add: %(place)s", place=moved.to)
    return message("%(cause)s: %(place)s", cause=describe_cause(moved.cause), place=moved.to)


# Cycles


def asks(asked: trace.PointStarted | trace.PluginRan, standing: RecordContext) -> str:
    return QUEUE if asked.point in (Point.PRE_ENQUEUE, Point.QUEUE_SORT) else standing.cycle


def point(started: trace.PointStarted) -> Message:
    return exactly(_POINTS.get(Point(started.point), f"Run{started.point}Plugins"))


def plugin_to(ran: trace.PluginRan, standing: RecordContext) -> str:
    """Return the target of an answer: the caller for a refusal; the plugins themselves, as a note, if the pod passes."""
    return PLUGINS if (ran.status["code"] in ("Success", "Skip") and (not ran.refusals)) else asks(ran, standing)


def plugin(ran: trace.PluginRan) -> Message:
    if ran.refusals:
        return message("%(plugin)s refuses %(k)s of %(n)s nodes", plugin=ran.plugin, k=ran.refusals, n=ran.evaluated)
    return exactly(f"{ran.plugin}: {ran.status['code']}")


def attempt_ended(ended: trace.AttemptEnded) -> Message:
    if ended.outcome == "scheduled":
        return message("%(node)s selected", node=ended.node)
    return exactly(ended.message)


def binding_to(ended: trace.BindingEnded, standing: RecordContext) -> str:
    return CACHE if ended.outcome == "bound" else BINDING


def call(call: trace.ApiCall) -> Message:
    if call.verb == "BIND":
        return message("POST binding: %(pod)s → %(node)s", pod=short(call.pod), node=call.node)
    if call.status:
        return message("PATCH status of %(pod)s: %(fields)s", pod=short(call.pod), fields=", ".join(call.status))
    if call.pod and call.kind:
        return exactly(f"{call.verb} {call.kind} {short(call.object)}")
    return exactly(f"{call.verb} {short(call.pod or call.object)}")


def answer(call: trace.ApiCall) -> Message | None:
    if call.fault or call.error:
        return exactly(call.fault or call.error)
    return exactly("201 Created") if call.verb == "BIND" else None


def evicts(started: trace.PreemptionStarted) -> Message:
    victims = ", ".join(short(victim) for victim in started.victims)
    return message("prepareCandidate on %(node)s: %(victims)s", node=started.node, victims=victims)


# A scheduler's start

_STAGES: dict[str, tuple[str, str, str]] = {
    "starting": (PROCESS, HANDLERS, gettext_noop("start: list and watch every kind")),
    "listed": (HANDLERS, PROCESS, gettext_noop("WaitForCacheSync: all have synced")),
    "standby": (PROCESS, ELECTOR, gettext_noop("LeaderElector.Run: tries every retryPeriod")),
    "working": (PROCESS, QUEUE, gettext_noop("Run: the scheduling loop begins")),
    "ending": (USER, PROCESS, gettext_noop("SIGTERM: no new cycles")),
    "ended": (PROCESS, PROCESS, gettext_noop("exited")),
}
_ELECTION: dict[str, tuple[str, str, str]] = {
    "acquired": (ELECTOR, API, gettext_noop("acquires the Lease")),
    "renewed": (ELECTOR, API, gettext_noop("renews the Lease again")),
    "not renewed": (ELECTOR, API, gettext_noop("can't renew the Lease, will retry")),
    "lost": (ELECTOR, PROCESS, gettext_noop("renewDeadline passed: the Lease is lost")),
    "released": (ELECTOR, API, gettext_noop("releases the Lease")),
    "not released": (ELECTOR, API, gettext_noop("can't release the Lease")),
    "OnNewLeader": (API, ELECTOR, gettext_noop("OnNewLeader: %(leader)s")),
    "OnStartedLeading": (ELECTOR, PROCESS, "OnStartedLeading"),
    "OnStoppedLeading": (ELECTOR, PROCESS, "OnStoppedLeading"),
}
_OTHER = (PROCESS, PROCESS, gettext_noop("enters another stage"))


def stage(came: trace.SchedulerStage) -> tuple[str, str, str]:
    return _STAGES.get(came.stage, _OTHER)


def election(said: trace.LeaderElection) -> tuple[str, str, str]:
    return _ELECTION.get(said.what, _OTHER)
