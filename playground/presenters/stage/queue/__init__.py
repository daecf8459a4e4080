"""Queue: which pod is next. The pools that pods wait in as a flow, or all of them as a table."""

from typing import TypedDict

from playground.presenters.amounts import thousands
from playground.presenters.look import Look
from playground.presenters.queues.groups import CROWD, waiting
from playground.presenters.scene import scheduler_of
from playground.presenters.stage.queue import flow, table
from playground.presenters.stage.queue.flow import FlowBody, PoolCard
from playground.presenters.stage.queue.table import QueueTable
from playground.presenters.stage.shape import Stage
from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.world.readonly import SchedulerView, WorldView

FORMS = {"flow": gettext_noop("Flow"), "table": gettext_noop("Table"), "nodes": gettext_noop("Nodes")}


class TableBody(TypedDict, total=False):
    table: QueueTable


QueueBody = FlowBody | TableBody


def present(sim: WorldView, look: Look, key: str) -> Stage[QueueBody, PoolCard]:
    """The pools of the scheduler whose cycle began last."""
    scheduler, question = scheduler_of(sim), message(gettext_noop("Which pod is next?"))
    waits = waiting(scheduler)
    body: QueueBody = {}
    cards: dict[str, PoolCard] = {}
    if look.form == "table":
        body = {"table": table.present(sim, scheduler, look, key)}
    elif look.form != "nodes":
        body, cards = flow.frame(sim, scheduler, look), flow.cards(sim, scheduler, look, key)
    return Stage(question, body, _detail(scheduler, waits), FORMS, cards, map=waits < CROWD)


def _detail(scheduler: SchedulerView, waits: int) -> Message:
    cycle = scheduler.cycle
    running = cycle is not None and cycle.ended is None
    return message(
        gettext_noop("%(n)s waiting, %(k)s on their way"),
        n=thousands(waits),
        k=thousands(running + len(scheduler.bindings)),
    )
