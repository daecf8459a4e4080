"""What a plugin answered, in one sentence."""

from playground.presenters.amounts import duration, thousands
from playground.presenters.scene import short
from playground.presenters.words import Message, gettext_noop, message
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
