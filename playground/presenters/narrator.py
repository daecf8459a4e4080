"""The narrator: the present step in one sentence, and what comes next."""

from collections.abc import Callable
from typing import Any

from playground.presenters.amounts import thousands
from playground.presenters.look import CLUSTER, Look
from playground.presenters.panel import Panel
from playground.presenters.scene import cycle_of, present_pod, present_step, scheduler_of, short
from playground.presenters.sentences.kinds import RANK, RecordLine, of_record
from playground.presenters.sentences.records import attempt_ended, of_late_step, of_preparation
from playground.presenters.stage.aim import at_hand
from playground.presenters.stage.cluster import count_waiting
from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.base.trace.kinds import AttemptEnded, AttemptStarted, BindingEnded, CommandApplied
from scheduler_core.world.readonly import Phase, Point, Record, SchedulingCycleView, WorldView

# The present step in one sentence, from what the plugin did or else from the records of the last transition.


def sentence(sim: WorldView) -> RecordLine:
    """`head` names the extension point and plugin, or the kind of thing that happened; `sentence` is the sentence."""
    if sim.position == 0:
        line = message(gettext_noop("Nothing has happened yet: add nodes and pods, then step."))
        return {"head": "", "sentence": line}
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
    scheduling = cycle_of(sim)
    search = scheduling.search if scheduling is not None and scheduling is cycle else None
    seen = search.seen if search is not None else 0
    framework = scheduler_of(sim).profiles[cycle.profile]
    if step.point in _PREPARING and (step.skipped or step.status.ok) and str(cycle.phase) != step.point:
        return {"head": str(step.point), "sentence": of_preparation(step.point, cycle, framework)}
    return {"head": f"{step.point} · {step.plugin}", "sentence": of_late_step(step, cycle, framework, seen)}


_PREPARING = (Point.PRE_FILTER, Point.PRE_SCORE)


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


# What comes next in a scheduling or binding cycle, in one sentence.


def coming(sim: WorldView) -> Message | None:
    """Return what the scheduler does next with the pod that the last transition is about; None if none of its cycles runs."""
    key, cycle = present_pod(sim), cycle_of(sim)
    if cycle is not None and cycle.ended is None and cycle.pod.key == key:
        say = _NEXT.get(Phase(cycle.phase))
        return say(cycle, short(key)) if say else None
    binding = next((each for each in scheduler_of(sim).bindings.values() if each.pod.key == key), None)
    text = _NEXT_IN_BINDING.get(Phase(binding.phase)) if binding is not None else None
    return message(text, pod=short(key), node=binding.node) if binding is not None and text else None


_NEXT_IN_BINDING = {
    Phase.WAIT_ON_PERMIT: gettext_noop("WaitOnPermit: %(pod)s continues when every Permit plugin has allowed it."),
    Phase.PRE_BIND: gettext_noop("PreBind: plugins prepare what %(pod)s needs on %(node)s."),
    Phase.BIND: gettext_noop("Bind: DefaultBinder asks the API server to bind %(pod)s to %(node)s."),
    Phase.POST_BIND: gettext_noop("PostBind: %(pod)s is bound; plugins may clean up."),
}


def _saying(text: str) -> Callable[[SchedulingCycleView, str], Message]:
    return lambda cycle, pod: message(text, pod=pod, node=cycle.chosen or "–")


def _pre_filter(cycle: SchedulingCycleView, pod: str) -> Message:
    if cycle.steps:
        return message(gettext_noop("PreFilter: the next plugin prepares for %(pod)s or refuses it."), pod=pod)
    return message(gettext_noop("PreFilter: the scheduling cycle of %(pod)s begins."), pod=pod)


def _reserve(cycle: SchedulingCycleView, pod: str) -> Message:
    if cycle.steps and cycle.steps[-1].point == Point.RESERVE:
        text = gettext_noop("Reserve: the next plugin reserves resources for %(pod)s on %(node)s or refuses it.")
    else:
        text = gettext_noop("Reserve: %(pod)s is assumed on %(node)s. Its requests count as used from then on.")
    return message(text, pod=pod, node=cycle.chosen or "–")


def _pre_score(cycle: SchedulingCycleView, pod: str) -> Message:
    feasible = 0 if cycle.feasible is None else len(cycle.feasible)
    text = gettext_noop("PreScore: %(k)s of %(n)s nodes are feasible and will be scored.")
    return message(text, k=thousands(feasible), n=thousands(cycle.nodes.snapshot_rows))


_NEXT: dict[Phase, Callable[[SchedulingCycleView, str], Message]] = {
    Phase.PRE_FILTER: _pre_filter,
    Phase.FILTER: _saying(gettext_noop("Filter: each plugin checks the nodes that passed the plugins before it.")),
    Phase.EXTENDER_FILTER: _saying(gettext_noop("The extenders check the nodes that passed all plugins.")),
    Phase.POST_FILTER: _saying(
        gettext_noop("PostFilter: no node is feasible, so plugins look for a way to make room for %(pod)s.")
    ),
    Phase.EXTENDER_PREEMPT: _saying(gettext_noop("The extenders check the victims for %(pod)s.")),
    Phase.PRE_SCORE: _pre_score,
    Phase.SCORE: _saying(gettext_noop("Score: each plugin scores the feasible nodes for %(pod)s.")),
    Phase.NORMALIZE_SCORE: _saying(
        gettext_noop("NormalizeScore: scores are scaled to 0 to 100, then multiplied by the plugin's weight.")
    ),
    Phase.EXTENDER_PRIORITIZE: _saying(gettext_noop("The extenders score the feasible nodes for %(pod)s.")),
    Phase.SELECT: _saying(gettext_noop("The node with the highest total score is selected for %(pod)s.")),
    Phase.RESERVE: _reserve,
    Phase.PERMIT: _saying(gettext_noop("Permit: plugins allow %(pod)s, make it wait, or reject it.")),
    Phase.FAILED: _saying(gettext_noop("%(pod)s goes back to the queue.")),
    Phase.DONE: _saying(
        gettext_noop(
            "The scheduling cycle of %(pod)s ends. Its binding cycle runs in parallel with the next scheduling cycle."
        )
    ),
}


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
