"""The narrator: the present step in one sentence, and what the scheduler does next."""

from pathlib import Path
from typing import Any

from playground.common.catalogs import read_yaml
from playground.presenters.look import CLUSTER, Look
from playground.presenters.panel import Panel
from playground.presenters.scene import cycle_of, present_pod, present_step, scheduler_of, short
from playground.presenters.sentences.kinds import RANK, RecordLine, of_facts
from playground.presenters.sentences.records import of_late_step, of_preparation
from playground.presenters.stage.aim import at_hand
from playground.presenters.stage.cluster import count_waiting
from playground.presenters.words import Message, gettext_noop, message, thousands
from scheduler_core.base.trace.kinds import AttemptEnded, AttemptStarted, BindingEnded, CommandApplied
from scheduler_core.world.readonly import Phase, Point, Record, SchedulingCycleView, WorldView

WORDS = read_yaml(Path(__file__).with_suffix(".yaml"))


def _is_new(sim: WorldView) -> bool:
    """Return whether the session is empty, apart from the choice of its release."""
    first = sim.last[0].facts if sim.position == 1 else None
    return sim.position == 0 or (isinstance(first, CommandApplied) and first.kind == "SetSettings")


# The present step in one sentence, from the plugin's step, else from the records of the last transition.


def sentence(sim: WorldView) -> RecordLine:
    """Return the sentence of the present step; its `head` is the extension point and plugin, or the kind of record."""
    if _is_new(sim):
        line = message("Nothing has happened yet: add nodes and pods, then step.")
        return {"head": "", "sentence": line}
    ran = present_step(sim)
    if ran is None:
        telling: list[Record] = [record for record in sim.last[:64] if record.kind in RANK]
        if not telling:
            return {"head": "", "sentence": None}
        return of_facts(min(telling, key=lambda record: RANK[record.kind]).facts)
    step, cycle = ran
    for record in sim.last[:2]:
        if record.kind == AttemptStarted.KIND:
            return of_facts(record.facts)
    ending = _ending(sim)
    if ending is not None:
        return {"head": f"{step.point} · {step.plugin}", "sentence": ending}
    scheduling = cycle_of(sim)
    search = scheduling.search if scheduling is not None and scheduling is cycle else None
    seen = search.seen if search is not None else 0
    framework = scheduler_of(sim).profiles[cycle.profile]
    if step.point in _PREPARING and (step.skipped or step.status.ok) and str(cycle.phase) != step.point:
        return {"head": str(step.point), "sentence": of_preparation(step.point, cycle, framework)}
    return {"head": f"{step.point} · {step.plugin}", "sentence": of_late_step(step, cycle, framework, seen)}


_PREPARING = (Point.PRE_FILTER, Point.PRE_SCORE)


def _ending(sim: WorldView) -> Message | None:
    """Return the sentence of an attempt or binding cycle that this step ended, or None."""
    for record in sim.last[-8:]:
        if record.kind in (AttemptEnded.KIND, BindingEnded.KIND):
            return of_facts(record.facts)["sentence"]
    return None


# The next action of a scheduling or binding cycle, in one sentence.


def coming(sim: WorldView) -> Message | None:
    """Return the scheduler's next action on the pod of the last transition, or None if no cycle of the pod runs."""
    key, cycle = present_pod(sim), cycle_of(sim)
    if cycle is not None and cycle.ended is None and cycle.pod.key == key:
        return _describe_next(cycle, short(key))
    binding = next((each for each in scheduler_of(sim).bindings.values() if each.pod.key == key), None)
    text = WORDS["binding"].get(Phase(binding.phase)) if binding is not None else None
    return message(text, pod=short(key), node=binding.node) if binding is not None and text else None


def _describe_next(cycle: SchedulingCycleView, pod: str) -> Message | None:
    phase = Phase(cycle.phase)
    if phase is Phase.PRE_FILTER and cycle.steps:
        return message("PreFilter: the next plugin prepares data for %(pod)s or refuses the pod.", pod=pod)
    if phase is Phase.PRE_SCORE:
        text = gettext_noop("PreScore: %(k)s of %(n)s nodes are feasible and will be scored.")
        feasible = 0 if cycle.feasible is None else len(cycle.feasible)
        return message(text, k=thousands(feasible), n=thousands(cycle.nodes.snapshot_rows))
    text = WORDS["scheduling"].get(phase)
    if phase is Phase.RESERVE and cycle.steps and cycle.steps[-1].point == Point.RESERVE:
        text = gettext_noop("Reserve: the next plugin reserves resources for %(pod)s on %(node)s or refuses the pod.")
    return message(text, pod=pod, node=cycle.chosen or "–") if text else None


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
    """Return the panel that describes the step, the object, and the reason."""
    line, kube = sentence(sim), ""
    for ended in (each.facts for each in sim.last[-_LOOKED_THROUGH:] if isinstance(each.facts, AttemptEnded)):
        if ended.message and line["sentence"] == of_facts(ended)["sentence"]:
            text = _UNSCHEDULABLE if ended.outcome == "unschedulable" else _FAILED
            line["sentence"], kube = message(text, pod=short(ended.pod)), ended.message
    # A timer without effect leaves no record, so only a command prevents the summary of the run.
    commanded = any(isinstance(record.facts, CommandApplied) for record in sim.last[:1])
    if sim.idle and sim.journal.attempts and at_hand(sim) == CLUSTER and not commanded:
        waits = count_waiting(sim)
        said = message(_WAITING, n=waits) if waits else message(_DONE)
        line = {"head": gettext_noop("Run finished"), "sentence": said}
    return Panel(
        "narrator",
        {
            "idle": sim.idle and not sim.outside and not _is_new(sim),
            "timers": sim.idle and not sim.over,
            "outside": sim.outside,
            "next": coming(sim),
            "kube": kube,
            **line,
        },
    )
