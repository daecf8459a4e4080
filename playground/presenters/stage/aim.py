"""Aim: which stage a look asks for, about which pod, and in which moment's world. A pod whose attempt is over is shown in that attempt."""

from __future__ import annotations

from typing import NamedTuple

from playground.presenters.look import AIM, Look
from playground.presenters.scene import cycle_of, last_attempt, subject
from playground.presenters.stage.which import OF_POINT, at_hand
from scheduler_core.view import Attempt, WorldView

OF_ATTEMPTS = ("filter", "score", "preemption")  # stages that show one attempt


class Aim(NamedTuple):
    """`attempt` is one that has ended, and that the present world does not show any more."""

    stage: str
    pod: str
    attempt: Attempt | None = None


def aim_of(sim: WorldView, look: Look) -> Aim:
    """Following, it is the present step's stage and pod; else what was chosen."""
    if not look.stage or (look.stage == AIM and look.about == "pod" and not look.pod):
        return Aim(at_hand(sim), subject(sim, ""))
    pod = subject(sim, look.pod)
    stage = look.stage if look.stage != AIM else _of_subject(sim, look)
    return Aim(stage, pod, _past(sim, pod) if stage in OF_ATTEMPTS else None)


def past_of(sim: WorldView, look: Look) -> int | None:
    """The position whose world the stage shows; None where it is the present one."""
    attempt = aim_of(sim, look).attempt
    return None if attempt is None else attempt.last_position


def _past(sim: WorldView, pod: str) -> Attempt | None:
    """The pod's last attempt, where another one has begun since."""
    cycle = cycle_of(sim)
    return None if cycle is None or cycle.pod.key == pod else last_attempt(sim, pod)


def _of_subject(sim: WorldView, look: Look) -> str:
    if look.about == "controller":
        return "controller"
    return _of_pod(sim, look.pod) if look.about == "pod" else at_hand(sim)


def _of_pod(sim: WorldView, pod: str) -> str:
    """Where the pod's present attempt stands, or where its last one was decided."""
    cycle = cycle_of(sim)
    if cycle is not None and cycle.pod.key == pod and cycle.ended is None:
        return OF_POINT[cycle.steps[-1].point] if cycle.steps else "queue"
    if any(binding.pod.key == pod for each in sim.schedulers for binding in each.bindings.values()):
        return "binding"
    attempt = last_attempt(sim, pod)
    if attempt is None:
        return "queue"
    if attempt.outcome == "scheduled":
        return "score" if attempt.feasible > 1 else "filter"
    return "preemption" if attempt.nominated else "filter"
