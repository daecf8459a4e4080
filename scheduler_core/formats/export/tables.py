"""Tables of a history as rows of plain values: attempts, queue moves, the final pods and nodes, and records by kind.

The column `release` is the kube release of the row's scheduler, or of the world, at that step.
"""

import csv
import json
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from io import StringIO
from typing import Any

import msgspec

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.server import is_standing
from scheduler_core.apiserver.store import Store
from scheduler_core.base.trace.kinds import KINDS
from scheduler_core.base.trace.records import Record
from scheduler_core.formats.export.traces import ReadLog, transitions
from scheduler_core.scheduler.config import WorldSettings
from scheduler_core.world.commands import Continuation
from scheduler_core.world.simulation import Simulation

# A world's objects, so that they can be brought into another world, or into a real cluster.
#
# As they are, they open another world in this one's state: each kind in the order in which its objects were made, which decides who is
# tried first, with uids, owners, times and status. For kubectl they are without what a cluster makes of them by itself.

_WRITTEN_ANEW = ("resourceVersion", "managedFields", "selfLink")
# Owner references name uids of this world; in another cluster they would have the garbage collector delete the object.
_OWNED = (
    *_WRITTEN_ANEW,
    "uid",
    "creationTimestamp",
    "generation",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "ownerReferences",
)
_HEADING = "# scheduler-playground: "
_FIRST = ("Namespace", "PriorityClass", "Node")
_LAST = ("Pod",)


def objects_of(store: Store) -> list[Manifest]:
    """Return all objects that not every cluster has, each after its prerequisites, and otherwise in order of creation."""
    return [
        manifest
        for kind in in_order(store.kinds())
        for manifest in store.in_creation_order(kind)
        if not is_standing(manifest)
    ]


def in_order(kinds: list[str]) -> list[str]:
    """Sort kinds so that each follows its prerequisites."""

    def rank(kind: str) -> tuple[int, int, str]:
        first = _FIRST.index(kind) if kind in _FIRST else len(_FIRST)
        return (kind in _LAST, first, kind)

    return sorted(kinds, key=rank)


def as_it_is(manifest: Manifest) -> Manifest:
    """Return an object for a world that continues from here."""
    return _without(manifest, _WRITTEN_ANEW)


def for_kubectl(manifest: Manifest) -> Manifest:
    """An object that kubectl can apply to another cluster."""
    plain = _without(manifest, _OWNED)
    spec = plain.get("spec")
    # Admission sets priority from the class, and refuses one that it did not set.
    if manifest.get("kind") == "Pod" and isinstance(spec, Mapping) and spec.get("priorityClassName"):
        plain["spec"] = {name: value for name, value in spec.items() if name != "priority"}
    return plain


def _without(manifest: Manifest, fields: tuple[str, ...]) -> dict[str, Any]:
    metadata = {name: value for name, value in manifest["metadata"].items() if name not in fields}
    return {**manifest, "metadata": metadata}


def heading(continuation: Continuation) -> str:
    """Return a YAML comment with the state that the objects do not contain."""
    return f"{_HEADING}{msgspec.json.encode(continuation).decode()}\n"


def continuation_of(text: str) -> Continuation | None:
    """Return the contents of a text's heading; None if there is no heading or it was changed."""
    if not text.startswith(_HEADING):
        return None
    line = text[len(_HEADING) : text.find("\n")]
    try:
        return msgspec.json.decode(line, type=Continuation)
    except msgspec.DecodeError:
        return None


_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
Row = dict[str, Any]


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
    "attempts": lambda sim: (attempt._asdict() for attempt in sim.journal.attempts),
    "moves": _moves,
    "pods": _pods,
    "nodes": _nodes,
}


class Tables:
    """Tables that grow with the records of a history: of TABLES those at its end, else the records of a kind."""

    def __init__(self, names: Iterable[str]) -> None:
        self._kept: dict[str, list[Row]] = {name: [] for name in names if name not in TABLES}
        self._settings: list[tuple[int, WorldSettings]] = []  # from which step on

    def add(self, records: Iterable[Record], sim: Simulation) -> None:
        """Add the records of the next transition. `sim` is the world after it."""
        if not self._settings or sim.settings is not self._settings[-1][1]:
            self._settings.append((sim.position, sim.settings))
        for record in records:
            if record.kind in self._kept:
                row = {"seq": record.seq, "t": record.t, "scheduler": record.scheduler, **record.data}
                self._kept[record.kind].append({**row, "release": sim.settings.release_of(record.scheduler)})

    def csv(self, name: str, sim: Simulation) -> str:
        """Return a table as CSV. `sim` is the world at the history's end."""
        if name not in TABLES:
            return write_csv(self._kept[name])
        return write_csv({**row, "release": self._find_release(row, sim)} for row in TABLES[name](sim))

    def _find_release(self, row: Row, sim: Simulation) -> str:
        position = row.get("last_position", row.get("position"))
        at = (
            len(self._settings)
            if position is None
            else bisect_right(self._settings, position, key=lambda each: each[0])
        )
        settings = self._settings[max(0, at - 1)][1] if self._settings else sim.settings
        return settings.release_of(row.get("scheduler", ""))


def table_csv(history: ReadLog, name: str) -> str:
    """A table as CSV: one of TABLES at the end of the history, or else the records of the kind with this name."""
    sim, tables = Simulation(seed=history.seed), Tables([name])
    for records in transitions(sim, history.log, history.head):
        tables.add(records, sim)
    return tables.csv(name, sim)


def table_names() -> tuple[str, ...]:
    """Return the names of all tables."""
    return (*TABLES, *KINDS)


def write_csv(rows: Iterable[Row]) -> str:
    """Return rows as CSV. Nested values are JSON, missing columns are empty, and no cell is a formula."""
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
    """Return a text with an apostrophe before it if a spreadsheet would read it as a formula. Full-width signs count too."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
