"""Aim: the stage, the pod, and the world that a look selects. A finished attempt is shown in its own world.

The stage follows the selected object: a pod, in its present or last attempt; a claim, in the attempt of its pod; a node, in the present
attempt, or in the last one that examined it; a controller, on its own stage, with its last actions.
"""

from itertools import islice
from typing import NamedTuple

from playground.presenters import scene
from playground.presenters.cluster_map.node_cards import evidence_of, preempting
from playground.presenters.inspector.objects import find_chosen_object, pods_of
from playground.presenters.look import AIM, CLUSTER, WITH_NODES, Look
from scheduler_core.base.trace import kinds as trace
from scheduler_core.world.readonly import Attempt, Point, SchedulingCycleView, WorldView

# The stage of the present step, by the extension point whose plugin ran, else by the last transition.

_POINTS = {
    "queue": (Point.PRE_ENQUEUE, Point.QUEUE_SORT),
    "prefilter": (Point.PRE_FILTER,),
    "filter": (Point.FILTER, Point.EXTENDER_FILTER),
    "preemption": (Point.POST_FILTER, Point.EXTENDER_PREEMPT),
    "prescore": (Point.PRE_SCORE,),
    "score": (Point.SCORE, Point.NORMALIZE_SCORE, Point.EXTENDER_PRIORITIZE),
}
OF_POINT = dict.fromkeys(Point, "binding") | {point: stage for stage, points in _POINTS.items() for point in points}
# Records of a transition that ran no plugin, most important first. A cluster change without any of these is a command.
_BINDINGS = (
    trace.PodAssumed,
    trace.PodForgotten,
    trace.PodWaits,
    trace.WaitDecided,
    trace.WaitEnded,
    trace.BindingStarted,
    trace.BindingEnded,
)
_OF_KIND = {
    trace.NodeSelected.KIND: "score",
    trace.AttemptStarted.KIND: "queue",
    **{facts.KIND: "binding" for facts in _BINDINGS},
    trace.PreemptionStarted.KIND: "preemption",
    trace.AttemptEnded.KIND: "pending",
    trace.Reconciled.KIND: "controller",
    trace.QueueMoved.KIND: "queue",
}
_LOOKED_THROUGH = 64  # records of one transition; an import makes thousands


def at_hand(sim: WorldView) -> str:
    """Return the stage of the present step."""
    if sim.position == 0:
        return CLUSTER
    step, group = scene.present_step(sim), scene.scheduler_of(sim).group
    tries = group is not None and group.ended is None and not group.driving
    if tries and (step is None or step[0].point in (Point.RESERVE, Point.UNRESERVE)):
        return "group"
    if step is not None:
        return _of_failure(sim) if step[0].point is Point.POST_FILTER else OF_POINT[step[0].point]
    kinds = {record.kind for record in sim.last[:_LOOKED_THROUGH]}
    if trace.CommandApplied.KIND in kinds:
        return _of_work(sim)
    stage = next((stage for kind, stage in _OF_KIND.items() if kind in kinds), "controller")
    if sim.idle and stage in ("controller", "queue"):
        return CLUSTER
    return _of_failure(sim) if stage == _OF_KIND[trace.AttemptEnded.KIND] else stage


def _of_work(sim: WorldView) -> str:
    """Return the stage after a command: that of the running cycle, else binding if a binding cycle runs, else the cluster."""
    cycle = scene.cycle_of(sim)
    if cycle is not None and cycle.ended is None:
        return OF_POINT[cycle.steps[-1].point] if cycle.steps else "queue"
    return "binding" if any(each.bindings for each in sim.schedulers) else CLUSTER


def _of_failure(sim: WorldView) -> str:
    """Return the stage of a failed attempt: a pod that lost its node, one that preempts, or one that stays Pending."""
    cycle = scene.cycle_of(sim)
    if cycle is not None and any(step.point in (Point.RESERVE, Point.PERMIT) for step in cycle.steps):
        return "binding"
    if cycle is not None and str(cycle.phase) == Point.POST_FILTER:
        return "filter"  # the plugin that looks for victims has not run yet
    evidence = evidence_of(cycle)
    return "preemption" if evidence is not None and evidence.candidates else "pending"


# Whether an attempt examined a node, and the last attempt that did.

LOOKED_BACK = 2000  # attempts


def looks_at(cycle: SchedulingCycleView, node: str) -> bool:
    """Return whether a cycle has evaluated a node: by Filter, or by a PreFilter plugin that refused the pod on all nodes."""
    if node not in cycle.nodes.rows:
        return False
    if not cycle.pre_filter_status.ok:
        return True
    return int(scene.node_to_status(cycle, (node,)).groups().group[0]) != scene.UNSEEN


def scores(cycle: SchedulingCycleView, node: str) -> bool:
    """Return whether the cycle scores the node."""
    row, board = cycle.nodes.row(node), cycle.scores
    return row is not None and board is not None and row in board.rows


def find_examining_attempt(sim: WorldView, node: str) -> Attempt | None:
    """Return the last attempt that certainly examined a node: it chose or nominated the node, or it examined all nodes; or None."""
    everyone = len(scene.table_of(scene.scheduler_of(sim)))
    for attempt in islice(reversed(sim.journal.attempts), LOOKED_BACK):
        if node in (attempt.node, attempt.nominated) or attempt.evaluated >= everyone:
            return attempt
    return None


OF_ATTEMPTS = ("pending", "prefilter", "filter", "prescore", "score", "preemption")  # stages that show one attempt


class Aim(NamedTuple):
    """`attempt` is a finished attempt that the present world no longer shows, or None."""

    stage: str
    pod: str
    attempt: Attempt | None = None


