"""The sentences of records (kinds.py has the table), and of a plugin's answer."""

from pathlib import Path

from playground.common.catalogs import read_yaml
from playground.presenters.scene import short
from playground.presenters.sentences.lines import describe_deeds, describe_key
from playground.presenters.words import Message, brief, duration, gettext_noop, message, thousands
from scheduler_core.base.trace import kinds as facts
from scheduler_core.world.readonly import Code, CycleView, Evidence, PluginStep, Point, ProfileView

WORDS = read_yaml(Path(__file__).with_suffix(".yaml"))


def of_step(step: PluginStep, pod: str, seen: int = 0) -> Message:
    """Describe a plugin's answer. `pod` is the pod's display name, `seen` the number of nodes that count for Filter (0: unknown)."""
    plugin = step.plugin
    if step.skipped:
        return message("%(plugin)s returns Skip: it is not relevant to %(pod)s.", plugin=plugin, pod=pod)
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
    return message(WORDS["answers"].get(step.point, gettext_noop("%(pod)s passes %(plugin)s.")), plugin=plugin, pod=pod)


_OF_EXTENDERS = (Point.EXTENDER_FILTER, Point.EXTENDER_PREEMPT, Point.EXTENDER_PRIORITIZE, Point.EXTENDER_BIND)


def of_late_step(step: PluginStep, cycle: CycleView, framework: ProfileView, seen: int = 0) -> Message:
    """Describe the answer for a pod that has a node. Many plugins have nothing to do for it."""
    plugin, pod = framework.plugin(step.plugin), short(cycle.pod.key)
    idle = plugin is not None and plugin.is_idle(step.point, cycle.state, cycle.pod)
    text = WORDS["idle" if idle else "busy"].get(step.point)
    return message(text, plugin=step.plugin, pod=pod) if text and step.status.ok else of_step(step, pod, seen)


def of_preparation(point: Point, cycle: CycleView, framework: ProfileView) -> Message:
    """Describe PreFilter or PreScore after all of its plugins have run."""
    working = [step.plugin for step in cycle.steps if step.point is point and not step.skipped]
    values = {"n": len(working), "of": len(framework.at(point)), "pod": short(cycle.pod.key)}
    if not working:
        return message("None of %(of)s plugins has anything to prepare for %(pod)s.", **values)
    return message("%(n)s of %(of)s plugins prepare data for %(pod)s.", **values)


def _of_preemption(evidence: Evidence, pod: str) -> Message:
    """Describe a nomination: the nominated pod, its node, and the victims."""
    victims = [short(victim.key) for c in evidence.candidates if c.node == evidence.nominated for victim in c.victims]
    if len(victims) == 1:
        text = gettext_noop("%(pod)s is nominated to %(node)s: preempting %(victim)s makes room.")
        return message(text, pod=pod, node=evidence.nominated, victim=victims[0])
    text = gettext_noop("%(pod)s is nominated to %(node)s: preempting %(n)s pods makes room.")
    return message(text, pod=pod, node=evidence.nominated, n=thousands(len(victims)))


