"""What a comparison has found, as its presenter reads it. sessions/protocol/comparing.py has the classes."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol


class PodPlace(Protocol):
    """A pod's place, and the position since which the pod is there."""

    @property
    def node(self) -> str: ...

    @property
    def place(self) -> str: ...

    @property
    def at(self) -> int: ...


class Attempt(Protocol):
    """An attempt as the journal keeps it."""

    @property
    def pod(self) -> str: ...

    @property
    def started(self) -> int: ...

    @property
    def ended(self) -> int: ...

    @property
    def last_position(self) -> int: ...

    @property
    def outcome(self) -> str: ...

    @property
    def node(self) -> str: ...

    @property
    def message(self) -> str: ...

    @property
    def evaluated(self) -> int: ...

    @property
    def feasible(self) -> int: ...

    @property
    def tied(self) -> int: ...

    @property
    def nominated(self) -> str: ...

    @property
    def victims(self) -> Sequence[str]: ...


class WeightedPlugin(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def weight(self) -> int: ...


class ScoredNode(Protocol):
    """A node's scores by plugin: raw, normalised, weighted."""

    @property
    def node(self) -> str: ...

    @property
    def total(self) -> int: ...

    @property
    def cells(self) -> Mapping[str, tuple[int, int, int]]: ...


class Board(Protocol):
    """Scores of the best nodes."""

    @property
    def plugins(self) -> Sequence[WeightedPlugin]: ...

    @property
    def rows(self) -> Sequence[ScoredNode]: ...


class Scored(Protocol):
    """An attempt with scores, and the node that was chosen by them."""

    @property
    def node(self) -> str: ...

    @property
    def board(self) -> Board | None: ...


class AttemptDetail(Attempt, Scored, Protocol):
    """An attempt with its scores and counted refusals."""

    @property
    def refusals(self) -> Sequence[object]: ...


class SchedulerManifest(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def manifest(self) -> Mapping[str, Any]: ...


class Configured(Protocol):
    """The schedulers and the world's settings."""

    @property
    def schedulers(self) -> Sequence[SchedulerManifest]: ...

    @property
    def settings(self) -> Mapping[str, Any]: ...


class ResourceUse(Protocol):
    """The requested and allocatable amounts of a resource."""

    @property
    def resource(self) -> str: ...

    @property
    def requested(self) -> int: ...

    @property
    def allocatable(self) -> int: ...


class History(Protocol):
    """`bound` is (virtual time, pods that have a node), where that number changed."""

    @property
    def resources(self) -> Sequence[ResourceUse]: ...

    @property
    def bound(self) -> Sequence[tuple[int, int]]: ...


class Outline(History, Protocol):
    """A history: attempts from index `first` on, where each pod is, sums, and the configuration. `cut`: there is more of it."""

    @property
    def now(self) -> int: ...

    @property
    def first(self) -> int: ...

    @property
    def attempts(self) -> Sequence[Attempt]: ...

    @property
    def pods(self) -> Mapping[str, PodPlace]: ...

    @property
    def cut(self) -> bool: ...

    @property
    def nodes(self) -> int: ...

    @property
    def tried(self) -> int: ...

    @property
    def configuration(self) -> Configured: ...


class Comparison(Protocol):
    """Two histories up to their `heads`; they part at `common`. See sessions/web/jobs/comparisons.py."""

    @property
    def common(self) -> int: ...

    @property
    def heads(self) -> tuple[int, int]: ...

    @property
    def sides(self) -> tuple[Outline, Outline]: ...

    @property
    def commands(self) -> object: ...

    @property
    def first(self) -> int | None: ...

    @property
    def late(self) -> bool: ...

    @property
    def attempts(self) -> tuple[AttemptDetail | None, AttemptDetail | None]: ...

    @property
    def clock(self) -> int | None: ...


SECOND = 1_000_000_000
NAMES = ("A", "B")


def utilisation(sides: Sequence[History]) -> dict[str, Any]:
    """A figure: per resource how much of it is requested, in percent, one bar for each session."""
    names = list(dict.fromkeys(use.resource for side in sides for use in side.resources))
    data = []
    for name, side in zip(NAMES, sides, strict=True):
        used = {use.resource: 100 * use.requested / use.allocatable for use in side.resources}
        bars = [round(used.get(resource, 0.0), 1) for resource in names]
        data.append({"type": "bar", "name": name, "x": names, "y": bars})
    layout = {"barmode": "group", "yaxis": {"ticksuffix": " %", "rangemode": "tozero"}}
    return {"kind": "utilisation", "data": data, "layout": layout}


def plot_bound_pods(sides: Sequence[History]) -> dict[str, Any]:
    """A figure: pods with a node over virtual time in seconds, one line for each session."""
    data = [
        {
            "type": "scatter",
            "mode": "lines",
            "line": {"shape": "hv"},
            "name": name,
            "x": [t / SECOND for t, _ in side.bound],
            "y": [count for _, count in side.bound],
        }
        for name, side in zip(NAMES, sides, strict=True)
    ]
    return {"kind": "bound", "data": data, "layout": {"xaxis": {"ticksuffix": " s"}, "yaxis": {"rangemode": "tozero"}}}
