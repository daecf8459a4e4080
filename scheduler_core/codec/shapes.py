"""The classes that a checkpoint may hold, and what of them is not written.

Every class that a Simulation can reach is either here or among the plain ones (numbers, texts, tuples, lists, dicts,
frozensets, arrays), or a plugin names it among what it leaves in a cycle (`state_classes`). A new class of the world's state is
added to its line below; a field that is derived from others, or that wires an object to its world, is added to ABSENT with what it is
made as (Simulation.fork wires a decoded world). A test walks a rich world and tells what is missing.
"""

from __future__ import annotations

import enum
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np

from scheduler_core.api import faults, kube_events, store, watch
from scheduler_core.clock import agenda, random
from scheduler_core.cluster import cache, node_tree, pod_classes, pod_table, table
from scheduler_core.config import settings
from scheduler_core.config import types as configuration
from scheduler_core.framework import cycle_state, events, features, plugin, profile, scores, status, step
from scheduler_core.metrics import figures
from scheduler_core.objects import affinity, errors, labels, node, pod, resources, spec
from scheduler_core.plugins.registry import state_classes
from scheduler_core.queue import heap, historical, in_flight, metrics, moves, nominator, queue, state
from scheduler_core.queue import types as queued
from scheduler_core.readings import scrapes
from scheduler_core.scheduler import scheduler, world
from scheduler_core.scheduler.algorithm import algorithm_state
from scheduler_core.scheduler.calls import dispatcher
from scheduler_core.scheduler.cycles import binding_cycle, eviction, phases, scheduling_cycle, search
from scheduler_core.simulation import edits, simulation
from scheduler_core.simulation.actions import ROWS
from scheduler_core.trace import journal, kinds, records

CLASSES: tuple[type, ...] = (
    # the world
    *(simulation.Simulation, settings.WorldSettings, faults.Fault, world.Ids, edits.Edits, edits.Edit),
    *(row.kind for row in ROWS),
    *(agenda.Agenda, agenda.Entry, random.Stream, records.Recorder, records.Record, *kinds.CLASSES),
    *(store.Store, watch.WatchEvent, kube_events.KubeEvent, journal.Journal, journal.Move, journal.Attempt),
    # objects
    *(node.Taint, spec.HostPort, spec.Toleration, pod.Reading, resources.Resources, errors.FieldError),
    *(labels.Requirement, labels.LabelSelector, labels.NodeSelectorTerm, labels.NodeSelector),
    *(affinity.AffinityTerm, affinity.AffinityTerms),
    # configuration and framework
    *(configuration.SchedulerConfiguration, profile.Profile, features.Features, plugin.Point),
    *(
        status.Status,
        status.Code,
        cycle_state.CycleState,
        events.ClusterEvent,
        events.Action,
        events.ObjectEvent,
    ),
    *(plugin.PreFilterResult, plugin.PostFilterResult, plugin.Verdicts),
    # cache and snapshot
    *(cache.Cache, cache.Copied, node_tree.NodeTree, table.NodeTable, table.ResourceIndex, table.ImageState),
    *(pod_table.PodColumns, pod_table.PodTable),
    *(
        pod_classes.PodClasses,
        pod_classes.PodClass,
        pod_classes.Measure,
        pod_classes.TermsMeasure,
        pod_classes.Known,
    ),
    # queue
    *(
        queue.SchedulingQueue,
        state.QueueState,
        queued.QueueOptions,
        queued.QueuedPod,
        heap.PodHeap,
        in_flight.InFlight,
    ),
    *(nominator.Nominator, metrics.QueueMetrics),
    # scheduler
    *(scheduler.Scheduler, algorithm_state.AlgorithmState, eviction.Eviction),
    *(
        scheduling_cycle.SchedulingCycle,
        binding_cycle.BindingCycle,
        step.PluginStep,
        scores.ScoreBoard,
        phases.Phase,
    ),
    *(search.Search, search.Stage),
    *(dispatcher.Dispatcher, dispatcher.StatusPatch, dispatcher.Binding),
    # metrics
    *(figures.Figures, figures.Histogram, figures.Alike, scrapes.Scrapes, scrapes.Scrape),
)

MAPPINGS: tuple[type, ...] = (OrderedDict, Counter, figures.Tally)
HELD: tuple[type, ...] = (moves.HintedMoves, historical.HistoricalMoves)
"""Classes that a world holds as classes, to make objects of them."""


def _nothing() -> None:
    return None


