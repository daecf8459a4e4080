"""Another scheduler's decisions compared with ours, pod by pod: both begin with the same world and run until rest.

kube draws among nodes that tie. Ours selects the other scheduler's node if it is among them, so that both continue from the same state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from scheduler_core.analysis.fixes.diagnosis import diagnose_on, scheduler_for
from scheduler_core.analysis.whatif.rest import RestResult, Steps, come_to_rest
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver import KubeEvent, Store
from scheduler_core.apiserver.door.events import group_events
from scheduler_core.apiserver.faults import MAX_FAULT_TIMES
from scheduler_core.base.clock.agenda import MILLISECOND, Stream
from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.world.commands import DEFAULT_SCHEDULER_NAME, FailCall, SetConfiguration, SetSettings
from scheduler_core.world.simulation import Simulation

WRITTEN = "Event.events.k8s.io"  # the store's key of Events by clients
OVER_HTTP = 20 * MILLISECOND
FIELDS = ("node", "condition", "nominated", "events")
KUBES = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
Configurations = Mapping[str, Manifest | None]
"""Schedulers by name, with their configurations as they were given."""


class EventText(msgspec.Struct, frozen=True):
    """An Event about a pod, without its time."""

    type: str
    reason: str
    message: str


class Condition(msgspec.Struct, frozen=True):
    """A pod's condition PodScheduled, with empty texts if absent."""

    status: str = ""
    reason: str = ""
    message: str = ""


class Fate(msgspec.Struct, frozen=True):
    """The end of a pod: its node ("" while it waits), its nominated node, and the Events of schedulers, without repetitions."""

    node: str = ""
    condition: Condition = Condition()
    nominated: str = ""
    events: tuple[EventText, ...] = ()
    gone: bool = False

    @classmethod
    def of(cls, store: Store, key: str, events: Mapping[EventText, None]) -> Fate:
        pod = store.pod_at(key)
        if pod is None or pod.deleting:
            return cls(events=(*events,), gone=True)
        found = pod.condition("PodScheduled") or {}
        condition = Condition(*(str(found.get(name) or "") for name in Condition.__struct_fields__))
        return cls(pod.node_name, condition, pod.nominated_node_name, (*events,))


class Row(msgspec.Struct, frozen=True):
    """A pod under both schedulers. `tied`: the best nodes of our last attempt if several tie; `different`: fields of Fate."""

    pod: str
    ours: Fate
    theirs: Fate
    tied: tuple[str, ...]

    @property
    def different(self) -> list[str]:
        if self.ours.gone != self.theirs.gone:
            return ["gone"]
        return [name for name in FIELDS if getattr(self.ours, name) != getattr(self.theirs, name)]


def start_schedulers(world: Simulation, configurations: Configurations) -> None:
    """Start our schedulers in a world. Each lists the existing objects."""
    for name, given in configurations.items():
        world.apply(SetConfiguration(given if given or name == DEFAULT_SCHEDULER_NAME else KUBES, name))


def compare(
    ours: Simulation, theirs: Simulation, configurations: Configurations, seed: int | None = None
) -> Steps[tuple[list[Row], RestResult]]:
    """Start our schedulers in a world, run it to rest, and compare the result with another scheduler's; `ours` is consumed.

    `seed`: of the draws among tied nodes if the other's choice is not among them; None: the world's.
    """
    wanted = {pod.key: pod.node_name or pod.nominated_node_name for pod in theirs.store.pods()}
    tied: dict[str, tuple[str, ...]] = {}
    seen, draw = len(ours.store.events), ours.draw if seed is None else Stream(seed).below
    _slow_down(ours)
    start_schedulers(ours, configurations)
    for scheduler in ours.schedulers:
        _follow(scheduler, wanted, tied, draw)
    rest = yield from come_to_rest(ours)
    names = {name for scheduler in ours.schedulers for name in scheduler.profiles}
    written: dict[tuple[str, ...], KubeEvent] = {}
    for key, each in group_events(ours.store.events[seen:]):
        written.setdefault(key, each)
    recorded = (
        (f"{each.namespace}/{each.name}", EventText(each.type, each.reason, each.message))
        for each in written.values()
        if each.kind == "Pod" and each.reporter in names
    )
    said, heard = _group(recorded), _group(_read_written(theirs.store))
    rows = [
        Row(
            key,
            Fate.of(ours.store, key, said.get(key, {})),
            Fate.of(theirs.store, key, heard.get(key, {})),
            tied.get(key, ()),
        )
        for key in dict.fromkeys((*(attempt.pod for attempt in ours.journal.attempts), *said, *heard))
    ]
    return rows, rest


def _slow_down(world: Simulation) -> None:
    """Make calls as slow as another scheduler's over HTTP, where a cycle can begin before the answer and see the difference."""
    world.apply(SetSettings({"evict_cost": max(world.settings.evict_cost, OVER_HTTP)}))
    for pod in world.store.pods():
        if pod.manifest["spec"].get("resourceClaims") and not pod.node_name and ("claims", pod.key) not in world.faults:
            world.apply(FailCall("claims", pod.key, times=MAX_FAULT_TIMES, latency=OVER_HTTP))


def _follow(
    scheduler: Scheduler, wanted: Mapping[str, str], tied: dict[str, tuple[str, ...]], draw: Callable[[int], int]
) -> None:
    """Make a scheduler repeat another one's choices among nodes that tie."""

    def place(names: Sequence[str]) -> int:
        node = wanted.get(scheduler.cycle.pod.key, "") if scheduler.cycle else ""
        return names.index(node) if node in names else draw(len(names))

    def choose(n: int) -> int:
        assert scheduler.cycle is not None
        names = tied[scheduler.cycle.pod.key] = scheduler.cycle.tied
        return place(names)

    def nominate(n: int, names: Sequence[str] = ()) -> int:
        return place(names) if names else draw(n)

    scheduler.algorithm_state.draw, scheduler.algorithm_state.draw_preemption = choose, nominate


def _group(said: Iterator[tuple[str, EventText]]) -> dict[str, dict[EventText, None]]:
    found: dict[str, dict[EventText, None]] = {}
    for pod, each in said:
        found.setdefault(pod, {})[each] = None
    return found


def _read_written(store: Store) -> Iterator[tuple[str, EventText]]:
    """Yield the Events that clients wrote about each pod, the oldest first."""
    for each in sorted(store.list(WRITTEN), key=lambda each: str(each.get("eventTime") or each.get("firstTimestamp"))):
        about = each.get("involvedObject") or {}
        if about.get("kind") == "Pod":
            said = EventText(*(str(each.get(name) or "") for name in EventText.__struct_fields__))
            yield f"{about.get('namespace')}/{about.get('name')}", said


def ask_filters(world: Simulation, key: str) -> tuple[int, int, dict[str, list[str]]] | None:
    """Return how many nodes pass our filters for a pod, the total, and each rejection's nodes. Return None without pod or scheduler.

    The filters are those of the pod's profile, or of the first one.
    """
    pod = world.store.pod_at(key)
    if pod is None or not world.schedulers:
        return None
    scheduler = scheduler_for(world, pod) or world.schedulers[0]
    framework = scheduler.framework_of(pod) or next(iter(scheduler.profiles.values()))
    diagnosis = diagnose_on(scheduler, framework, pod, scheduler.cache.table())
    refusals: dict[str, list[str]] = {}
    for name in diagnosis.nodes.names:
        if (status := diagnosis.status_of(name)) is not None:
            refusals.setdefault(f"{', '.join(status.reasons)} ({status.plugin})", []).append(name)
    return len(diagnosis.feasible), len(diagnosis.nodes), refusals
