"""A history's tables, as rows of plain values: attempts, moves in the queue, pods and nodes as they are at its end, records by kind."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator
from io import StringIO
from typing import Any

from scheduler_core.base.trace.kinds import KINDS
from scheduler_core.base.trace.records import Record
from scheduler_core.formats.export.traces import ReadLog, transitions
from scheduler_core.world.simulation import Simulation

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
Row = dict[str, Any]


def _attempts(sim: Simulation) -> Iterator[Row]:
    return (attempt._asdict() for attempt in sim.journal.attempts)


def _moves(sim: Simulation) -> Iterator[Row]:
    return ({name: value for name, value in move._asdict().items() if name != "prev"} for move in sim.journal.moves)


def _pods(sim: Simulation) -> Iterator[Row]:
    for pod in sorted(sim.store.pods(), key=lambda pod: pod.key):
        yield {"namespace": pod.namespace, "name": pod.name, "node": pod.node_name, "priority": pod.priority}


def _nodes(sim: Simulation) -> Iterator[Row]:
    for node in sorted(sim.store.nodes(), key=lambda node: node.name):
        pods = sum(pod.node_name == node.name for pod in sim.store.pods())
        yield {"name": node.name, "pods": pods}


TABLES: dict[str, Callable[[Simulation], Iterable[Row]]] = {
    "attempts": _attempts,
    "moves": _moves,
    "pods": _pods,
    "nodes": _nodes,
}


class Tables:
    """Tables that grow with the records of a history: of TABLES those at its end, else the records of a kind."""

    def __init__(self, names: Iterable[str]) -> None:
        self._kept: dict[str, list[Row]] = {name: [] for name in names if name not in TABLES}

    def add(self, records: Iterable[Record]) -> None:
        """The records of the next transition."""
        for record in records:
            if record.kind in self._kept:
                self._kept[record.kind].append(_row(record))

    def csv(self, name: str, sim: Simulation) -> str:
        """One of them as CSV; `sim` stands at the history's end."""
        return write_csv(TABLES[name](sim) if name in TABLES else self._kept[name])


def table_csv(history: ReadLog, name: str) -> str:
    """A table as CSV: one of TABLES at the end of the history, or else the records of the kind with this name."""
    sim, tables = Simulation(seed=history.seed), Tables([name])
    for records in transitions(sim, history.log, history.head):
        tables.add(records)
    return tables.csv(name, sim)


def table_names() -> tuple[str, ...]:
    """Return the names of all tables."""
    return (*TABLES, *KINDS)


def _row(record: Record) -> Row:
    return {"seq": record.seq, "t": record.t, "scheduler": record.scheduler, **record.data}


def write_csv(rows: Iterable[Row]) -> str:
    """Rows as CSV. What has parts is JSON; a column that a row has not is empty; no cell is a formula."""
    found = list(rows)
    stream = StringIO()
    columns = dict.fromkeys(name for row in found for name in row)
    writer = csv.DictWriter(stream, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _plain(value) for name, value in row.items()} for row in found)
    return stream.getvalue()


def _plain(value: Any) -> Any:
    return harmless(value) if isinstance(value, str | int | float) else json.dumps(value, ensure_ascii=False)


def harmless(value: Any) -> Any:
    """A text that a spreadsheet would take for a formula, with an apostrophe before it; full-width signs count where Chinese is written."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
