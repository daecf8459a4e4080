"""What a plugin answered, in one sentence."""

from __future__ import annotations

from playground.presenters.amounts import duration, thousands
from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.view import Code, PluginStep, Point, Scores


def of_step(step: PluginStep, pod: str) -> Message:
    """What a plugin answered; `pod` as people read it."""
    if step.skipped:
        return message(
            gettext_noop("%(pod)s gives this plugin nothing to do: skipped for the rest of the cycle"),
            pod=pod,
        )
    if step.point is Point.FILTER or (step.point is Point.EXTENDER_FILTER and step.status.ok):
        return _of_filter(step, pod)
    if step.point in _OF_EXTENDERS and not step.status.ok:
        return message(gettext_noop("fails: %(reason)s"), reason=step.status.message)
    if step.status.code is Code.WAIT:
        return message(gettext_noop("%(pod)s waits, at most %(time)s"), pod=pod, time=duration(step.timeout))
    if not step.status.ok:
        return message(gettext_noop("refuses %(pod)s: %(reason)s"), pod=pod, reason=step.status.message)
    if step.scores is not None and len(step.scores):
        return _of_scores(step.scores, pod)
    return message(_SUCCESS.get(step.point, gettext_noop("%(pod)s passes")), pod=pod)


_OF_EXTENDERS = (
    Point.EXTENDER_FILTER,
    Point.EXTENDER_PREEMPT,
    Point.EXTENDER_PRIORITIZE,
    Point.EXTENDER_BIND,
)
_SUCCESS = {
    Point.EXTENDER_PREEMPT: gettext_noop("has looked through the victims for %(pod)s"),
    Point.EXTENDER_PRIORITIZE: gettext_noop("scores no node for %(pod)s"),
    Point.EXTENDER_BIND: gettext_noop("has bound %(pod)s to its node"),
    Point.PRE_FILTER: gettext_noop("prepares for %(pod)s what Filter will ask for each node"),
    Point.PRE_SCORE: gettext_noop("prepares the scores of %(pod)s"),
    Point.RESERVE: gettext_noop("reserves what %(pod)s needs on its node"),
    Point.UNRESERVE: gettext_noop("gives back what was reserved for %(pod)s"),
    Point.PERMIT: gettext_noop("lets %(pod)s go on at once"),
    Point.PRE_BIND: gettext_noop("prepares the binding of %(pod)s"),
    Point.BIND: gettext_noop("asks the API server to bind %(pod)s to its node"),
    Point.POST_BIND: gettext_noop("is told that %(pod)s is bound"),
    Point.POST_FILTER: gettext_noop("looks for a way to make room for %(pod)s"),
}


def _of_filter(step: PluginStep, pod: str) -> Message:
    if not step.refused and step.evaluated == 1:
        return message(gettext_noop("%(pod)s may run on the one node it was asked about"), pod=pod)
    if not step.refused:
        return message(
            gettext_noop("%(pod)s may run on all %(n)s nodes it was asked about"),
            pod=pod,
            n=thousands(step.evaluated),
        )
    reason = _first_reason(step)
    if step.evaluated == step.refused == 1:
        return message(gettext_noop("refuses the last node for %(pod)s: %(reason)s"), pod=pod, reason=reason)
    return message(
        gettext_noop("refuses %(k)s of %(n)s nodes for %(pod)s: %(reason)s"),
        k=thousands(step.refused),
        n=thousands(step.evaluated),
        pod=pod,
        reason=reason,
    )


def _first_reason(step: PluginStep) -> str:
    first = None if step.verdicts is None else step.verdicts.first()
    if step.verdicts is None or first is None:
        return step.status.message
    return first.message + (" …" if len(step.verdicts.counted()) > 1 else "")


def _of_scores(scores: Scores, pod: str) -> Message:
    low, high, n = int(scores.min()), int(scores.max()), len(scores)
    if low == high:
        return message(
            gettext_noop("gives each of the %(n)s nodes %(high)s for %(pod)s"),
            pod=pod,
            n=thousands(n),
            high=high,
        )
    return message(
        gettext_noop("scores %(n)s nodes for %(pod)s: from %(low)s to %(high)s"),
        pod=pod,
        n=thousands(n),
        low=low,
        high=high,
    )
