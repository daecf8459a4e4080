"""The sentences of records, which say what happened (kinds.py has the table), and of a plugin's answer."""

from pathlib import Path
from typing import TypeVar

from playground.common.catalogs import read_yaml
from playground.presenters.amounts import duration, thousands
from playground.presenters.scene import short
from playground.presenters.sentences.lines import describe_deeds
from playground.presenters.words import Message, brief, gettext_noop, message
from scheduler_core.base.trace import kinds as facts
from scheduler_core.world.readonly import Code, CycleView, Evidence, PluginStep, Point, ProfileView


def of_step(step: PluginStep, pod: str, seen: int = 0) -> Message:
    """Describe a plugin's answer; `pod` is the pod's display name, `seen` the number of nodes that count for Filter (0: not known)."""
    plugin = step.plugin
    if step.skipped:
        return message(gettext_noop("%(plugin)s returns Skip: it is not relevant to %(pod)s."), plugin=plugin, pod=pod)
    if step.point is Point.FILTER or (step.point is Point.EXTENDER_FILTER and step.status.ok):
        return _of_filter(step, pod, seen)
    reason = step.status.message
    if step.point in _OF_EXTENDERS and not step.status.ok:
        text = gettext_noop("%(plugin)s fails for %(pod)s: %(reason)s")
        return message(text, plugin=plugin, pod=pod, reason=reason)
    if step.status.code is Code.WAIT:
        text = gettext_noop("%(plugin)s makes %(pod)s wait on Permit, at most %(time)s.")
        return message(text, plugin=plugin, pod=pod, time=duration(step.timeout))
    if not step.status.ok:
        text = gettext_noop("%(plugin)s refuses %(pod)s: %(reason)s")
        return message(text, plugin=plugin, pod=pod, reason=reason)
    if step.scores is not None and len(step.scores):
        scores = step.scores
        low, high, n = int(scores.min()), int(scores.max()), thousands(len(scores))
        if low == high:
            text = gettext_noop("%(plugin)s gives each of %(n)s nodes the score %(high)s for %(pod)s.")
            return message(text, plugin=plugin, pod=pod, n=n, high=high)
        text = gettext_noop("%(plugin)s scores %(n)s nodes for %(pod)s, from %(low)s to %(high)s.")
        return message(text, plugin=plugin, pod=pod, n=n, low=low, high=high)
    if step.point is Point.POST_FILTER and step.evidence is not None and step.evidence.nominated:
        return _of_preemption(step.evidence, pod)
    return message(_SUCCESS.get(step.point, gettext_noop("%(pod)s passes %(plugin)s.")), plugin=plugin, pod=pod)


_OF_EXTENDERS = (Point.EXTENDER_FILTER, Point.EXTENDER_PREEMPT, Point.EXTENDER_PRIORITIZE, Point.EXTENDER_BIND)
_SUCCESS = {
    Point.EXTENDER_PREEMPT: gettext_noop("%(plugin)s has checked the victims for %(pod)s."),
    Point.EXTENDER_PRIORITIZE: gettext_noop("%(plugin)s scores no node for %(pod)s."),
    Point.EXTENDER_BIND: gettext_noop("%(plugin)s has bound %(pod)s to its node."),
    Point.PRE_FILTER: gettext_noop("%(plugin)s precomputes for %(pod)s what its Filter needs on each node."),
    Point.PRE_SCORE: gettext_noop("%(plugin)s precomputes for %(pod)s what its Score needs on each node."),
    Point.RESERVE: gettext_noop("%(plugin)s has run Reserve for %(pod)s."),
    Point.UNRESERVE: gettext_noop("%(plugin)s has run Unreserve for %(pod)s."),
    Point.PERMIT: gettext_noop("%(plugin)s permits %(pod)s."),
    Point.PRE_BIND: gettext_noop("%(plugin)s has run PreBind for %(pod)s."),
    Point.BIND: gettext_noop("%(plugin)s asks the API server to bind %(pod)s to its node."),
    Point.POST_BIND: gettext_noop("%(plugin)s learns that %(pod)s is bound."),
    Point.POST_FILTER: gettext_noop(
        "%(plugin)s looks for nodes where preempting pods of lower priority would make %(pod)s fit."
    ),
}

_IDLE = {
    Point.RESERVE: gettext_noop("%(plugin)s has nothing to reserve for %(pod)s."),
    Point.UNRESERVE: gettext_noop("%(plugin)s has nothing to release for %(pod)s."),
    Point.PERMIT: gettext_noop("%(plugin)s has no condition for %(pod)s to wait for."),
    Point.PRE_BIND: gettext_noop("%(plugin)s has nothing to prepare for %(pod)s."),
}
_BUSY = {
    Point.RESERVE: gettext_noop("%(plugin)s reserves on the node what %(pod)s needs."),
    Point.UNRESERVE: gettext_noop("%(plugin)s releases what was reserved for %(pod)s."),
    Point.PRE_BIND: gettext_noop("%(plugin)s prepares the binding of %(pod)s."),
}


