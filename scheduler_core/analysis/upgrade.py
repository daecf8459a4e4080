"""The preview of an upgrade: a world under its release compared with the same world under another, each run until rest.

A moved pod has a cause if the newer release, without one behavior or with one gate as before, schedules the pod as the older release
does. So a run proves each cause; none is guessed from the configuration.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

from scheduler_core.analysis.whatif import Progress, Steps, come_to_rest, finish
from scheduler_core.analysis.whatif.rest import STEPS
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.base.releases import DIFFERENCES, Behavior, Release, behaviors_of, in_order
from scheduler_core.base.trace.journal import Attempt
from scheduler_core.scheduler.config.gates import asked_gates, gates_of
from scheduler_core.scheduler.framework.plugin import Point
from scheduler_core.world.commands import Refused, SetSettings
from scheduler_core.world.simulation import Simulation

# Differences that move pods of most clusters: each is disabled alone first, then all others at once.
LIKELY = ("ties-in-order", "balance-by-change", "StorageCapacityScoring")
Over = Callable[[], bool]  # whether the time for the causes is over


class Stage(NamedTuple):
    """The progress of a preview: the run, the disabled behavior or gate ("": none, "a ...": a and more), and the transitions."""

    run: int
    without: str
    steps: int


Report = Callable[[Stage], None]


@dataclass(frozen=True, slots=True)
class MovedPod:
    """A pod with another node in the end ("": it waits). `attempt` and `position`: the new release's first attempt that differs.

    `cause`: the behavior or the gate, two joined by " + " if both are needed, "" if unknown.
    """

    pod: str
    before: str
    after: str
    attempt: int
    position: int
    cause: str = ""


@dataclass(frozen=True, slots=True)
class ChangedMessage:
    """A message of waiting pods, and their message under the new release."""

    before: str
    after: str
    pods: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WatchedText:
    """A text that alerts and searches may match, and its replacement in a release ("": none); `because`: the behavior."""

    before: str
    after: str
    because: str


@dataclass(frozen=True, slots=True)
class ChangedGate:
    """A gate with another default, or that a release lacks (None)."""

    gate: str
    before: bool | None
    after: bool | None
    locked: bool


@dataclass(frozen=True, slots=True)
class ReinterpretedField:
    """Objects with a field that a release reads or refuses; `because`: the behavior or the gate."""

    kind: str
    names: tuple[str, ...]
    field: str
    because: str


class _Switch(NamedTuple):
    """One or several differences that can be disabled: settings of gates, and behaviors."""

    name: str
    gates: Mapping[str, bool]
    behaviors: tuple[Behavior, ...]


@dataclass(frozen=True, slots=True)
class Upgrade:
    """`tried`: runs with some behaviors or gates disabled. `at_rest`: both runs came to rest; `cut`: the time for the causes ran out."""

    source: Release
    target: Release
    moved: tuple[MovedPod, ...]
    messages: tuple[ChangedMessage, ...]
    gates: tuple[ChangedGate, ...]
    objects: tuple[ReinterpretedField, ...]
    configuration: tuple[str, ...]
    texts: tuple[WatchedText, ...]
    tried: int
    at_rest: bool
    cut: bool

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def preview_upgrade(
    sim: Simulation,
    target: Release,
    steps: int = STEPS,
    report: Report = lambda stage: None,
    over: Over = lambda: False,
) -> Upgrade:
    """Return the changes of an upgrade. The world itself does not change. Raise Refused if the new release cannot run the world."""
    return finish(iterate_upgrade(sim, target, steps, report, over))


def iterate_upgrade(
    sim: Simulation,
    target: Release,
    steps: int = STEPS,
    report: Report = lambda stage: None,
    over: Over = lambda: False,
) -> Steps[Upgrade]:
    """Preview an upgrade, and pause regularly."""
    source = sim.settings.release
    # An upgrade restarts the schedulers, which then list the pods in another order. So they restart in the run before as well.
    off = sim.settings.switched_off
    restart = {"switched_off": sorted({*off} ^ {DIFFERENCES[0].behavior})}, {"switched_off": list(off)}
    before, rested = yield from _run(sim, restart, steps, _count_steps(report, 1))
    after, rests = yield from _run(sim, ({"release": target},), steps, _count_steps(report, 2))
    moved = list(_list_moved(before, after))
    first = restart[:1] if in_order(source, target)[1] == source else ()
    moved, tried, cut = yield from _find_causes(sim, target, moved, first, steps, report, over)
    gates = tuple(_list_gates(source, target))
    names = {each.gate for each in gates if each.after} | set(behaviors_of(target) - behaviors_of(source))
    return Upgrade(
        source,
        target,
        tuple(moved),
        tuple(_list_messages(before, after)),
        gates,
        tuple(_list_objects(sim, names)),
        tuple(_list_configuration(sim, after)),
        tuple(_list_texts(source, target)),
        tried,
        rested and rests,
        cut,
    )


def _count_steps(report: Report, run: int, without: str = "") -> Progress:
    return lambda done: report(Stage(run, without, done))


def _run(
    sim: Simulation, settings: Sequence[Mapping[str, Any]], steps: int, progress: Progress
) -> Steps[tuple[Simulation, bool]]:
    world = sim.fork()
    for each in settings:
        world.apply(SetSettings(each))
    rest = yield from come_to_rest(world, steps, progress)
    return world, rest.at_rest


def _nodes(world: Simulation) -> dict[str, str]:
    return {pod.key: pod.node_name for pod in world.store.pods()}


def _list_moved(before: Simulation, after: Simulation) -> Iterator[MovedPod]:
    was, now = _nodes(before), _nodes(after)
    theirs, mine = (_list_attempts(world) for world in (before, after))
    for pod in sorted(was.keys() & now.keys()):
        if was[pod] != now[pod]:
            first = _find_divergence(theirs.get(pod, ()), mine.get(pod, ()))
            yield MovedPod(pod, was[pod], now[pod], *((first.number, first.first_position) if first else (0, 0)))


def _list_attempts(world: Simulation) -> dict[str, list[Attempt]]:
    """Return the attempts of each pod."""
    found: dict[str, list[Attempt]] = {}
    for each in world.journal.attempts:
        found.setdefault(each.pod, []).append(each)
    return found


def _find_divergence(theirs: Sequence[Attempt], mine: Sequence[Attempt]) -> Attempt | None:
    """Return a pod's first attempt that ends with another node or another rejection."""
    for number, attempt in enumerate(mine):
        other = theirs[number] if number < len(theirs) else None
        if other is None or (attempt.node, attempt.outcome) != (other.node, other.outcome):
            return attempt
    return mine[-1] if mine else None


