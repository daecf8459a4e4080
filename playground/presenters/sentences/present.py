"""The present step in one sentence, from what the plugin did or else from the records of the last transition."""

from __future__ import annotations

from playground.presenters.scene import present_step, scheduler_of
from playground.presenters.sentences.kinds import RANK, RecordLine, of_record
from playground.presenters.sentences.step import of_late_step, of_preparation
from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.base.trace.kinds import AttemptEnded, AttemptStarted, BindingEnded
from scheduler_core.world.readonly import Point, Record, WorldView


def sentence(sim: WorldView) -> RecordLine:
    """`head` names the extension point and plugin, or the kind of thing that happened; `sentence` is the sentence."""
    if sim.position == 0:
        return _nothing_yet(sim)
    ran = present_step(sim)
    if ran is None:
        return _of_records(sim)
    step, cycle = ran
    for record in sim.last[:2]:
        if record.kind == AttemptStarted.KIND:
            return of_record(record)
    ending = _ending(sim)
    if ending is not None:
        return {"head": f"{step.point} · {step.plugin}", "sentence": ending}
    framework = scheduler_of(sim).profiles[cycle.profile]
    if step.point in _PREPARING and (step.skipped or step.status.ok) and str(cycle.phase) != step.point:
        return {"head": str(step.point), "sentence": of_preparation(step.point, cycle, framework)}
    return {"head": f"{step.point} · {step.plugin}", "sentence": of_late_step(step, cycle, framework)}


_PREPARING = (Point.PRE_FILTER, Point.PRE_SCORE)


def _nothing_yet(sim: WorldView) -> RecordLine:
    line = message(gettext_noop("Nothing has happened yet: add nodes and pods, then step."))
    return {"head": "", "sentence": line}


def _ending(sim: WorldView) -> Message | None:
    """The end of something, where the step brought one about: the node was drawn, the pod has no node, the pod is bound."""
    for record in sim.last[-8:]:
        if record.kind in (AttemptEnded.KIND, BindingEnded.KIND):
            return of_record(record)["sentence"]
    return None


def _of_records(sim: WorldView) -> RecordLine:
    """The most telling record of the last transition."""
    telling: list[Record] = [record for record in sim.last[:64] if record.kind in RANK]
    if not telling:
        return {"head": "", "sentence": None}
    return of_record(min(telling, key=lambda record: RANK[record.kind]))