ABSENT: Mapping[type, Mapping[str, Callable[[], Any]]] = {
    simulation.Simulation: {"changes": list},
    scheduler.Scheduler: {"world": _nothing, "profiles": dict},
    queue.SchedulingQueue: {"_rules": _nothing, "_placing": _nothing, "_moves": _nothing},
    nominator.Nominator: {"_find": _nothing, "queued": _nothing},
    algorithm_state.AlgorithmState: {"draw": _nothing, "draw_preemption": _nothing},
    store.Store: {"_subscribers": list, "_sorted": dict},
    records.Recorder: {"records": list},
    records.Record: {"_data": _nothing},
    journal.Journal: {"last_move": dict, "last_attempt": dict, "_same": dict},
    cache.Cache: {"_vectors": dict},
    table.NodeTable: {"memo": dict, "label_columns": dict},
    pod_table.PodTable: {"_zeros": _nothing, "_log": list, "_log_start": int, "_counts": dict},
    pod_classes.PodClasses: {"_pods": dict, "_known": dict},
    status.Status: {"_signed": dict},
}
"""Fields that are not written, and how they begin in a decoded object."""

ROLLS: Mapping[type, Mapping[str, type]] = {
    store.Store: {"events": kube_events.KubeEvent},
    journal.Journal: {"moves": journal.Move, "attempts": journal.Attempt},
}
"""Lists that only grow, of which a world has one each; their rows are kept in the archive."""


def _index_journal(decoded: journal.Journal) -> None:
    decoded.last_move = {move.pod: index for index, move in enumerate(decoded.moves)}
    decoded.last_attempt = {attempt.pod: index for index, attempt in enumerate(decoded.attempts)}


def _clear_counts(decoded: pod_table.PodTable) -> None:
    decoded._zeros = np.zeros(decoded._rows, np.int64)


FINISH: Mapping[type, Callable[[Any], None]] = {
    journal.Journal: _index_journal,
    pod_table.PodTable: _clear_counts,
}
"""What fills absent fields from the written ones."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How a class is written. `fields` is None where an object says itself which it has (no slots, no dataclass)."""

    cls: type
    name: str
    fields: tuple[str, ...] | None
    absent: Mapping[str, Callable[[], Any]]
    rolls: Mapping[str, type]
    finish: Callable[[Any], None] | None

    def written(self, value: object) -> tuple[str, ...]:
        """The names of an object's fields that are written."""
        return self.fields if self.fields is not None else self.own(vars(value))

    def own(self, names: Mapping[str, Any]) -> tuple[str, ...]:
        return tuple(name for name in names if name not in self.absent)


def classes() -> tuple[type, ...]:
    """All that a checkpoint may hold, those of the plugins included."""
    return (*CLASSES, *state_classes())


def shapes() -> Mapping[type, Shape]:
    """By class; enums are not among them."""
    return _shapes(classes())


@lru_cache(maxsize=2)
def _shapes(listed: tuple[type, ...]) -> Mapping[type, Shape]:
    return {cls: _shape(cls) for cls in listed if not issubclass(cls, enum.Enum)}


def enums() -> Mapping[type, str]:
    return {cls: class_name(cls) for cls in classes() if issubclass(cls, enum.Enum)}


def by_name() -> Mapping[str, type]:
    return _by_name(classes())


@lru_cache(maxsize=2)
def _by_name(listed: tuple[type, ...]) -> Mapping[str, type]:
    return {class_name(cls): cls for cls in (*listed, *MAPPINGS)}


def class_name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


ROW_TYPES: Mapping[str, type] = {
    f"{class_name(cls)}.{field}": row for cls, lists in ROLLS.items() for field, row in lists.items()
}


def _shape(cls: type) -> Shape:
    absent = ABSENT.get(cls, {})
    names = _declared(cls)
    kept = None if names is None else tuple(name for name in names if name not in absent)
    return Shape(cls, class_name(cls), kept, absent, ROLLS.get(cls, {}), FINISH.get(cls))


def _declared(cls: type) -> tuple[str, ...] | None:
    if issubclass(cls, tuple):
        return tuple(getattr(cls, "_fields", ()))
    if issubclass(cls, msgspec.Struct):
        return cls.__struct_fields__
    if is_dataclass(cls):
        return tuple(field.name for field in fields(cls))
    slots = [name for base in reversed(cls.__mro__) for name in vars(base).get("__slots__", ())]
    return tuple(slots) if slots else None