def _of_filter(step: PluginStep, pod: str, seen: int) -> Message:
    """Describe Filter's calls. kube's parallel workers evaluate more nodes than the number that is enough."""
    counted = seen or step.evaluated
    named = {"plugin": step.plugin, "pod": pod}
    if not step.refused and step.evaluated == 1:
        return message("%(plugin)s passes the last remaining node for %(pod)s.", **named)
    if not step.refused:
        text = gettext_noop("%(plugin)s passes all %(n)s nodes for %(pod)s.")
        return message(text, **named, n=thousands(min(counted, step.evaluated)))
    reason = _first_reason(step)
    if counted < step.evaluated:
        text = gettext_noop(
            "%(plugin)s refuses a node for %(pod)s in %(k)s of %(n)s calls. Only the first %(counted)s nodes count: %(reason)s"
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
        "%(plugin)s refuses %(k)s of %(n)s nodes for %(pod)s: %(reason)s",
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


_ANY = gettext_noop("%(claim)s for %(pod)s: %(effects)s")
_ANY_FAILED = gettext_noop("%(claim)s for %(pod)s, %(effects)s, fails: %(message)s")
FINE = (Code.SUCCESS.kube_name, Code.SKIP.kube_name, Code.WAIT.kube_name)


def node_selected(selected: facts.NodeSelected) -> Message:
    node, pod = selected.node, short(selected.pod)
    if len(selected.tied) > 1:
        return message(
            "%(n)s nodes share the highest total score for %(pod)s. The scheduler picks %(node)s at random.",
            n=len(selected.tied),
            pod=pod,
            node=node,
        )
    return message("%(node)s has the highest total score for %(pod)s.", node=node, pod=pod)


def command(command: facts.CommandApplied) -> Message:
    values = _collect_object_names(command)
    if command.kind in WORDS["records"]["named"] and values:
        return message(WORDS["records"]["named"][command.kind], **values)
    n = command.objects if command.kind == "ApplyObjects" else command.count or 0
    return message(WORDS["records"]["commands"].get(command.kind, gettext_noop("A command is applied.")), n=n)


def _collect_object_names(command: facts.CommandApplied) -> dict[str, str]:
    """Return the objects that a command's record names: an object, a pod, and a node."""
    ref, pod, node = (getattr(command, field, None) or None for field in ("ref", "pod", "node"))
    values = {"kind": ref.kind, "name": ref.name} if ref else {}
    return {**values, **({"pod": short(pod)} if pod else {}), **({"node": node} if node else {})}


def describe_reconcile(done: facts.Reconciled) -> Message:
    if not done.did:
        return message(
            "%(controller)s has reconciled %(name)s, with nothing to do.",
            controller=done.controller,
            name=describe_key(done.key),
        )
    return message(
        "%(controller)s has reconciled %(name)s: %(did)s.",
        controller=done.controller,
        name=describe_key(done.key),
        did=describe_deeds(brief(done.did.rstrip("."))),
    )


def api_call(call: facts.ApiCall) -> Message:
    pod = short(call.pod)
    if call.pod and call.kind:
        # About another object, on behalf of a pod.
        if call.effects:
            # Describe what a call of the scheduler does to a claim for devices.
            failed = call.error or call.fault
            effects = call.effects or ()
            text = WORDS["claims"]["failed" if failed else "done"].get(
                "+".join(effects), _ANY_FAILED if failed else _ANY
            )
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
        return message("%(verb)s %(kind)s %(object)s for %(pod)s: done", **about)
    if not call.fault:
        return message("%(verb)s %(pod)s: done", verb=call.verb, pod=pod)
    if call.again_after:
        return message(
            "%(verb)s %(pod)s fails and will be retried after %(time)s: %(message)s",
            verb=call.verb,
            pod=pod,
            time=duration(call.again_after),
            message=call.fault,
        )
    return message("%(verb)s %(pod)s fails: %(message)s", verb=call.verb, pod=pod, message=call.fault)


def plugin_ran(ran: facts.PluginRan) -> Message:
    """Describe the answer of a plugin that runs for the pod alone: before the queue, or in a binding cycle."""
    code, pod = ran.status["code"], short(ran.pod)
    if code in FINE:
        return message("%(code)s for %(pod)s", code=code, pod=pod)
    reason = ", ".join(ran.status["reasons"])
    return message("%(code)s for %(pod)s: %(reason)s", code=code, pod=pod, reason=reason)


def preemption_started(started: facts.PreemptionStarted) -> Message:
    victims = [short(victim) for victim in started.victims]
    text = (
        gettext_noop("%(victims)s is preempted on %(node)s to make room for %(pod)s.")
        if len(victims) == 1
        else gettext_noop("%(victims)s are preempted on %(node)s to make room for %(pod)s.")
    )
    return message(text, pod=short(started.pod), node=started.node, victims=", ".join(victims))


def get_host(identity: str) -> str:
    """Return an identity without its UUID."""
    return identity.rpartition("_")[0] or identity
