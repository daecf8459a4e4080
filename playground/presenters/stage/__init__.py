"""The stage: one decision at a time, large. Each extension point has the stage of its question; one module for each (look.STAGES)."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from playground.presenters.look import STAGES, Look
from playground.presenters.panel import Panel
from playground.presenters.scene import subject
from playground.presenters.stage.shape import Stage
from playground.presenters.stage.which import stage_of
from scheduler_core.view import WorldView

MAP = "nodes"  # the form that is the cluster map

_STAGES: dict[str, Callable[[WorldView, Look, str], Stage]] = {
    name: import_module(f"{__name__}.{name}").present for name in STAGES
}


def present(sim: WorldView, look: Look) -> Panel:
    """The stage at hand, or the chosen one, about the chosen pod or the one of the present cycle."""
    name = stage_of(sim, look)
    stage = _STAGES[name](sim, look, subject(sim, look.pod))
    form = form_of(stage, look)
    context = {
        "stage": name,
        "pinned": bool(look.stage),
        "question": stage.question,
        "detail": stage.detail,
        "facts": stage.facts,
        "forms": [{"name": key, "title": title} for key, title in stage.forms.items()],
        "form": form,
        "map": stage.map or form == MAP,
        "body": stage.body,
    }
    return Panel("stage", context, stage.cards)


def form_of(stage: Stage, look: Look) -> str:
    """The form that is shown; "" where the stage has but one."""
    return look.form if look.form in stage.forms else next(iter(stage.forms), "")
