"""Why the pod that was popped goes before the one that is next."""

from __future__ import annotations

from playground.presenters.amounts import duration
from playground.presenters.scene import short
from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.world.readonly import QueuedPod

KUBES = "PrioritySort"


def why_first(popped: QueuedPod, started: int, next_: QueuedPod | None, sorter: str) -> Message:
    """`started`: when it was popped; `next_` is the first that is active now; `sorter` is the QueueSort plugin."""
    pod = short(popped.key)
    if popped.backoff_until is not None and popped.backoff_until > started:
        return message(
            gettext_noop(
                "The active queue was empty: %(pod)s is popped from the backoff queue, %(time)s before its backoff ends."
            ),
            pod=pod,
            time=duration(popped.backoff_until - started),
        )
    if next_ is None:
        return message(gettext_noop("No other pod is active."))
    if sorter != KUBES:
        return message(
            gettext_noop("%(plugin)s orders the queue: %(pod)s goes before %(name)s."),
            plugin=sorter,
            pod=pod,
            name=short(next_.key),
        )
    return _by_priority(popped, next_)


def _by_priority(popped: QueuedPod, next_: QueuedPod) -> Message:
    """kube: plugins/queuesort/priority_sort.go @ v1.34.1"""
    mine, theirs = popped.pod.priority, next_.pod.priority
    later = popped.timestamp - next_.timestamp
    values = {"pod": short(popped.key), "name": short(next_.key), "priority": mine}
    if mine > theirs and later > 0:
        text = gettext_noop(
            "%(pod)s was queued %(time)s after %(name)s, yet goes first: priority counts before time."
        )
        return message(text, **values, time=duration(later))
    if mine > theirs:
        return message(
            gettext_noop("%(pod)s goes before %(name)s: its priority is higher, %(priority)s over %(less)s."),
            **values,
            less=theirs,
        )
    if mine < theirs or later > 0:
        return message(gettext_noop("%(name)s became active after %(pod)s was popped; it is next."), **values)
    if later == 0:
        text = gettext_noop(
            "%(pod)s and %(name)s have priority %(priority)s and were queued at the same time; %(pod)s was added first."
        )
        return message(text, **values)
    text = gettext_noop(
        "%(pod)s and %(name)s have priority %(priority)s; %(pod)s goes first, as it was queued %(time)s earlier."
    )
    return message(text, **values, time=duration(-later))
