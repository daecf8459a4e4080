"""A stranded pod (scheduler_core/stranding.py) in words: it would fit now, and nothing is about to try it."""

from __future__ import annotations

from playground.presenters.amounts import clock
from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.analysis.inspection import Stranded, Way

_WAYS = {
    Way.EXISTING_ANTI_AFFINITY: gettext_noop(
        "Stranded, as kube itself leaves it: it would fit on %(node)s now. A pod whose anti-affinity had refused it was deleted, and"
        " %(plugin)s does not take such a deletion for help. It is tried again by itself at %(until)s."
    ),
    Way.NO_HINT: gettext_noop(
        "Stranded, as kube itself leaves it: it would fit on %(node)s now, but what helped was no event to %(plugin)s, or its hint said"
        " no. It is tried again by itself at %(until)s."
    ),
    Way.GATED_PREEMPTOR: gettext_noop(
        "Stranded, as kube itself leaves it: it would fit on %(node)s now, but %(plugin)s holds it back and hears of deleted pods alone."
    ),
    Way.OPEN_GATE: gettext_noop(
        "Stranded, as kube itself leaves it: it would fit on %(node)s now and %(plugin)s would let it pass, but has heard of no event that"
        " it registered for."
    ),
}


def describe_stranded(stranded: Stranded) -> Message:
    """The sentence for one way of being stranded."""
    until = "-" if stranded.until is None else clock(stranded.until)
    return message(_WAYS[stranded.way], node=stranded.node, plugin=", ".join(stranded.plugins), until=until)
