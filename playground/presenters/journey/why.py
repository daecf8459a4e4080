"""A pod's place and the reason for it, as one sentence."""

from collections.abc import Callable
from typing import Any, TypedDict

from playground.presenters.scene import binding_of, last_attempt
from playground.presenters.words import Message, clock, duration, message
from scheduler_core.world import readonly


class JourneyWhy(TypedDict):
    """`message` is kube's text of a failed attempt. `wakes`: the events that may make an unschedulable pod schedulable."""

    sentence: Message
    message: str
    wakes: "list[Wake]"


def why(sim: readonly.WorldView, key: str, move: readonly.Move) -> JourneyWhy:
    waiting = ((scheduler, entry) for scheduler in sim.schedulers if (entry := scheduler.queue.find(key)) is not None)
    scheduler, entry = next(waiting, (None, None))
    sentence = _SENTENCES.get(move.place, _SENTENCES[readonly.Place.DELETED])(sim, key, move, entry)
    out: JourneyWhy = {"sentence": sentence, "message": "", "wakes": []}
    attempt = last_attempt(sim, key)
    if move.place in (readonly.Place.UNSCHEDULABLE, readonly.Place.BACKOFF) and attempt is not None:
        out["message"] = _last_message(sim, key) or attempt.message
    if move.place == readonly.Place.UNSCHEDULABLE and scheduler is not None and entry is not None:
        out["wakes"] = _wakes(scheduler, entry)
    return out


def _last_message(sim: readonly.WorldView, key: str) -> str:
    """Return the last FailedScheduling message. This also covers a failed binding, which no attempt's summary does."""
    namespace, _, name = key.partition("/")
    for event in reversed(sim.store.events):
        if event.name == name and event.namespace == namespace and event.reason == "FailedScheduling":
            return str(event.message)
    return ""


class Wake(TypedDict):
    plugin: Any
    events: Any


def _wakes(scheduler: readonly.SchedulerView, entry: readonly.QueuedPod) -> list[Wake]:
    """Return, for each plugin that refused the pod, the events that it registered for."""
    framework = scheduler.framework_of(entry.pod)
    out: list[Wake] = []
    for name in entry.rejectors:
        plugin = framework.plugin(name) if framework is not None else None
        if plugin is not None:
            heard = [
                f"{on.resource.rpartition('/')[2]}: {_actions(on.action)}" for on in readonly.list_registrations(plugin)
            ]
            out.append({"plugin": name, "events": heard})
        elif name == readonly.EXTENDER_NAME:
            out.append({"plugin": name, "events": ["*"]})
    return out


def _actions(action: readonly.Action) -> str:
    if action in (readonly.Action.ALL, readonly.Action.UPDATE):
        return readonly.action_name(action)
    return ", ".join(readonly.action_name(part) for part in action)


def _active(sim: readonly.WorldView, key: str, move: readonly.Move, entry: readonly.QueuedPod | None) -> Message:
    ahead = 0
    for scheduler in sim.schedulers:
        for i, other in enumerate(scheduler.queue.active()):
            if other.key == key:
                ahead = i
    if ahead:
        return message("The pod waits in the active queue. Pods ahead: %(n)s.", n=ahead)
    return message("The pod is next in the active queue.")


def _backoff(sim: readonly.WorldView, key: str, move: readonly.Move, entry: readonly.QueuedPod | None) -> Message:
    if entry is None or entry.backoff_until is None:
        return message("The pod backs off.")
    return message(
        "The pod backs off until %(until)s, %(left)s from now. Failures in a row: %(n)s.",
        until=clock(entry.backoff_until),
        left=duration(max(entry.backoff_until - sim.now, 0)),
        n=entry.error_count or entry.unschedulable_count,
    )