def of_late_step(step: PluginStep, cycle: CycleView, framework: ProfileView, seen: int = 0) -> Message:
    """Describe an answer to a pod that has a node: many plugins have nothing to do for it."""
    plugin, pod = framework.plugin(step.plugin), short(cycle.pod.key)
    idle = plugin is not None and plugin.is_idle(step.point, cycle.state, cycle.pod)
    text = (_IDLE if idle else _BUSY).get(step.point)
    return message(text, plugin=step.plugin, pod=pod) if text and step.status.ok else of_step(step, pod, seen)


def of_preparation(point: Point, cycle: CycleView, framework: ProfileView) -> Message:
    """Describe PreFilter or PreScore once all of its plugins have answered."""
    working = [step.plugin for step in cycle.steps if step.point is point and not step.skipped]
    values = {"n": len(working), "of": len(framework.at(point)), "pod": short(cycle.pod.key)}
    if not working:
        return message(gettext_noop("None of %(of)s plugins has anything to prepare for %(pod)s."), **values)
    return message(gettext_noop("%(n)s of %(of)s plugins prepare data for %(pod)s."), **values)


def _of_preemption(evidence: Evidence, pod: str) -> Message:
    """Describe a nomination: the nominated pod, its node, and the victims."""
    victims = [short(victim.key) for c in evidence.candidates if c.node == evidence.nominated for victim in c.victims]
    if len(victims) == 1:
        text = gettext_noop("%(pod)s is nominated to %(node)s: preempting %(victim)s makes room.")
        return message(text, pod=pod, node=evidence.nominated, victim=victims[0])
    text = gettext_noop("%(pod)s is nominated to %(node)s: preempting %(n)s pods makes room.")
    return message(text, pod=pod, node=evidence.nominated, n=thousands(len(victims)))


def _of_filter(step: PluginStep, pod: str, seen: int) -> Message:
    """Describe Filter's calls: those of kube's parallel workers go past the nodes that Filter has found to be enough."""
    counted = seen or step.evaluated
    named = {"plugin": step.plugin, "pod": pod}
    if not step.refused and step.evaluated == 1:
        return message(gettext_noop("%(plugin)s passes the last remaining node for %(pod)s."), **named)
    if not step.refused:
        text = gettext_noop("%(plugin)s passes all %(n)s nodes for %(pod)s.")
        return message(text, **named, n=thousands(min(counted, step.evaluated)))
    reason = _first_reason(step)
    if counted < step.evaluated:
        text = gettext_noop(
            "%(plugin)s makes %(k)s refusals in %(n)s calls for %(pod)s, and the first %(counted)s nodes count: %(reason)s"
        )
        return message(
            text,
            **named,
            k=thousands(step.refused),
            n=thousands(step.evaluated),
            counted=thousands(counted),
            reason=reason,
        )
    if step.evaluated == step.refused == 1:
        text = gettext_noop("%(plugin)s refuses the last node for %(pod)s: %(reason)s")
        return message(text, **named, reason=reason)
    return message(
        gettext_noop("%(plugin)s refuses %(k)s of %(n)s nodes for %(pod)s: %(reason)s"),
        **named,
        k=thousands(step.refused),
        n=thousands(step.evaluated),
        reason=reason,
    )


def _first_reason(step: PluginStep) -> str:
    first = None if step.verdicts is None else step.verdicts.first()
    if step.verdicts is None or first is None:
        return step.status.message
    return first.message + (" …" if len(step.verdicts.counted()) > 1 else "")


WORDS, CLAIMS = (read_yaml(Path(__file__).with_suffix(".yaml"))[part] for part in ("records", "claims"))

F = TypeVar("F", bound=facts.Facts)
_ANY = gettext_noop("%(claim)s for %(pod)s: %(effects)s")
_ANY_FAILED = gettext_noop("%(claim)s for %(pod)s, %(effects)s, fails: %(message)s")
FINE = (Code.SUCCESS.kube_name, Code.SKIP.kube_name, Code.WAIT.kube_name)


def attempt_ended(ended: facts.AttemptEnded) -> Message:
    pod = short(ended.pod)
    if ended.outcome == "scheduled":
        text = gettext_noop("%(pod)s is assumed on %(node)s. Its binding cycle is next.")
        return message(text, pod=pod, node=ended.node)
    if ended.outcome == "unschedulable":
        text = gettext_noop("%(pod)s is unschedulable: %(message)s")
    else:
        text = gettext_noop("%(pod)s is not scheduled because of an error: %(message)s")
    return message(text, pod=pod, message=ended.message)


