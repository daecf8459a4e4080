"""The schedulers' configurations: with all defaults and the differences from kube's, or parsed from a text."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

import msgspec
from msgspec import structs

from playground.sessions.protocol import looking, opening
from playground.sessions.protocol.base import Data
from playground.sessions.protocol.errors import FieldProblem, problem
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.time_sharing import Steps, answers
from playground.sessions.worker.world import Refused, Simulation
from playground.workbench.builder import fragment, to_yaml
from scheduler_core.analysis.inspection import trial
from scheduler_core.formats.configurations import Adoption, FoundConfiguration, adopt, find, find_in, rewrite_text
from scheduler_core.scheduler import config
from scheduler_core.world.commands import DefinePlugin, command_from_json
from scheduler_core.world.readonly import FieldError, InvalidObject, LoadedObject, LoadLimits, Point, load_manifests

MOST_ADOPTED_BYTES = 128 << 10
MOST_OFFERS = 10
MOST_ROWS = 200  # of a list; each is located in the text
MOST_DIFF_LINES = 800  # of each side of a diff
CONTEXT = 2


@answers(opening.AdoptConfiguration)
def adopt_configuration(engine: Engine, request: opening.AdoptConfiguration) -> Steps[opening.AdoptionResult]:
    world = yield from engine.at(request.position)
    try:
        found = find(request.text, LoadLimits(max_bytes=MOST_ADOPTED_BYTES))
    except InvalidObject as error:
        return opening.AdoptionResult(errors=problems(error.errors))
    adoptions = []
    for each in found[:MOST_OFFERS]:
        with config.with_own(engine.world.settings.plugins):
            adoptions.append(_adopt_found(world, each))
        yield
    if len(adoptions) == 1 and adoptions[0].plain:
        return opening.AdoptionResult(manifest=dict(adoptions[0].manifest))
    errors = _list_configuration_problems(world, found[0]) if len(adoptions) == 1 and not found[0].where else []
    if len(adoptions) == 1:
        return opening.AdoptionResult(
            offers=[_with_its_text(offer(adoptions[0]), adoptions[0], request.text)], errors=errors
        )
    return opening.AdoptionResult(offers=[offer(each) for each in adoptions], errors=errors)


def _with_its_text(made: opening.Offer, adoption: Adoption, text: str) -> opening.Offer:
    """Return the offer with the user's text, changed only where necessary, if the text is just a configuration."""
    found = adoption.found
    if found.where or found.what != "configuration" or not adoption.manifest:
        return made
    new = [rewrite_text(text, found.manifest, each, fragment) for each in (adoption.manifest, adoption.without) if each]
    if any(each is None for each in new):
        return made
    whole, last = str(new[0]), str(new[-1])
    without = last if adoption.without else ""
    return structs.replace(made, text=whole, without=without, diff=list(_compare_lines(text, last)), kept=True)


def _adopt_found(world: Simulation, found: FoundConfiguration) -> Adoption:
    return adopt(found, world.settings.features, world.settings.plugins)


def offers(world: Simulation, loaded: Sequence[LoadedObject], text: str) -> list[opening.Offer]:
    """Return the offers for the configurations in an import's documents, without duplicates and without kubeadm's default flags."""
    found = [each for each in find_in(loaded, text) if not each.usual]
    once: list[FoundConfiguration] = []
    for each in found:
        if all(each.manifest != other.manifest for other in once):
            once.append(each)
    return [offer(_adopt_found(world, each)) for each in once[:MOST_OFFERS]]


def offer(adoption: Adoption) -> opening.Offer:
    """Return the offer that shows an adoption."""
    found = adoption.found
    text = _text(adoption.manifest)
    without = "" if adoption.without is None else _text(adoption.without)
    return opening.Offer(
        found.what,
        found.where,
        found.line,
        adoption.version,
        adoption.release,
        [
            opening.ListedChange(each.kind, _line(found, each.path), each.text, each.effect)
            for each in adoption.changes[:MOST_ROWS]
        ],
        [
            opening.MissingPlugin(each.name, list(each.points), _line(found, each.places[0]), each.about)
            for each in adoption.unknown[:MOST_ROWS]
        ],
        text,
        without,
        list(_diff(found, without or text)),
        problems(adoption.errors),
        found.gates,
        found.config_file,
    )


def problems(errors: Iterable[FieldError]) -> list[FieldProblem]:
    return [problem(each) for each in errors]


def _line(found: FoundConfiguration, path: str) -> int | None:
    place = found.locate(path) if path else None
    return place[0] if place is not None else None


def _text(manifest: Mapping[str, Any]) -> str:
    return to_yaml([manifest]) if manifest else ""


def _list_configuration_problems(world: Simulation, found: FoundConfiguration) -> list[FieldProblem]:
    """Return kube-scheduler's errors in an unchanged configuration."""
    if found.errors or found.what != "configuration":
        return []
    try:
        config.load_configuration(found.manifest, world.settings.features, elections=True, own=world.settings.plugins)
    except config.ConfigurationError as error:
        return problems(each.at(found.locate(each.path)) for each in error.errors[:MOST_ROWS])
    return []


