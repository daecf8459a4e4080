"""The schedulers' configurations: as they stand, with every default and marked where they differ from kube's, or read from a text."""

from collections import Counter
from collections.abc import Mapping
from difflib import SequenceMatcher
from typing import Any

import msgspec

from playground.sessions.protocol import looking
from playground.sessions.protocol.base import Data
from playground.sessions.protocol.errors import FieldProblem
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.registry import answers
from playground.sessions.worker.time_sharing import Steps
from playground.sessions.worker.world import Refused, Simulation
from playground.workbench.builder import to_yaml
from scheduler_core.analysis.inspection import trial
from scheduler_core.scheduler.config import (
    DEFAULT_FEATURES,
    Definition,
    Features,
    Profile,
    SchedulerConfiguration,
    load_configuration,
)
from scheduler_core.world.commands import DefinePlugin, command_from_json
from scheduler_core.world.readonly import InvalidObject, LoadLimits, Point, load_manifests

# Plugins of one's own, tried on the world as it is.

MOST_PODS = 200


@answers(looking.TryPlugin)
def try_plugin(engine: Engine, request: looking.TryPlugin) -> Steps[looking.PluginTried]:
    world = yield from engine.at(request.position)
    pods = _pods(world)
    if request.definition is None:
        return looking.PluginTried(pods=pods)
    try:
        command = command_from_json({"kind": "DefinePlugin", "plugin": request.name, "definition": request.definition})
        assert isinstance(command, DefinePlugin)
        assert command.definition is not None
        pod = world.store.pod_at(request.pod or next(iter(pods), ""))
        if pod is None:
            return looking.PluginTried([FieldProblem("pod", request.pod, "a pod that exists at this step")], pods=pods)
        tried = trial(world, request.name, command.definition, pod)
    except Refused as refused:
        return looking.PluginTried([FieldProblem(**each.to_json()) for each in refused.errors], pods=pods)
    return looking.PluginTried(trial=msgspec.to_builtins(tried), pods=pods)


def _pods(world: Simulation) -> list[str]:
    """Return the keys of pods, pending ones first."""
    pods = sorted(world.store.pods(), key=lambda pod: bool(pod.node_name))
    return [pod.key for pod in pods[:MOST_PODS]]


SCORING = (Point.SCORE,)
MOST_LINES = 2_000
MOST_BYTES = 128 << 10
_FIRST = ("apiVersion", "kind", "name", "schedulerName")


@answers(looking.Configuration)
def configuration(engine: Engine, request: looking.Configuration) -> Steps[looking.Configured]:
    return get_configurations((yield from engine.at(request.position)))


def get_configurations(world: Simulation) -> looking.Configured:
    """Each scheduler's configuration with its defaults, as a manifest, and the world's settings."""
    return looking.Configured(
        schedulers=[
            looking.SchedulerManifest(scheduler.name, dict(scheduler.configuration.manifest))
            for scheduler in world.schedulers
        ],
        settings=msgspec.structs.asdict(world.settings),
        faults=[
            {**msgspec.structs.asdict(fault), "said": fault.answer().message}
            for _, fault in sorted(world.faults.items())
        ],
        unknown_schedulers=_unknown_schedulers(world),
        behaviours={url: msgspec.to_builtins(behaviour) for url, behaviour in world.behaviours},
    )


def _unknown_schedulers(world: Simulation) -> list[looking.UnknownScheduler]:
    """The schedulerNames that no scheduler has, with the pods that ask for them counted."""
    pods = [pod for key in world.journal.ignored if (pod := world.store.pod_at(key)) is not None]
    counts = Counter(pod.spec.scheduler_name for pod in pods if not pod.node_name)
    return [looking.UnknownScheduler(name, count) for name, count in sorted(counts.items())]


@answers(looking.EffectiveConfiguration)
def effective_configuration(engine: Engine, request: looking.EffectiveConfiguration) -> Steps[Data]:
    world = yield from engine.at(request.position)
    for scheduler in world.schedulers:
        if scheduler.name == request.scheduler:
            return effective(scheduler.configuration.manifest, world.settings.features, world.settings.plugins)
    return effective(None)