def _find_causes(
    sim: Simulation,
    target: Release,
    moved: list[MovedPod],
    restart: Sequence[Mapping[str, Any]],
    steps: int,
    report: Report,
    over: Over,
) -> Steps[tuple[list[MovedPod], int, bool]]:
    """Disable new gates and behaviors until each pod has a cause, none is left, or the time is over; then again with the first effective
    one disabled.

    The most frequent causes are tried first, one by one, then all others, and halves of them: a group that moves no pod without a cause
    is not split. `restart`: settings that restart the schedulers, as in the run before, if the world's own release is the newer one.
    """
    older, newer = in_order(sim.settings.release, target)
    here, there = {each.pod: each.after for each in moved}, {each.pod: each.before for each in moved}
    if newer != target:
        here, there = there, here
    tried = 0
    fixed: tuple[_Switch, ...] = ()
    effective: list[tuple[_Switch, dict[str, str]]] = []
    switches = tuple(_list_switches(older, newer)) if moved else ()
    likely = [each for name in LIKELY for each in switches if each.name == name]
    groups, reference = _order(switches, likely), here
    while True:
        if not groups and not fixed and effective:
            first, reference = effective[0]
            fixed = (first,)
            soon = [switch for switch, _ in effective[1:]]
            soon += [each for each in likely if each not in (first, *soon)]
            groups = _order([each for each in switches if each != first], soon)
        if not groups or all(each.cause for each in moved):
            return moved, tried, False
        if over():
            return moved, tried, True
        group = groups.pop()
        whole = _join((*fixed, *group))
        halves = [group[len(group) // 2 :], group[: len(group) // 2]] if len(group) > 1 else []
        name = f"{group[0].name} ..." if halves else whole.name
        off = {"switched_off": [*sim.settings.switched_off, *whole.behaviors]}
        settings = {"release": newer, **whole.gates, **off}
        try:
            world, _ = yield from _run(sim, (*restart, settings), steps, _count_steps(report, tried + 3, name))
        except Refused:  # the release locks a gate
            groups += halves
            continue
        tried += 1
        nodes = _nodes(world)
        if any(not each.cause and nodes.get(each.pod) != reference.get(each.pod) for each in moved):
            groups += halves
            if not halves:
                effective.append((whole, nodes))
                moved = [
                    replace(m, cause=whole.name) if not m.cause and nodes.get(m.pod) == there[m.pod] else m
                    for m in moved
                ]


def _order(switches: Sequence[_Switch], first: Sequence[_Switch]) -> list[tuple[_Switch, ...]]:
    """Return groups to try from the last one on: some switches one by one, then the others together."""
    others = tuple(each for each in switches if each not in first)
    return [*([others] if others else []), *((each,) for each in reversed(first))]


def _join(group: Sequence[_Switch]) -> _Switch:
    gates = {setting: value for each in group for setting, value in each.gates.items()}
    return _Switch(" + ".join(each.name for each in group), gates, tuple(b for each in group for b in each.behaviors))


def _list_switches(older: Release, newer: Release) -> Iterator[_Switch]:
    """Yield the new gates, with their earlier values, and the new behaviors."""
    known = gates_of(older)
    for gate in asked_gates(newer):
        old = known[gate.name].default if gate.name in known else False
        if gate.setting and gate.default != old and not (gate.locked and gate.name in gates_of(newer)):
            yield _Switch(gate.name, {gate.setting: old}, ())
    new = behaviors_of(newer) - behaviors_of(older)
    for each in DIFFERENCES:
        if each.behavior in new:
            yield _Switch(each.behavior.value, {}, (each.behavior,))


def _list_messages(before: Simulation, after: Simulation) -> Iterator[ChangedMessage]:
    found: dict[tuple[str, str], list[str]] = {}
    for pod in before.store.pods():
        other = after.store.pod_at(pod.key)
        if other is not None and not pod.node_name and not other.node_name:
            texts = tuple(str((each.condition("PodScheduled") or {}).get("message") or "") for each in (pod, other))
            if texts[0] != texts[1]:
                found.setdefault((texts[0], texts[1]), []).append(pod.key)
    for (was, now), pods in found.items():
        yield ChangedMessage(was, now, tuple(pods))


def _list_texts(source: Release, target: Release) -> Iterator[WatchedText]:
    """Yield the texts that change between two releases, in either direction."""
    old, new = behaviors_of(source), behaviors_of(target)
    for each in DIFFERENCES:
        if each.texts and (each.behavior in old) != (each.behavior in new):
            before, after = each.texts if each.behavior in new else reversed(each.texts)
            yield WatchedText(before, after, each.behavior)


def _list_gates(source: Release, target: Release) -> Iterator[ChangedGate]:
    old = gates_of(source)
    new = gates_of(target)
    for name in dict.fromkeys(gate.name for release in (source, target) for gate in asked_gates(release)):
        was, now = (known[name].default if name in known else None for known in (old, new))
        if was != now and (was or now):
            yield ChangedGate(name, was, now, name in new and new[name].locked)


# Objects of which a newer release reads more: the kind, the field, its reader, and the paths in such an object.
_READ = (
    ("Node", "status.declaredFeatures", "NodeDeclaredFeatures", ("status.declaredFeatures",)),
    ("CSIDriver", "spec.preventPodSchedulingIfMissing", "VolumeLimitScaling", ("spec.preventPodSchedulingIfMissing",)),
    ("CSIStorageCapacity", "capacity", "StorageCapacityScoring", ("capacity",)),
    ("Pod", "spec.volumes[].image", "image-volumes", ("spec.volumes.image",)),
    ("Pod", "status.resources", "InPlacePodLevelResourcesVerticalScaling", ("spec.resources", "status.resources")),
    (
        "Pod",
        "status.nominatedNodeName of a gated pod",
        "gated-nominations",
        ("spec.schedulingGates", "status.nominatedNodeName"),
    ),
)


def _has(value: Any, path: Sequence[str]) -> bool:
    """Return whether a manifest, or an entry of a list in it, has a value at a path."""
    if isinstance(value, list | tuple) and path:
        return any(_has(each, path) for each in value)
    return _has(value.get(path[0]), path[1:]) if path and isinstance(value, Mapping) else bool(value and not path)


def _list_objects(sim: Simulation, new: set[str]) -> Iterator[ReinterpretedField]:
    for kind, field, because, paths in _READ:
        if because in new:
            found = [o for o in sim.store.list(kind) if all(_has(o, path.split(".")) for path in paths)]
            if found:
                yield ReinterpretedField(kind, tuple(map(_name, found)), field, because)


def _name(manifest: Manifest) -> str:
    metadata = manifest["metadata"]
    return "/".join(filter(None, (metadata.get("namespace"), metadata["name"])))


def _list_configuration(sim: Simulation, after: Simulation) -> Iterator[str]:
    """Yield the plugins, weights, and arguments of each profile that differ in the releases' completed configurations."""
    old, new = (
        {p.scheduler_name: p for scheduler in world.schedulers for p in scheduler.configuration.profiles}
        for world in (sim, after)
    )
    for name in (each for each in old if each in new):
        for point in new[name].plugins:
            was, now = (dict(each[name].plugins.get(point, ())) for each in (old, new))
            yield from _compare_plugins(f"{name}: {point.value}", was, now, point is Point.SCORE)
        for plugin in (each for each in old[name].args if each in new[name].args):
            yield from _compare(f"{name}: {plugin}", old[name].args[plugin], new[name].args[plugin])


def _compare_plugins(where: str, was: Mapping[str, int], now: Mapping[str, int], weighed: bool) -> Iterator[str]:
    """Yield the plugins of an extension point that are new, gone, of another weight, or in another order."""
    for name in dict.fromkeys((*was, *now)):
        if name not in was:
            yield f"{where}: + {name}{f' (weight {now[name]})' * weighed}"
        elif name not in now:
            yield f"{where}: - {name}"
        elif weighed and was[name] != now[name]:
            yield f"{where}: {name}: weight {was[name]} → {now[name]}"
    old, new = ([name for name in each if name in was and name in now] for each in (was, now))
    if moved := next((pair for pair in zip(old, new, strict=True) if pair[0] != pair[1]), None):
        yield f"{where}: {moved[1]} before {moved[0]}"


def _compare(where: str, was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for key in dict.fromkeys((*was, *now)):
        if was.get(key) != now.get(key):
            values = [json.dumps(each[key], default=str) if key in each else "-" for each in (was, now)]
            yield f"{where}: {key}: {values[0]} → {values[1]}"
