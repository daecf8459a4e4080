"""The deeds of controllers in the reader's language: the engine notes them in English, clause by clause, and each is known by its form.

A clause of another form, and what kube itself says, is shown as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import reduce

from playground.presenters.words import Message, exactly, gettext_noop, message

# What is said better than the engine notes it.
SAID = {
    "took %(taint)s off %(it)s: nothing calls for it any more": gettext_noop("removed the taint %(taint)s from %(it)s"),
    "no node is ready in any zone: nobody is evicted for it": gettext_noop(
        "no node is ready in any zone, so no pod is evicted"
    ),
    "some nodes are ready again: evictions go on": gettext_noop("some nodes are ready again: evictions continue"),
    "all old pods go before new ones come": gettext_noop("all old pods are deleted before new pods are created"),
    "%(it)s may not go yet, and is asked for again in 5 s: %(why)s": gettext_noop(
        "%(it)s cannot be evicted yet. Next attempt in 5 s: %(why)s"
    ),
    "removed the pod, as nothing of it runs any more": gettext_noop("removed the pod, whose containers have stopped"),
}
FORMS = (
    *SAID,
    gettext_noop("noticed the new node %(it)s"),
    gettext_noop("noticed that node %(it)s has gone"),
    gettext_noop("tainted %(it)s %(taint)s as its conditions say"),
    gettext_noop("tainted %(it)s %(taint)s in place of %(other)s"),
    gettext_noop("tainted %(it)s %(taint)s"),
    gettext_noop("%(it)s waits for its NoExecute taint"),
    gettext_noop("%(it)s is ready: it is freed of its NoExecute taint"),
    gettext_noop("%(it)s is Unknown: its kubelet has been silent for %(time)s s"),
    gettext_noop("%(count)s of its pods are not ready"),
    gettext_noop("planned the eviction of %(it)s in %(time)s s: %(why)s"),
    gettext_noop("planned the eviction of %(it)s: %(why)s"),
    gettext_noop("called off the eviction of %(it)s: %(why)s"),
    gettext_noop("evicted %(it)s, number %(number)s of %(count)s"),
    gettext_noop("evicted %(it)s, which is gone"),
    gettext_noop("evicted %(it)s: %(why)s"),
    gettext_noop("evicted %(it)s"),
    gettext_noop("it tolerates %(taint)s for %(time)s s, which are over"),
    gettext_noop("it tolerates %(taint)s for %(time)s s"),
    gettext_noop("it does not tolerate %(taint)s"),
    gettext_noop("no NoExecute taint is left"),
    gettext_noop("the pod has gone"),
    gettext_noop("over a limit of local storage"),
    gettext_noop("%(resource)s is short (%(amount)s left): %(why)s"),
    gettext_noop("%(resource)s is short, but no pod can be evicted"),
    gettext_noop("%(resource)s is below its threshold, for less than its grace period"),
    gettext_noop("memory is gone: killed %(it)s"),
    gettext_noop("it is given time to end"),
    gettext_noop("%(it)s is drained"),
    gettext_noop("%(it)s is not drained: %(why)s"),
    gettext_noop("%(it)s is gone"),
    gettext_noop("started: %(it)s"),
    gettext_noop("ended: %(it)s"),
    gettext_noop("told to end: %(it)s"),
    gettext_noop("admitted it: its containers are being created"),
    gettext_noop("admitted it, and left its containers alone: %(why)s"),
    gettext_noop("refused it: %(why)s"),
    gettext_noop("the pod was deleted: %(time)s s are left"),
    gettext_noop("reported the node's %(fields)s"),
    gettext_noop("granted the resize of %(it)s"),
    gettext_noop("deferred the resize (%(why)s) of %(it)s"),
    gettext_noop("found infeasible the resize (%(why)s) of %(it)s"),
    gettext_noop("created %(it)s with %(count)s of %(all)s pods for revision %(revision)s"),
    gettext_noop("scaled up %(it)s from %(from)s to %(to)s: %(why)s"),
    gettext_noop("scaled down %(it)s from %(from)s to %(to)s: %(why)s"),
    gettext_noop("the rollout may have at most %(count)s too many"),
    gettext_noop("the rollout may lack at most %(count)s"),
    gettext_noop("its share of %(count)s pods"),
    gettext_noop("created %(count)s of %(all)s pods: %(there)s were there"),
    gettext_noop("deleted %(count)s of %(all)s pods, as %(wanted)s are wanted: %(it)s"),
    gettext_noop("created pods for %(it)s"),
    gettext_noop("created %(it)s for %(time)s"),
    gettext_noop("created %(count)s pods"),
    gettext_noop("created 1 pod"),
    gettext_noop("created %(it)s"),
    gettext_noop("at most %(count)s of %(all)s nodes may lack one"),
    gettext_noop("deleted %(it)s: it is of another revision than %(revision)s"),
    gettext_noop("deleted %(it)s: it ended %(time)s s ago"),
    gettext_noop("deleted %(it)s: its owner %(owner)s is gone"),
    gettext_noop("deleted %(it)s: its owner %(owner)s is being deleted"),
    gettext_noop("deleted %(it)s: %(why)s"),
    gettext_noop("%(count)s pods are wanted"),
    gettext_noop("of an old revision"),
    gettext_noop("not to be on their nodes, or ended"),
    gettext_noop("whose node is gone"),
    gettext_noop("deleted without a node"),
    gettext_noop("on a node that is out of service"),
    gettext_noop("the Job is suspended"),
    gettext_noop("it is released, and its reclaim policy is Delete"),
    gettext_noop("the Job is Complete: %(why)s"),
    gettext_noop("the Job is Failed: %(why)s"),
    gettext_noop("waits until %(time)s after a failure"),
    gettext_noop("started no Job: the one before still runs, and concurrencyPolicy is Forbid"),
    gettext_noop("counted what is used of %(it)s: %(figures)s"),
    gettext_noop("%(count)s may go: %(healthy)s of %(all)s pods are healthy, %(needed)s must be"),
    gettext_noop("none may go: %(why)s"),
    gettext_noop("bound %(it)s to %(to)s again"),
    gettext_noop("bound %(it)s to %(to)s: it is meant for it"),
    gettext_noop("bound %(it)s to %(to)s: the smallest that suits it"),
    gettext_noop("left %(it)s pending: %(why)s"),
    gettext_noop("asked %(driver)s for a volume for %(it)s"),
    gettext_noop("released %(it)s: its claim is gone"),
    gettext_noop("released %(it)s from %(from)s, and deallocated it"),
    gettext_noop("reserved %(it)s for %(to)s, which has its node"),
    gettext_noop("made %(it)s for %(to)s"),
    gettext_noop("protected %(it)s from being deleted while it is in use"),
    gettext_noop("let %(it)s go: %(why)s"),
    gettext_noop("no pod on a node uses it"),
    gettext_noop("it is not bound"),
    gettext_noop("its provisioner is to delete it"),
    gettext_noop("it is kept as it is, as its reclaim policy says"),
    gettext_noop("%(it)s is available"),
    gettext_noop("left %(it)s attached to %(to)s: it is in use there"),
    gettext_noop("the zone of nodes without one: %(from)s to %(to)s (%(count)s of %(all)s nodes are not ready)"),
    gettext_noop("zone %(it)s: %(from)s to %(to)s (%(count)s of %(all)s nodes are not ready)"),
    gettext_noop("has %(it)s attached to %(to)s"),
    gettext_noop("has %(it)s detached from %(from)s"),
    gettext_noop("%(it)s is attached to %(to)s"),
    gettext_noop("%(it)s is detached from %(from)s"),
)
_VALUE = re.compile(r"%\\\((\w+)\\\)s")
_PATTERNS = [(re.compile(_VALUE.sub(r"(?P<\1_>.+?)", re.escape(form))), form) for form in FORMS]
_BOTH = gettext_noop("%(first)s; %(rest)s")


def describe_deeds(did: str) -> Message:
    """Return what a controller did, clause by clause."""
    clauses = [_describe_clause(each) for each in did.split("; ")]
    return reduce(lambda rest, first: message(_BOTH, first=first, rest=rest), clauses[-2::-1], clauses[-1])


def _describe_clause(clause: str) -> Message:
    found = next(_list_matches(clause), None)
    if found is None:
        return exactly(clause)
    form, values = found
    return message(
        SAID.get(form, form),
        **{name: _describe_clause(value) if name == "why" else value for name, value in values.items()},
    )


def _list_matches(clause: str) -> Iterator[tuple[str, dict[str, str]]]:
    for pattern, form in _PATTERNS:
        if (match := pattern.fullmatch(clause)) is not None:
            yield form, {name.removesuffix("_"): value for name, value in match.groupdict().items()}