@answers(looking.ReadConfiguration)
def read_configuration(engine: Engine, request: looking.ReadConfiguration) -> Steps[looking.ConfigurationRead]:
    yield
    return read(request.text, request.paths)


def read(text: str, paths: list[str]) -> looking.ConfigurationRead:
    """The documents of a text, or what is wrong with it as YAML; and the lines on which fields of the only document stand."""
    try:
        loaded = load_manifests(text, LoadLimits(max_bytes=MOST_BYTES))
    except InvalidObject as error:
        return looking.ConfigurationRead(errors=[FieldProblem(**each.to_json()) for each in error.errors])
    if len(loaded) != 1:
        return looking.ConfigurationRead(documents=len(loaded))
    [only] = loaded
    places = [(path, place) for path in paths if (place := only.locate(path)) is not None]
    lines = {path: line for path, (line, _) in places}
    return looking.ConfigurationRead(
        only.manifest, 1, lines=lines, columns={path: column for path, (_, column) in places}
    )


def effective(
    manifest: Mapping[str, Any] | None,
    features: Features = DEFAULT_FEATURES,
    own: Mapping[str, Definition] | None = None,
) -> dict[str, Any]:
    """The configuration as `text`, as marked `lines`, and its `profiles`; nothing of it where there is no scheduler.

    What differs, differs from kube's default with all gates at theirs. Very long texts are not marked: there are no `lines`.
    """
    if manifest is None:
        return {"text": "", "lines": [], "profiles": [], "differing": 0}
    default, present = load_configuration(None), load_configuration(manifest, features, own=own)
    text = to_yaml([dict(manifest)])
    long = text.count("\n") > MOST_LINES
    lines = (
        [] if long else mark_differing_lines(to_yaml([_sort_keys(manifest)]), to_yaml([_sort_keys(default.manifest)]))
    )
    return {
        "text": text,
        "lines": lines,
        "differing": sum(line["differs"] for line in lines),
        "profiles": [_profile(profile, present, default.profiles[0]) for profile in present.profiles],
    }


def _sort_keys(value: Any) -> Any:
    """The same with its keys in order, what names the object first, so that only what differs differs."""
    if isinstance(value, Mapping):
        names = sorted(value, key=lambda name: (name not in _FIRST, name))
        return {name: _sort_keys(value[name]) for name in names}
    return [_sort_keys(item) for item in value] if isinstance(value, (list, tuple)) else value


def mark_differing_lines(text: str, default: str) -> list[dict[str, Any]]:
    """The lines of a text, each with whether the default's text has it there, too."""
    mine, theirs = text.splitlines(), default.splitlines()
    same = [False] * len(mine)
    for start, _, size in SequenceMatcher(None, mine, theirs, autojunk=False).get_matching_blocks():
        same[start : start + size] = [True] * size
    return [{"text": line, "differs": not alike} for line, alike in zip(mine, same, strict=True)]


def _profile(profile: Profile, whole: SchedulerConfiguration, default: Profile) -> dict[str, Any]:
    """A row for each extension point that has plugins, in the order of a pod's way."""
    own = profile.percentage_of_nodes_to_score
    percentage = whole.percentage_of_nodes_to_score if own is None else own
    return {
        "name": profile.scheduler_name,
        "percentage": percentage,
        "rows": [
            {
                "point": str(point),
                "plugins": _plugins(profile, default, point),
                "gone": _list_removed_plugins(profile, default, point),
            }
            for point in Point
            if profile.plugins.get(point) or default.plugins.get(point)
        ],
    }


def _plugins(profile: Profile, default: Profile, point: Point) -> list[dict[str, Any]]:
    """The point's plugins in run order; `differs` where the default lacks one or weighs it otherwise."""
    usual = dict(default.plugins.get(point) or ())
    return [
        {
            "name": name,
            "weight": weight if point in SCORING else None,
            "differs": name not in usual or (point in SCORING and usual[name] != weight),
        }
        for name, weight in profile.plugins.get(point) or ()
    ]


def _list_removed_plugins(profile: Profile, default: Profile, point: Point) -> list[str]:
    """The plugins of the default that the profile leaves out."""
    here = dict(profile.plugins.get(point) or ())
    return [name for name, _ in default.plugins.get(point) or () if name not in here]
