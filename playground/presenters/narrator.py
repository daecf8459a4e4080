"""The narrator: the present step in one sentence, and what comes next."""

from __future__ import annotations

from typing import Any

from playground.presenters.look import CLUSTER, Look
from playground.presenters.panel import Panel
from playground.presenters.scene import short
from playground.presenters.sentences.coming import coming
from playground.presenters.sentences.kinds import RecordLine
from playground.presenters.sentences.present import sentence
from playground.presenters.sentences.records import attempt_ended
from playground.presenters.stage.aim import at_hand
from playground.presenters.stage.cluster import count_waiting
from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.base.trace.kinds import AttemptEnded, CommandApplied
from scheduler_core.world.readonly import WorldView

_LOOKED_THROUGH = 64  # records of one transition
_UNSCHEDULABLE = gettext_noop("%(pod)s is unschedulable.")
_FAILED = gettext_noop("%(pod)s is not scheduled because of an error.")
_DONE = gettext_noop("Nothing is left to schedule.")
_WAITING = gettext_noop("Nothing is left to schedule. Pods that wait for an event: %(n)s.")


class NarratorContext(RecordLine):
    idle: bool
    timers: bool
    outside: bool
    next: Message | None
    kube: str


def present(sim: WorldView, look: Look) -> Panel[NarratorContext, Any]:
    """Return the panel that tells what happened to which object, and why."""
    line, kube = sentence(sim), ""
    for ended in (each.facts for each in sim.last[-_LOOKED_THROUGH:] if isinstance(each.facts, AttemptEnded)):
        if ended.message and line["sentence"] == attempt_ended(ended):
            text = _UNSCHEDULABLE if ended.outcome == "unschedulable" else _FAILED
            line["sentence"], kube = message(text, pod=short(ended.pod)), ended.message
    if (
        sim.idle
        and sim.journal.attempts
        and at_hand(sim) == CLUSTER
        and not isinstance(sim.last[0].facts, CommandApplied)
    ):
        waits = count_waiting(sim)
        said = message(_WAITING, n=waits) if waits else message(_DONE)
        line = {"head": gettext_noop("Run finished"), "sentence": said}
    return Panel(
        "narrator",
        {
            "idle": sim.idle and not sim.outside and sim.position > 0,
            "timers": sim.idle and not sim.over,
            "outside": sim.outside,
            "next": coming(sim),
            "kube": kube,
            **line,
        },
    )
