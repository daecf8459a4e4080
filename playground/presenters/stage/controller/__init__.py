"""Controller: what happened around the scheduler: who did what to which objects and because of what, from the last records."""

from __future__ import annotations

from typing import Any

from playground.presenters.look import Look
from playground.presenters.stage.controller.acted import present_controller
from playground.presenters.stage.controller.chain import chain
from playground.presenters.stage.controller.changed import collect_changes
from playground.presenters.stage.controller.election import election
from playground.presenters.stage.controller.evictions import evictions
from playground.presenters.stage.controller.nodes import nodes
from playground.presenters.stage.controller.owners import budgets, owners
from playground.presenters.stage.shape import Stage
from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.world.readonly import WorldView

FORMS = {
    "flow": gettext_noop("Flow"),
    "table": gettext_noop("Table"),
    "nodes": gettext_noop("Nodes"),
}


def present(sim: WorldView, look: Look, key: str) -> Stage:
    """Return the stage for the last transition, with its objects as a table; if aimed at a controller, for its last transition."""
    chosen = present_controller(sim, look)
    stage = Stage(
        question=_question(chosen),
        forms=FORMS,
        map=look.form != "table",
        body={"acted": chosen},
    )
    if chosen is not None and not chosen["here"] and look.form in ("", "flow"):
        return stage
    rows = collect_changes(sim)
    if look.form == "table":
        stage.body.update(table=rows.table(), **_span(sim))
    elif look.form != "nodes":
        stage.body.update(
            **chain(sim),
            **(_span(sim) if rows.objects else {}),
            owners=owners(sim, rows),
            nodes=nodes(sim, rows),
            budgets=budgets(sim, rows),
            evictions=evictions(sim),
            schedulers=election(sim),
        )
    return stage


def _question(chosen: dict[str, Any] | None) -> Message:
    if chosen is None:
        return message(gettext_noop("What happened in the cluster?"))
    if chosen["key"]:
        return message(
            gettext_noop("What did %(who)s do last to %(key)s?"), who=chosen["who"], key=chosen["key"]
        )
    return message(gettext_noop("What did %(who)s do last?"), who=chosen["who"])


def _span(sim: WorldView) -> dict[str, int]:
    """The steps between which the transition lies."""
    return {"at": sim.position, "before": max(sim.position - 1, 0)}
