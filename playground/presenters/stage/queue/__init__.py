"""Queue: which pod is next. The queues as a flow of pools, or as a table of pods."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from heapq import nlargest, nsmallest
from itertools import chain, islice
from typing import Any, TypedDict

from playground.presenters.devices.claims import Pager, window
from playground.presenters.look import Look
from playground.presenters.panel import Stage
from playground.presenters.queues.groups import CROWD, reasons, waiting
from playground.presenters.scene import scheduler_of, short
from playground.presenters.stage.queue import flow
from playground.presenters.stage.queue.flow import FlowBody, PoolCard
from playground.presenters.words import Message, clock, duration, gettext_noop, message, thousands
from scheduler_core.world.readonly import QueuedPod, QueueView, SchedulerView, WorldView

Row = tuple[str, QueuedPod]

COLUMNS: dict[str, str] = {
    "pod": gettext_noop("Pod"),
    "place": gettext_noop("Queue"),
    "priority": gettext_noop("Priority"),
    "queued": gettext_noop("Queued since"),
    "attempts": gettext_noop("Attempts"),
    "reason": gettext_noop("Why it waits"),
}
_PLACES = {
    "active": gettext_noop("Active"),
    "backoff": gettext_noop("Backoff"),
    "unschedulable": gettext_noop("Unschedulable"),
    "gated": gettext_noop("Gated"),
}
_ORDERS: Mapping[str, Callable[[Row], Any]] = {
    "pod": lambda row: row[1].key,
    "priority": lambda row: row[1].pod.priority,
    "queued": lambda row: row[1].timestamp,
    "attempts": lambda row: row[1].attempts,
}


class QueueTable(Pager):
    columns: "list[QueueColumn]"
    rows: "list[QueueRow]"
    q: str


def present_table(sim: WorldView, scheduler: SchedulerView, look: Look, chosen: str) -> QueueTable:
    """Return one page of the rows whose key contains `look.q`, by `look.sort`, else in the queue's order."""
    queue = scheduler.queue
    column, down = look.sort.removeprefix("-"), look.sort.startswith("-")
    page, pager = window(sum(len(pods) for _, pods in _pools(queue)), look.page)
    rows: Iterable[Row] = _rows(queue, None if look.q else page.stop)
    if column in _ORDERS:
        rows = ((place, queued) for place, pods in _pools(queue) for queued in pods.values())
    if look.q:
        rows = [row for row in rows if look.q in row[1].key]
        page, pager = window(len(rows), look.page)
    if column in _ORDERS:
        rows = (nlargest if down else nsmallest)(page.stop, rows, key=_ORDERS[column])
    return {
        "columns": [_column(name, title, column, down) for name, title in COLUMNS.items()],
        "rows": [_row(sim, place, queued, chosen) for place, queued in islice(rows, page.start, page.stop)],
        "q": look.q,
        **pager,
    }


def _pools(queue: QueueView) -> list[tuple[str, Mapping[str, QueuedPod]]]:
    return [
        ("active", queue.active_pods),
        ("backoff", queue.backoff_pods),
        ("backoff", queue.error_backoff_pods),
        ("unschedulable", queue.unschedulable_pods),
        ("gated", queue.gated_pods),
    ]


def _rows(queue: QueueView, limit: int | None = None) -> Iterator[Row]:
    """Yield every pod in the queue's own order. `limit`: enough for the first rows."""
    return chain(
        (("active", queued) for queued in queue.active(limit)),
        (("backoff", queued) for queued in queue.backoff(limit)),
        (("unschedulable", queued) for queued in queue.unschedulable_pods.values()),
        (("gated", queued) for queued in queue.gated_pods.values()),
    )


class QueueColumn(TypedDict):
    name: str
    title: str
    sort: str
    order: str


def _column(name: str, title: str, sorted_by: str, down: bool) -> QueueColumn:
    """Return a column. `sort`: the value that its heading selects. `order`: its present order, or ""."""
    if name not in _ORDERS:
        return {"name": name, "title": title, "sort": "", "order": ""}
    mine = name == sorted_by
    order = ("descending" if down else "ascending") if mine else ""
    return {"name": name, "title": title, "sort": f"-{name}" if mine and not down else name, "order": order}


class QueueRow(TypedDict):
    key: str
    name: str
    chosen: bool
    place: str
    priority: int
    queued: str
    attempts: int
    reason: str


def _row(sim: WorldView, place: str, queued: QueuedPod, chosen: str) -> QueueRow:
    return {
        "key": queued.members[0].key if queued.members else queued.key,
        "name": short(queued.pod.key),
        "chosen": chosen in (queued.key, *(each.key for each in queued.members)),
        "place": _PLACES[place],
        "priority": queued.pod.priority,
        "queued": clock(queued.timestamp),
        "attempts": queued.attempts,
        "reason": _why(sim, place, queued),
    }


def _why(sim: WorldView, place: str, queued: QueuedPod) -> str:
    """Return kube's reasons, the scheduling gates, or the remaining backoff."""
    if place == "gated":
        return ", ".join(queued.pod.spec.scheduling_gates) or queued.gated_by
    if place == "backoff":
        return duration(max((queued.backoff_until or sim.now) - sim.now, 0))
    if place == "unschedulable":
        return ", ".join(reasons(sim, queued) or queued.rejectors)
    return ""


FORMS = {"flow": gettext_noop("Flow"), "table": gettext_noop("Table"), "nodes": gettext_noop("Nodes")}


class TableBody(TypedDict, total=False):
    table: QueueTable


QueueBody = FlowBody | TableBody


def present(sim: WorldView, look: Look, key: str) -> Stage[QueueBody, PoolCard]:
    """Return the pools of the scheduler whose cycle began last."""
    scheduler, question = scheduler_of(sim), message("Which pod is next?")
    waits = waiting(scheduler)
    body: QueueBody = {}
    cards: dict[str, PoolCard] = {}
    if look.form == "table":
        body = {"table": present_table(sim, scheduler, look, key)}
    elif look.form != "nodes":
        body, cards = flow.frame(sim, scheduler, look), flow.cards(sim, scheduler, look, key)
    return Stage(question, body, _detail(scheduler, waits), FORMS, cards, map=waits < CROWD)


def _detail(scheduler: SchedulerView, waits: int) -> Message:
    cycle = scheduler.cycle
    running = cycle is not None and cycle.ended is None
    return message(
        "%(n)s waiting, %(k)s in flight or binding", n=thousands(waits), k=thousands(running + len(scheduler.bindings))
    )