def binding_ended(ended: facts.BindingEnded) -> Message:
    pod, node = short(ended.pod), ended.node
    if ended.outcome == "bound":
        return message(gettext_noop("%(pod)s is bound to %(node)s."), pod=pod, node=node)
    return message(
        gettext_noop("%(pod)s is not bound to %(node)s: %(message)s"), pod=pod, node=node, message=ended.message
    )


def node_selected(selected: facts.NodeSelected) -> Message:
    node, pod = selected.node, short(selected.pod)
    if len(selected.tied) > 1:
        return message(
            gettext_noop("%(n)s nodes share the highest total score for %(pod)s. %(node)s is picked at random."),
            n=len(selected.tied),
            pod=pod,
            node=node,
        )
    return message(gettext_noop("%(node)s has the highest total score for %(pod)s."), node=node, pod=pod)


def attempt_started(started: facts.AttemptStarted) -> Message:
    text = gettext_noop(
        "%(pod)s is popped from the active queue. Its cycle works on a snapshot of the cluster taken now."
    )
    return message(text, pod=short(started.pod))


def binding_started(started: facts.BindingStarted) -> Message:
    text = gettext_noop(
        "The binding cycle of %(pod)s to %(node)s begins, in parallel with the scheduling of other pods."
    )
    return message(text, pod=short(started.pod), node=started.node)


def wait_ended(ended: facts.WaitEnded) -> Message:
    return message(gettext_noop("%(pod)s no longer waits on Permit."), pod=short(ended.pod))


def wait_decided(decided: facts.WaitDecided) -> Message:
    if decided.decision == "allow":
        text = gettext_noop("%(plugin)s allows %(pod)s, which waits on Permit.")
    else:
        text = gettext_noop("%(plugin)s rejects %(pod)s, which waits on Permit: %(why)s")
    return message(text, plugin=decided.plugin or "–", pod=short(decided.pod), why=decided.message)


def pod_waits(waits: facts.PodWaits) -> Message:
    return message(gettext_noop("%(pod)s waits on Permit."), pod=short(waits.pod))


def extender_asked(asked: facts.ExtenderAsked) -> Message:
    text = WORDS["asked"].get(asked.verb, gettext_noop("The scheduler calls extender %(extender)s for %(pod)s."))
    return message(text, extender=asked.extender, pod=short(asked.pod), n=asked.nodes, node=asked.node)


def pod_assumed(assumed: facts.PodAssumed) -> Message:
    text = gettext_noop(
        "%(pod)s is assumed on %(node)s: the cache counts its requests before the API server confirms the binding."
    )
    return message(text, pod=short(assumed.pod), node=assumed.node)


def pod_forgotten(forgotten: facts.PodForgotten) -> Message:
    return message(
        gettext_noop("The cache forgets %(pod)s. Its requests no longer count as used."), pod=short(forgotten.pod)
    )


def watch_event(heard: facts.WatchEventHeard) -> Message:
    return message(
        gettext_noop("The scheduler's informer delivers %(kind)s %(name)s: %(change)s."),
        kind=heard.kind,
        name=heard.name,
        change=heard.type.lower(),
    )


def timer_fired(fired: facts.TimerFired) -> Message:
    """Describe a flush of the queue (kube: scheduling_queue.go, Run @ v1.34.1)."""
    return message(WORDS["timers"].get(fired.timer, fired.timer))


def command(command: facts.CommandApplied) -> Message:
    values = _collect_object_names(command)
    if command.kind in WORDS["named"] and values:
        return message(WORDS["named"][command.kind], **values)
    n = command.objects if command.kind == "ApplyObjects" else command.count or 0
    texts = WORDS["of-one"] if n == 1 else WORDS["commands"]
    text = texts.get(command.kind) or WORDS["commands"].get(command.kind, gettext_noop("A command is applied."))
    return message(text, n=n)


def _collect_object_names(command: facts.CommandApplied) -> dict[str, str]:
    """Return the objects that a command's record names: an object, a pod, and a node."""
    ref, pod, node = (getattr(command, field, None) or None for field in ("ref", "pod", "node"))
    values = {"kind": ref.kind, "name": ref.name} if ref else {}
    return {**values, **({"pod": short(pod)} if pod else {}), **({"node": node} if node else {})}


def object(changed: facts.ObjectChanged) -> Message:
    text = WORDS["changes"].get(changed.type, gettext_noop("%(kind)s %(name)s is changed."))
    return message(text, kind=changed.kind, name=changed.name)


