"""Controller: what happened around the scheduler: who did what to which objects and because of what, from the last records."""

from __future__ import annotations

from playground.presenters.look import Look
from playground.presenters.stage.controller.chain import chain
from playground.presenters.stage.controller.changed import changed
from playground.presenters.stage.controller.election import election
from playground.presenters.stage.controller.evictions import evictions
from playground.presenters.stage.controller.nodes import nodes
from playground.presenters.stage.controller.owners import budgets, owners
from playground.presenters.stage.shape import Stage
from playground.presenters.words import gettext_noop, message
from scheduler_core.view import WorldView

FORMS = {
    "flow": gettext_noop("Flow"),
    "table": gettext_noop("Table"),
    "nodes": gettext_noop("Nodes"),
}


def present(sim: WorldView, look: Look, key: str) -> Stage:
    """What the last transition did; its objects as a table."""
    stage = Stage(
        question=message(gettext_noop("What happened in the cluster?")),
        forms=FORMS,
        map=look.form != "table",
    )
    rows = changed(sim)
    if look.form == "table":
        stage.body.update(table=rows.table(), at=sim.position, before=max(sim.position - 1, 0))
    elif look.form != "nodes":
        stage.body.update(
            **chain(sim),
            owners=owners(sim, rows),
            nodes=nodes(sim, rows),
            budgets=budgets(sim, rows),
            evictions=evictions(sim),
            schedulers=election(sim),
        )
    return stage
