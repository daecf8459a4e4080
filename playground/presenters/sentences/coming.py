"""What comes next in a scheduling or binding cycle, in one sentence."""

from __future__ import annotations

from collections.abc import Callable

from playground.presenters.amounts import thousands
from playground.presenters.scene import cycle_of, present_pod, scheduler_of, short
from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.world.readonly import Phase, Point, SchedulingCycleView, WorldView


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