def _diff(found: FoundConfiguration, text: str) -> Iterator[opening.DiffLine]:
    """Yield the differences from the document, formatted alike, to the v1 text; nothing if it is no configuration."""
    if found.what == "configuration":
        yield from _compare_lines(_text(found.manifest), text)


def _compare_lines(old: str, new: str) -> Iterator[opening.DiffLine]:
    before, after = old.splitlines(), new.splitlines()
    if not after or max(len(before), len(after)) > MOST_DIFF_LINES:
        return
    groups = SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(CONTEXT)
    for number, group in enumerate(groups):
        if number:
            yield opening.DiffLine("…", "")
        for tag, start, end, first, last in group:
            if tag == "equal":
                yield from (opening.DiffLine(" ", line) for line in before[start:end])
            else:
                yield from (opening.DiffLine("-", line) for line in before[start:end])
                yield from (opening.DiffLine("+", line) for line in after[first:last])


# Users' own plugins, tried on the present world.

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
        return looking.PluginTried(problems(refused.errors), pods=pods)
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
def configuration(engine: Engine, request: looking.Configuration) -> Steps[looking.ConfiguredWorld]:
    return get_configurations((yield from engine.at(request.position)))


def get_configurations(world: Simulation) -> looking.ConfiguredWorld:
    """Return each scheduler's configuration with its defaults, as a manifest, and the world's settings."""
    return looking.ConfiguredWorld(
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
    """Return the schedulerNames that no scheduler has, with the number of pods that request each."""
    pods = [pod for key in world.journal.ignored if (pod := world.store.pod_at(key)) is not None]
    counts = Counter(pod.spec.scheduler_name for pod in pods if not pod.node_name)
    return [looking.UnknownScheduler(name, count) for name, count in sorted(counts.items())]


@answers(looking.EffectiveConfiguration)
def effective_configuration(engine: Engine, request: looking.EffectiveConfiguration) -> Steps[Data]:
    world = yield from engine.at(request.position)
    for scheduler in world.schedulers:
        if scheduler.name == request.scheduler:
            return effective(scheduler.configuration.manifest, scheduler.features, world.settings.plugins)
    return effective(None)


@answers(looking.ReadConfiguration)
def read_configuration(engine: Engine, request: looking.ReadConfiguration) -> Steps[looking.ConfigurationRead]:
    yield
    return read(request.text, request.paths)


def read(text: str, paths: list[str]) -> looking.ConfigurationRead:
    """Return the documents of a text, or its YAML errors; and the lines of fields of the only document."""
    try:
        loaded = load_manifests(text, LoadLimits(max_bytes=MOST_BYTES))
    except InvalidObject as error:
        return looking.ConfigurationRead(errors=problems(error.errors))
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
    features: config.Features = config.DEFAULT_FEATURES,
    own: Mapping[str, config.Definition] | None = None,
) -> dict[str, Any]:
    """Return the configuration as `text`, as marked `lines`, and its `profiles`; empty if `manifest` is None.

    Lines are compared with kube's default configuration under default gates. Very long texts have no `lines`.
    """
    if manifest is None:
        return {"text": "", "lines": [], "profiles": [], "differing": 0}
    default, present = config.load_configuration(None), config.load_configuration(manifest, features, own=own)
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
    """Return the value with its keys sorted, identifying fields first, so that a diff shows only real differences."""
    if isinstance(value, Mapping):
        names = sorted(value, key=lambda name: (name not in _FIRST, name))
        return {name: _sort_keys(value[name]) for name in names}
    return [_sort_keys(item) for item in value] if isinstance(value, (list, tuple)) else value


def mark_differing_lines(text: str, default: str) -> list[dict[str, Any]]:
    """Return the lines of a text, each marked if the default's text lacks it."""
    mine, theirs = text.splitlines(), default.splitlines()
    same = [False] * len(mine)
    for start, _, size in SequenceMatcher(None, mine, theirs, autojunk=False).get_matching_blocks():
        same[start : start + size] = [True] * size
    return [{"text": line, "differs": not alike} for line, alike in zip(mine, same, strict=True)]


def _profile(profile: config.Profile, whole: config.SchedulerConfiguration, default: config.Profile) -> dict[str, Any]:
    """Return a row for each extension point with plugins, in the order of the scheduling and binding cycles."""
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


def _plugins(profile: config.Profile, default: config.Profile, point: Point) -> list[dict[str, Any]]:
    """Return the point's plugins in run order; `differs` if the default lacks one or has another weight."""
    usual = dict(default.plugins.get(point) or ())
    return [
        {
            "name": name,
            "weight": weight if point in SCORING else None,
            "differs": name not in usual or (point in SCORING and usual[name] != weight),
        }
        for name, weight in profile.plugins.get(point) or ()
    ]


def _list_removed_plugins(profile: config.Profile, default: config.Profile, point: Point) -> list[str]:
    """Return the default plugins that the profile leaves out."""
    here = dict(profile.plugins.get(point) or ())
    return [name for name, _ in default.plugins.get(point) or () if name not in here]