def describe_reconcile(done: facts.Reconciled) -> Message:
    if not done.did:
        return message(
            gettext_noop("%(controller)s has reconciled %(name)s, with nothing to do."),
            controller=done.controller,
            name=short(done.key),
        )
    return message(
        gettext_noop("%(controller)s has reconciled %(name)s: %(did)s."),
        controller=done.controller,
        name=short(done.key),
        did=describe_deeds(brief(done.did.rstrip("."))),
    )


def queue_moved(moved: facts.QueueMoved) -> Message:
    text = WORDS["places"].get(moved.to, gettext_noop("%(pod)s moves to %(place)s (%(cause)s)."))
    return message(text, pod=short(moved.pod), place=moved.to, cause=moved.cause)


def api_call(call: facts.ApiCall) -> Message:
    pod = short(call.pod)
    if call.pod and call.kind:
        # About another object, on behalf of a pod.
        if call.effects:
            # Describe what a call of the scheduler does to a claim for devices.
            failed = call.error or call.fault
            effects = call.effects or ()
            text = CLAIMS["failed" if failed else "done"].get("+".join(effects), _ANY_FAILED if failed else _ANY)
            return message(
                text,
                claim=short(call.object.removesuffix("/status")),
                pod=pod,
                devices=", ".join(each.rpartition("/")[2] for each in call.devices or ()) or "–",
                effects=", ".join(effects),
                message=failed,
            )
        about = {"verb": call.verb, "kind": call.kind, "object": call.object, "pod": pod}
        if call.fault or call.error:
            text = gettext_noop("%(verb)s %(kind)s %(object)s for %(pod)s fails: %(message)s")
            return message(text, **about, message=call.fault or call.error)
        return message(gettext_noop("%(verb)s %(kind)s %(object)s for %(pod)s: done"), **about)
    if not call.fault:
        return message(gettext_noop("%(verb)s %(pod)s: done"), verb=call.verb, pod=pod)
    if call.again_after:
        return message(
            gettext_noop("%(verb)s %(pod)s fails and will be retried after %(time)s: %(message)s"),
            verb=call.verb,
            pod=pod,
            time=duration(call.again_after),
            message=call.fault,
        )
    return message(gettext_noop("%(verb)s %(pod)s fails: %(message)s"), verb=call.verb, pod=pod, message=call.fault)


def describe_throttling(throttled: facts.ApiThrottled) -> Message:
    return message(
        gettext_noop("the API client delays a call for %(pod)s by %(time)s, to stay within its rate limit"),
        pod=short(throttled.pod),
        time=duration(throttled.wait),
    )


def plugin_ran(ran: facts.PluginRan) -> Message:
    """A plugin that was asked about the pod alone: before the queue, or in a binding cycle."""
    code, pod = ran.status["code"], short(ran.pod)
    if code in FINE:
        return message(gettext_noop("%(code)s for %(pod)s"), code=code, pod=pod)
    reason = ", ".join(ran.status["reasons"])
    return message(gettext_noop("%(code)s for %(pod)s: %(reason)s"), code=code, pod=pod, reason=reason)


def event(event: facts.EventRecorded) -> Message:
    return message(
        gettext_noop("%(pod)s %(reason)s: %(message)s"),
        pod=short(f"{event.namespace}/{event.name}"),
        reason=event.reason,
        message=event.message,
    )


def point_started(started: facts.PointStarted) -> Message:
    return message(gettext_noop("begins for %(pod)s"), pod=short(started.pod))


def preemption_started(started: facts.PreemptionStarted) -> Message:
    victims = [short(victim) for victim in started.victims]
    text = (
        gettext_noop("%(victims)s is preempted on %(node)s to make room for %(pod)s.")
        if len(victims) == 1
        else gettext_noop("%(victims)s are preempted on %(node)s to make room for %(pod)s.")
    )
    return message(text, pod=short(started.pod), node=started.node, victims=", ".join(victims))


def scheduler_started(started: facts.SchedulerStarted) -> Message:
    return message(gettext_noop("starts with the profiles %(names)s"), names=", ".join(started.profiles))


def scheduler_stage(came: facts.SchedulerStage) -> Message:
    text = WORDS["stages"].get(came.stage, gettext_noop("%(name)s enters another stage"))
    return message(text, name=_host(came.identity))


def leader_election(said: facts.LeaderElection) -> Message:
    text = WORDS["election"].get(said.what, gettext_noop("%(name)s: leader election"))
    return message(text, name=_host(said.identity), leader=_host(said.leader) or "–")


def _host(identity: str) -> str:
    """An identity without its UUID."""
    return identity.rpartition("_")[0] or identity
