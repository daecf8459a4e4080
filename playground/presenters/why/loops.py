"""What goes on for ever in a world that is run, in sentences for people."""

from collections.abc import Iterator

from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.analysis.whatif import Loop, Rest

NODES = 5  # that are named

_ALIKE = gettext_noop(
    "The pods of %(workload)s fail in the same way: %(count)s so far, on %(nodes)s. The last one is "
    "%(pod)s: %(reason)s: %(message)s"
)
_ALIKE_UNSAID = gettext_noop(
    "The pods of %(workload)s fail in the same way: %(count)s so far, on %(nodes)s. The last one is %(pod)s: %(reason)s"
)
_NOWHERE = gettext_noop("The cluster repeats itself: for %(steps)s steps no pod reached a new state.")
_FIGHT = gettext_noop("Controllers undo each other's work: %(message)s")
_BUSY = gettext_noop("The cluster did not settle. This is its last state.")


def describe_loop(loop: Loop) -> Message:
    """Describe a workload that makes pods in vain: the nodes and the reason."""
    kind, namespace, name = loop.workload
    more = f" +{len(loop.nodes) - NODES}" if len(loop.nodes) > NODES else ""
    return message(
        _ALIKE if loop.last.message else _ALIKE_UNSAID,
        workload=f"{kind} {namespace}/{name}",
        count=f"{loop.count:,}",
        nodes=", ".join(loop.nodes[:NODES]) + more,
        pod=loop.last.pod,
        reason=loop.last.reason,
        message=loop.last.message,
    )


def describe_rest(rest: Rest) -> Iterator[Message]:
    """Yield why a world did not come to rest, or did so only without some workloads."""
    yield from map(describe_loop, rest.loops)
    if rest.circles:
        yield message(_NOWHERE, steps=f"{rest.circles:,}")
    elif rest.fights:
        yield from (message(_FIGHT, message=text) for text in rest.fights)
    elif not rest.at_rest:
        yield message(_BUSY)
