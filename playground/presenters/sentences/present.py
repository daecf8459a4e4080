"""The present step in one sentence, from what the plugin did or else from the records of the last transition."""

from __future__ import annotations

from collections.abc import Callable

from playground.presenters.scene import cycle_of, present_step, short
from playground.presenters.sentences.kinds import RANK, RecordLine, of_record
from playground.presenters.sentences.step import of_step
from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.base.trace.kinds import AttemptEnded, AttemptStarted, BindingEnded
from scheduler_core.world.readonly import Pod, Record, WorldView


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
    scheduling = cycle_of(sim)
    search = scheduling.search if scheduling is not None and scheduling is cycle else None
    claims = _CLAIMS.get(step.plugin)
    works = claims is None or claims(cycle.pod)
    line = _ending(sim) or of_step(step, short(cycle.pod.key), search.seen if search is not None else 0, works)
    return {"head": f"{step.point} · {step.plugin}", "sentence": line}


# Plugins that only reserve and prepare what a pod claims.
_CLAIMS: dict[str, Callable[[Pod], bool]] = {
    "DynamicResources": lambda pod: bool(pod.spec.resource_claims),
    "VolumeBinding": lambda pod: any("persistentVolumeClaim" in raw or "ephemeral" in raw for raw in pod.spec.volumes),
}


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