def aim_of(sim: WorldView, look: Look) -> Aim:
    """Return the stage and pod that a look selects, or those of the present step if it follows."""
    if not look.stage:
        return _at_hand(sim)
    if look.stage == AIM:
        if look.about == "controller" and look.controller:
            return Aim("controller", scene.subject(sim, look.pod))
        if look.about == "node" and look.node:
            return _of_node(sim, look.node)
        if look.about == "claim" and look.claim:
            pod = _pod_of_claim(sim, look)
            if not pod:
                return _at_hand(sim)
            attempt, aim = scene.last_attempt(sim, pod), _of_pod(sim, pod)
            ended = attempt is not None and attempt.outcome == "scheduled"
            return Aim("binding", pod) if ended and aim.stage in OF_ATTEMPTS else aim
        return _of_pod(sim, look.pod) if look.about == "pod" and look.pod else _at_hand(sim)
    pod = scene.subject(sim, look.pod)
    found = sim.store.pod_at(pod) if look.stage == "pending" else None
    if found is not None and found.node_name:
        return Aim("placed", pod)  # the pod has been placed since
    return Aim(look.stage, pod, _past(sim, pod) if look.stage in OF_ATTEMPTS else None)


def past_of(sim: WorldView, look: Look) -> int | None:
    """Return the position of the world that the stage shows, or None for the present one."""
    attempt = aim_of(sim, aim_look(sim, look)).attempt
    return None if attempt is None else attempt.last_position


def aim_look(sim: WorldView, look: Look) -> Look:
    """Return the look with the pod that all panels mark: the claim's pod, or the pod whose attempt shows the chosen node."""
    if look.about == "claim" and look.claim:
        return look.but(pod=_pod_of_claim(sim, look) or look.pod)
    if look.about == "node" and look.node and look.stage == AIM:
        return look.but(pod=aim_of(sim, look).pod)
    return look


def _at_hand(sim: WorldView) -> Aim:
    stage = at_hand(sim)
    return Aim(stage, (_find_bound_pod(sim) if stage == "binding" else "") or scene.subject(sim, ""))


def _find_bound_pod(sim: WorldView) -> str:
    """Return the pod that the last transition moved toward its node or back, or ""."""
    step = scene.present_step(sim)
    if step is not None:
        return step[1].pod.key
    return next(
        (record.facts.pod for record in sim.last[:_LOOKED_THROUGH] if isinstance(record.facts, _BINDINGS[1:])), ""
    )


def _of_pod(sim: WorldView, pod: str) -> Aim:
    stage = _stage_of(sim, pod)
    return Aim(stage, pod, _past(sim, pod) if stage in OF_ATTEMPTS else None)


def _pod_of_claim(sim: WorldView, look: Look) -> str:
    """Return a pod that uses the claim, or "": the present cycle's pod, else the pod with the latest attempt."""
    ref = find_chosen_object(sim, look)
    metas = [pod["metadata"] for pod in pods_of(sim, ref)] if ref is not None else []
    keys = [f"{meta['namespace']}/{meta['name']}" for meta in metas]
    cycle = scene.cycle_of(sim)
    if cycle is not None and cycle.pod.key in keys:
        return cycle.pod.key
    return max(keys, key=lambda key: sim.journal.last_attempt.get(key, -1), default="")


def _of_node(sim: WorldView, name: str) -> Aim:
    """Return the present attempt if its stage shows the node, else the last attempt that examined the node."""
    present, cycle = _at_hand(sim), scene.cycle_of(sim)
    if _shows(sim, present.stage, name):
        return present
    if cycle is not None and looks_at(cycle, name):
        return Aim("score" if scores(cycle, name) else "filter", cycle.pod.key)
    attempt = find_examining_attempt(sim, name)
    if attempt is None:
        return present
    past = attempt if cycle is None or cycle.number != attempt.number else None
    return Aim(
        _get_deciding_stage(attempt) if name in (attempt.node, attempt.nominated) else "filter", attempt.pod, past
    )


def _shows(sim: WorldView, stage: str, node: str) -> bool:
    """Return whether the stage of the present step has data about a node."""
    if stage == "preemption":
        return node in preempting(sim, 0).candidates
    if stage == "binding":
        return any(node == binding.node for each in sim.schedulers for binding in each.bindings.values())
    return stage in WITH_NODES


def _past(sim: WorldView, pod: str) -> Attempt | None:
    """Return the pod's last attempt if another pod's attempt has begun since, else None."""
    cycle = scene.cycle_of(sim)
    return None if cycle is None or cycle.pod.key == pod else scene.last_attempt(sim, pod)


def _stage_of(sim: WorldView, pod: str) -> str:
    """Return the stage of the pod's present attempt, or the stage that decided its last one."""
    cycle = scene.cycle_of(sim)
    if cycle is not None and cycle.pod.key == pod and cycle.ended is None:
        return OF_POINT[cycle.steps[-1].point] if cycle.steps else "queue"
    if scene.binding_of(sim, pod) is not None:
        return "binding"
    known, attempt = sim.store.pod_at(pod), scene.last_attempt(sim, pod)
    if known is not None and known.node_name:
        return "placed"
    if attempt is None:
        return CLUSTER if at_hand(sim) == CLUSTER else "queue"
    return _get_deciding_stage(attempt)


def _get_deciding_stage(attempt: Attempt) -> str:
    if attempt.outcome == "scheduled":
        return "score" if attempt.feasible > 1 else "filter"
    return "preemption" if attempt.nominated else "pending"