def _unschedulable(sim: readonly.WorldView, key: str, move: readonly.Move, entry: readonly.QueuedPod | None) -> Message:
    if entry is None or not entry.rejectors:
        return message("The pod waits for an event that may help.")
    return message(
        "Refused by %(plugin)s. The pod waits for an event that may help, or for the timeout after %(limit)s.",
        plugin=", ".join(entry.rejectors),
        limit=clock(entry.timestamp + sim.settings.max_in_unschedulable),
    )


def _explain_gated(sim: readonly.WorldView, key: str, move: readonly.Move, entry: readonly.QueuedPod | None) -> Message:
    if entry is None:
        return message("A PreEnqueue plugin holds the pod.")
    gates = entry.pod.spec.scheduling_gates
    if gates:
        return message(
            "%(plugin)s holds the pod until these gates are removed: %(name)s.",
            plugin=entry.gated_by,
            name=", ".join(gates),
        )
    if entry.gated_by == "DefaultPreemption":
        return message(
            "%(plugin)s holds the pod until the eviction of every victim is requested.", plugin=entry.gated_by
        )
    return message("%(plugin)s holds the pod.", plugin=entry.gated_by)


def _in_flight(sim: readonly.WorldView, key: str, move: readonly.Move, entry: readonly.QueuedPod | None) -> Message:
    for scheduler in sim.schedulers:
        cycle = scheduler.cycle
        if cycle is not None and cycle.pod.key == key and cycle.ended is None:
            return message("The scheduling cycle of the pod runs. Next: %(phase)s.", phase=str(cycle.phase))
    return message("The pod was popped, and its attempt is still in progress.")


def _waiting(sim: readonly.WorldView, key: str, move: readonly.Move, entry: readonly.QueuedPod | None) -> Message:
    binding = binding_of(sim, key)
    if binding is None or not binding.waiting:
        return message("The wait on Permit is over.")
    return message(
        "The pod is assumed on %(node)s and waits on Permit for %(plugin)s, until %(until)s at the latest.",
        node=binding.node,
        plugin=", ".join(sorted(binding.waiting)),
        until=clock(min(binding.waiting.values())),
    )


def _binding_now(sim: readonly.WorldView, key: str, move: readonly.Move, entry: readonly.QueuedPod | None) -> Message:
    binding = binding_of(sim, key)
    if binding is None:
        return message("The pod is being bound.")
    return message(
        "The pod is assumed on %(node)s. Its binding cycle runs: %(phase)s.",
        node=binding.node,
        phase=str(binding.phase),
    )


def _explain_ignored(
    sim: readonly.WorldView, key: str, move: readonly.Move, entry: readonly.QueuedPod | None
) -> Message:
    return message(
        "The pod names the scheduler %(name)s, but the profiles here are %(plugin)s. The pod stays Pending.",
        name=move.cause,
        plugin=", ".join(sorted(name for scheduler in sim.schedulers for name in scheduler.profiles)),
    )


_Sentence = Callable[[readonly.WorldView, str, readonly.Move, readonly.QueuedPod | None], Message]
_SENTENCES: dict[str, _Sentence] = {
    readonly.Place.ACTIVE: _active,
    readonly.Place.BACKOFF: _backoff,
    readonly.Place.UNSCHEDULABLE: _unschedulable,
    readonly.Place.GATED: _explain_gated,
    readonly.Place.IN_FLIGHT: _in_flight,
    readonly.Place.WAITING: _waiting,
    readonly.Place.BINDING: _binding_now,
    readonly.Place.BOUND: lambda sim, key, move, entry: message(
        "The pod is bound to %(node)s. The kubelet of the node starts the pod.", node=move.cause
    ),
    readonly.Place.RUNNING: lambda sim, key, move, entry: message(
        "The pod runs on %(node)s.", node=getattr(sim.store.pod_at(key), "node_name", "")
    ),
    readonly.Place.IGNORED: _explain_ignored,
    readonly.Place.DELETED: lambda sim, key, move, entry: message("The pod no longer exists."),
}
