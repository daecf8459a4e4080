"""Another scheduler's decisions beside ours, pod by pod: both begin with the same world, and come to rest.

Where nodes tie, kube draws one. Ours takes the node that the other one took if it is among the tied, so that the two go on from the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scheduler_core.analysis.whatif.rest import Rest, Steps, come_to_rest
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apiserver.kube_events import KubeEvent
from scheduler_core.base.clock.agenda import Stream
from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.world.commands import SetConfiguration
from scheduler_core.world.simulation import Simulation

WRITTEN = "Event.events.k8s.io"  # the store's key of the Events that clients wrote
FIELDS = ("node", "condition", "nominated", "events")
Said = tuple[str, str, str]
"""An Event about a pod: type, reason, message."""


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a pod: its node ("" while it waits), its condition PodScheduled, its nominated node, and schedulers' Events."""

    node: str = ""
    condition: tuple[str, str, str] = ("", "", "")
    nominated: str = ""
    events: tuple[Said, ...] = ()
    gone: bool = False

    def differs_in(self, other: Fate) -> list[str]:
        """Return the names of the fields that differ."""
        if self.gone != other.gone:
            return ["gone"]
        return [name for name in FIELDS if getattr(self, name) != getattr(other, name)]


@dataclass(frozen=True, slots=True)
class Row:
    """A pod under both schedulers. `tied`: the best nodes of our last attempt, where there were several; `different`: fields of Fate."""

    pod: str
    ours: Fate
    theirs: Fate
    tied: tuple[str, ...]
    different: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Opinion:
    """All pods that either of the schedulers decided about, in the order of our attempts, and how ours came to rest."""

    rows: tuple[Row, ...]
    rest: Rest

    @property
    def first(self) -> Row | None:
        """The first pod about which they differ."""
        return next((row for row in self.rows if row.different), None)


Configurations = Mapping[str, Manifest | None]
"""Schedulers by name, with their configurations as they were given."""


def start_schedulers(world: Simulation, configurations: Configurations) -> None:
    """Start our schedulers in a world, each of which lists what there is."""
    for name, given in configurations.items():
        world.apply(SetConfiguration(given, name))


def compare(
    ours: Simulation, theirs: Simulation, configurations: Configurations, seed: int | None = None
) -> Steps[Opinion]:
    """Start our schedulers in a world, run it to rest, and compare with what another one made of the same; `ours` is used up.

    `seed`: of the draws among nodes that tie, where the other's choice is not among them; None: the world's.
    """
    written = _read_written(theirs)
    seen = len(ours.store.events)
    before = {pod.key: pod.uid for pod in ours.store.pods() if pod.node_name}
    wanted = {pod.key: pod.node_name or pod.nominated_node_name for pod in theirs.store.pods()}
    tied: dict[str, tuple[str, ...]] = {}
    draw = ours.draw if seed is None else Stream(seed).below
    start_schedulers(ours, configurations)
    names = {name for scheduler in ours.schedulers for name in scheduler.profiles}
    for scheduler in ours.schedulers:
        _follow(scheduler, wanted, tied, draw)
    rest = yield from come_to_rest(ours)
    said = _read_recorded(ours.store.events[seen:], names)
    order = dict.fromkeys(attempt.pod for attempt in ours.journal.attempts)
    order |= dict.fromkeys(key for key in written if key not in before)
    order |= dict.fromkeys(key for key in (*said, *written))
    rows = []
    for key in order:
        mine, other = _fate(ours.store.pod_at(key), said.get(key)), _fate(theirs.store.pod_at(key), written.get(key))
        rows.append(Row(key, mine, other, tied.get(key, ()), tuple(mine.differs_in(other))))
    return Opinion(tuple(rows), rest)


def _follow(
    scheduler: Scheduler, wanted: Mapping[str, str], tied: dict[str, tuple[str, ...]], draw: Callable[[int], int]
) -> None:
    """Have a scheduler choose what another one did, among nodes that tie."""

    def choose(n: int) -> int:
        cycle = scheduler.cycle
        assert cycle is not None
        names = tied[cycle.pod.key] = cycle.tied
        return _place(wanted.get(cycle.pod.key, ""), names, draw)

    def nominate(n: int, names: Sequence[str] = ()) -> int:
        cycle = scheduler.cycle
        return _place(wanted.get(cycle.pod.key, "") if cycle else "", names, draw) if names else draw(n)

    scheduler.algorithm_state.draw, scheduler.algorithm_state.draw_preemption = choose, nominate


def _place(wanted: str, names: Sequence[str], draw: Callable[[int], int]) -> int:
    return names.index(wanted) if wanted in names else draw(len(names))


def _fate(pod: Pod | None, events: Mapping[Said, int] | None) -> Fate:
    said = tuple(events or ())
    if pod is None or pod.deleting:
        return Fate(events=said, gone=True)
    found: Mapping[str, Any] = pod.condition("PodScheduled") or {}
    condition = tuple(str(found.get(name) or "") for name in ("status", "reason", "message"))
    return Fate(pod.node_name, (condition[0], condition[1], condition[2]), pod.nominated_node_name, said)


def _read_recorded(events: Sequence[KubeEvent], reporters: set[str]) -> dict[str, Counter[Said]]:
    """Return what our schedulers said about each pod, and how often."""
    said: dict[str, Counter[Said]] = {}
    for each in events:
        if each.kind == "Pod" and each.reporter in reporters:
            counts = said.setdefault(f"{each.namespace}/{each.name}", Counter())
            counts[each.type, each.reason, each.message] += each.count
    return said


def _read_written(world: Simulation) -> dict[str, Counter[Said]]:
    """Return what clients said about each pod, the oldest first, and how often."""
    said: dict[str, Counter[Said]] = {}
    for each in sorted(world.store.list(WRITTEN), key=_time_of):
        about = each.get("involvedObject") or {}
        if about.get("kind") == "Pod":
            counts = said.setdefault(f"{about.get('namespace')}/{about.get('name')}", Counter())
            more = (each.get("series") or {}).get("count") or each.get("count") or 1
            counts[each.get("type", ""), each.get("reason", ""), each.get("message", "")] += more
    return said


def _time_of(event: Manifest) -> str:
    return str(event.get("eventTime") or event.get("firstTimestamp") or "")
