"""The stage: one decision at a time, large. Each extension point has the stage of its question; one module for each (look.STAGES)."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from playground.presenters.amounts import clock
from playground.presenters.look import STAGES, Look
from playground.presenters.panel import Panel
from playground.presenters.scene import short
from playground.presenters.stage import preemption
from playground.presenters.stage.aim import Aim, aim_of
from playground.presenters.stage.shape import Stage
from scheduler_core.world.readonly import WorldView

MAP = "nodes"  # the form that is the cluster map

_STAGES: dict[str, Callable[[WorldView, Look, str], Stage]] = {
    name: import_module(f"{__name__}.{name}").present for name in STAGES
}


def present(sim: WorldView, look: Look, past: WorldView | None = None) -> Panel:
    """The stage at hand, or the chosen one, about the chosen pod or the one of the present cycle.

    `past` is the world in which the chosen pod's last attempt ended, where that is another one (aim.past_of).
    """
    aim = aim_of(sim, look)
    name, world = aim.stage, sim if past is None or aim.attempt is None else past
    stage = (
        preemption.present(world, look, aim.pod, sim)
        if name == "preemption"
        else _STAGES[name](world, look, aim.pod)
    )
    form = form_of(stage, look)
    context = {
        "stage": name,
        "pod": aim.pod,
        "pinned": bool(look.stage),
        "past": _past(aim) if world is not sim else None,
        "question": stage.question,
        "detail": stage.detail,
        "facts": stage.facts,
        "forms": [{"name": key, "title": title} for key, title in stage.forms.items()],
        "form": form,
        "map": stage.map or form == MAP,
        "body": stage.body,
    }
    return Panel("stage", context, stage.cards)


def _past(aim: Aim) -> dict[str, Any] | None:
    """The attempt that is shown although the world has gone on."""
    attempt = aim.attempt
    if attempt is None:
        return None
    return {
        "number": attempt.number,
        "pod": short(attempt.pod),
        "at": attempt.last_position,
        "t": clock(attempt.ended),
    }


def form_of(stage: Stage, look: Look) -> str:
    """The form that is shown; "" where the stage has but one."""
    return look.form if look.form in stage.forms else next(iter(stage.forms), "")
