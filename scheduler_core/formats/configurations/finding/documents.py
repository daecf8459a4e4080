"""Search for configurations in documents: as a document, in a ConfigMap, as flags, as chart values, or nested in other objects."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from scheduler_core.apimachinery.objects import InvalidObject, Manifest
from scheduler_core.apimachinery.objects.loading import LoadedObject, LoadLimits, Place, load_manifests
from scheduler_core.formats.configurations.effective import GROUP
from scheduler_core.formats.configurations.finding.found import (
    Flag,
    FoundConfiguration,
    Lines,
    Source,
    as_template,
    from_flags,
    join_path,
    name_of,
    parse_flags,
)
from scheduler_core.formats.manifests.texts import extract_blocks
from scheduler_core.scheduler.config.schema import API_VERSION, KIND

# Where installers and charts keep what kube-scheduler is started with: flags as a section, or values for a template.
#
# kubeadm's ClusterConfiguration, kind's and kops' Cluster, RKE's cluster.yml, k3s' config.yaml, scheduler-plugins' chart.

_KOPS = {"kubeAPIQPS": "kube-api-qps", "kubeAPIBurst": "kube-api-burst", "usePolicyConfigMap": "policy-configmap"}


def section_flags(manifest: Manifest) -> tuple[str, list[Flag]] | None:
    """Return the name and the flags of a document's section for kube-scheduler flags, or None."""
    for called, read in (
        ("scheduler.extraArgs of kubeadm", _kubeadm),
        ("spec.kubeScheduler of kops", _kops),
        ("services.scheduler of RKE", _rke),
        ("kube-scheduler-arg of k3s", _k3s),
    ):
        flags = list(read(manifest))
        if flags:
            return called, flags
    return None


def _mapping(value: Any) -> Manifest:
    return value if isinstance(value, Mapping) else {}


def _kubeadm(manifest: Manifest) -> Iterator[Flag]:
    if manifest.get("kind") != "ClusterConfiguration":
        return
    yield from _arguments(_mapping(manifest.get("scheduler")).get("extraArgs"), "scheduler.extraArgs")


def _arguments(given: Any, path: str) -> Iterator[Flag]:
    """Yield the flags of a mapping, or of kubeadm's list of names and values (since v1beta4)."""
    if isinstance(given, Mapping):
        for name, value in given.items():
            yield str(name), _text(value), f"{path}[{name}]"
    elif isinstance(given, list):
        for i, each in enumerate(given):
            if isinstance(each, Mapping) and isinstance(each.get("name"), str):
                yield each["name"], _text(each.get("value")), f"{path}[{i}]"


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)


def _kops(manifest: Manifest) -> Iterator[Flag]:
    if manifest.get("kind") != "Cluster" or not str(manifest.get("apiVersion")).startswith("kops"):
        return
    section = _mapping(_mapping(manifest.get("spec")).get("kubeScheduler"))
    for name, value in section.items():
        path = f"spec.kubeScheduler.{name}"
        if name == "featureGates":
            gates = ",".join(f"{gate}={_text(on)}" for gate, on in _mapping(value).items())
            yield "feature-gates", gates, path
        elif name == "leaderElection":
            for field, given in _mapping(value).items():
                yield _convert_to_dashes(str(field)), _text(given), f"{path}.{field}"
        else:
            yield _KOPS.get(name, _convert_to_dashes(str(name))), _text(value), path


def _convert_to_dashes(name: str) -> str:
    """Convert a name such as leaderElectLeaseDuration to leader-elect-lease-duration."""
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name)


def _rke(manifest: Manifest) -> Iterator[Flag]:
    section = _mapping(_mapping(manifest.get("services")).get("scheduler"))
    yield from _arguments(section.get("extra_args"), "services.scheduler.extra_args")


def _k3s(manifest: Manifest) -> Iterator[Flag]:
    given = manifest.get("kube-scheduler-arg")
    for i, word in enumerate(given if isinstance(given, list) else [given]):
        if isinstance(word, str):
            name, _, value = word.lstrip("-").partition("=")
            yield name, value, f"kube-scheduler-arg[{i}]" if isinstance(given, list) else "kube-scheduler-arg"


def chart_values(manifest: Manifest) -> dict[str, Any] | None:
    """Return the configuration that the chart of scheduler-plugins builds from its values, or None for other documents."""
    scheduler, plugins = manifest.get("scheduler"), manifest.get("plugins")
    if "kind" in manifest or not isinstance(scheduler, Mapping) or not isinstance(plugins, Mapping):
        return None
    if not isinstance(plugins.get("enabled"), list):
        return None
    profile: dict[str, Any] = {}
    if isinstance(scheduler.get("name"), str):
        profile["schedulerName"] = scheduler["name"]
    profile["plugins"] = {
        "multiPoint": {
            which: [{"name": name} for name in plugins[which] if isinstance(name, str)]
            for which in ("enabled", "disabled")
            if isinstance(plugins.get(which), list)
        }
    }
    if manifest.get("pluginConfig"):
        profile["pluginConfig"] = manifest["pluginConfig"]
    election = {"leaderElect": bool(scheduler.get("leaderElect"))}
    return {"apiVersion": API_VERSION, "kind": KIND, "leaderElection": election, "profiles": [profile]}


CHART_PATHS = {
    "profiles[0].plugins.multiPoint": "plugins",
    "profiles[0].pluginConfig": "pluginConfig",
    "profiles[0].schedulerName": "scheduler.name",
    "leaderElection": "scheduler",
}

MOST_FOUND = 50
_MOST_NODES = 200_000
_INNER = LoadLimits(max_bytes=128 << 10, max_objects=20)
_MOST_INNER = 2 << 20  # bytes of embedded texts that are read, all together
_TEMPLATES = ("spec", "spec.template.spec", "spec.jobTemplate.spec.template.spec")
_NOTHING_INSIDE = """
Pod Node Deployment DaemonSet StatefulSet ReplicaSet Job CronJob Service Event Namespace PersistentVolume PersistentVolumeClaim
ResourceClaim ResourceSlice PodDisruptionBudget PriorityClass
"""
_OF_THE_CLUSTER = frozenset(_NOTHING_INSIDE.split())
_PLAIN = re.compile(r"[\w-]+")
_Trail = tuple[Any, str | int] | None  # the steps to a value, the last one first
_POLICY_FIELDS = ("predicates", "priorities")


def find_in(loaded: Sequence[LoadedObject], text: str = "") -> list[FoundConfiguration]:
    """Return the configurations in documents, in order, at most MOST_FOUND. `text` is the source, if it is a single text."""
    lines = Lines("" if any(each.file for each in loaded) else text)
    search = _Search()
    for each in loaded:
        if len(search.found) < MOST_FOUND and isinstance(each.manifest, Mapping):
            search.document(Source(each, lines))
    return _with_their_files(search.found)


def is_configuration(manifest: Any) -> bool:
    """Return True if a document is a KubeSchedulerConfiguration of any version."""
    if not isinstance(manifest, Mapping):
        return False
    version, kind = manifest.get("apiVersion"), manifest.get("kind")
    return kind == KIND or (kind != "Policy" and isinstance(version, str) and version.startswith(f"{GROUP}/"))


def is_policy(manifest: Any) -> bool:
    """Return True if a document is a scheduler's Policy."""
    if not isinstance(manifest, Mapping) or manifest.get("kind") not in (None, "Policy"):
        return False
    lists = [name for name in _POLICY_FIELDS if isinstance(manifest.get(name), list)]
    return len(lists) == 2 or bool(lists and manifest.get("kind")) or _extenders_alone(manifest)


def _extenders_alone(manifest: Mapping[str, Any]) -> bool:
    return manifest.get("kind") == "Policy" and isinstance(manifest.get("extenders"), list)


class _Search:
    def __init__(self) -> None:
        self.found: list[FoundConfiguration] = []
        self._nodes = _MOST_NODES
        self._bytes = _MOST_INNER

    def document(self, source: Source) -> None:
        manifest = source.manifest
        if self._whole(source, manifest, "", ""):
            return
        flags = section_flags(manifest)
        if flags is not None:
            self._flags(source, flags[1], ", ".join(part for part in (name_of(manifest), flags[0]) if part))
        values = chart_values(manifest)
        if values is not None:
            locate = source.at("")
            self.found.append(
                FoundConfiguration("values", values, "values of scheduler-plugins' chart", lambda p: locate(_chart(p)))
            )
        for path in _TEMPLATES:
            self._containers(source, _get(manifest, path), path)
        if str(manifest.get("kind")) not in _OF_THE_CLUSTER:
            self._inside(source, manifest)

    def _whole(self, source: Source, manifest: Any, path: str, where: str) -> bool:
        if is_configuration(manifest):
            self.found.append(FoundConfiguration("configuration", manifest, where, source.at(path)))
            return True
        if is_policy(manifest):
            self.found.append(FoundConfiguration("policy", manifest, where, source.at(path)))
            return True
        return False

    def _containers(self, source: Source, spec: Any, path: str) -> None:
        containers = spec.get("containers") if isinstance(spec, Mapping) else None
        for i, container in enumerate(containers if isinstance(containers, list) else ()):
            if isinstance(container, Mapping) and _is_scheduler(container):
                words = list(_words(container, f"{path}.containers[{i}]"))
                flags = parse_flags(words)
                if flags:
                    where = f"{name_of(source.manifest)}, flags of the container {container.get('name') or i}"
                    self._flags(source, flags, where)

    def _flags(self, source: Source, flags: Sequence[Flag], where: str) -> None:
        made = from_flags(flags)
        start = flags[0][2]

        def locate(path: str) -> Place | None:
            return source.loaded.locate(made.places.get(path, start))

        self.found.append(
            FoundConfiguration("flags", made.manifest, where, locate, tuple(made.changes), made.gates, made.config_file)
        )

    def _inside(self, source: Source, manifest: Any) -> None:
        """Search for nested configurations, and for texts that contain one."""
        stack: list[tuple[Any, _Trail]] = [(manifest, None)]
        while stack and self._nodes > 0 and len(self.found) < MOST_FOUND:
            value, trail = stack.pop()
            self._nodes -= 1
            if isinstance(value, str):
                if KIND in value or all(field in value for field in _POLICY_FIELDS) or "ClusterConfiguration" in value:
                    self._text(source, value, _path(trail))
            elif isinstance(value, list):
                stack += [(each, (trail, i)) for i, each in reversed(list(enumerate(value)))]
            elif isinstance(value, Mapping) and not (trail and self._find_nested(source, value, trail)):
                stack += [(each, (trail, str(name))) for name, each in reversed(list(value.items()))]

    def _find_nested(self, source: Source, value: Any, trail: _Trail) -> bool:
        if not (is_configuration(value) or is_policy(value)):
            return False
        path = _path(trail)
        return self._whole(source, value, path, _where(source, path))

    def _text(self, source: Source, text: str, path: str) -> None:
        if len(text) > self._bytes:
            return
        self._bytes -= len(text)
        where = _where(source, path)
        try:
            loaded = load_manifests(text, _INNER)
        except InvalidObject as error:
            locate = source.at(path)
            self.found.append(
                FoundConfiguration("configuration", {}, where, lambda _: locate(""), errors=as_template(error, text))
            )
            return
        for each in loaded:
            locate = source.inside(path, each.locate)
            inner = Source(LoadedObject(each.manifest, each.index, locate, source.loaded.file))
            if not self._whole(inner, each.manifest, "", where) and isinstance(each.manifest, Mapping):
                flags = section_flags(each.manifest)
                if flags is not None:
                    self._flags(inner, flags[1], f"{where}, {flags[0]}")


def _where(source: Source, path: str) -> str:
    name = name_of(source.manifest)
    return f"{name}, {path}" if name else path


def _path(trail: _Trail) -> str:
    steps = []
    while trail is not None:
        trail, step = trail
        steps.append(f"[{step}]" if isinstance(step, int) or not _PLAIN.fullmatch(step) else f".{step}")
    return "".join(reversed(steps)).removeprefix(".")


def _get(manifest: Any, path: str) -> Any:
    for name in path.split("."):
        manifest = manifest.get(name) if isinstance(manifest, Mapping) else None
    return manifest


def _chart(path: str) -> str:
    """A field of the configuration as the chart's values have it."""
    for field, value in CHART_PATHS.items():
        if path.startswith(field):
            return join_path(value, path.removeprefix(field).lstrip(".")).removesuffix(".name")
    return path


def _is_scheduler(container: Mapping[str, Any]) -> bool:
    said = [container.get("name"), container.get("image"), *_list(container.get("command"))[:3]]
    return any("scheduler" in str(word).rpartition("/")[2] for word in said if word)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _words(container: Mapping[str, Any], path: str) -> Iterator[tuple[str, str]]:
    """The words of a command line with their paths; of a shell's script each word."""
    for field in ("command", "args"):
        for i, word in enumerate(_list(container.get(field))):
            for part in str(word).split() if "\n" in str(word) or " --" in str(word) else [str(word)]:
                yield part, f"{path}.{field}[{i}]"


def _with_their_files(found: list[FoundConfiguration]) -> list[FoundConfiguration]:
    """Move flags behind the file that they name, if it is present, and leave out flags that set nothing else."""
    out, later = [], []
    for each in found:
        file = each.config_file.rpartition("/")[2]
        if not file or not any(other.where.endswith((f"[{file}]", f".{file}")) for other in found):
            out.append(each)
        elif not each.usual:
            later.append(replace(each, config_file=""))
    return out + later


# All configurations of a text, whatever it is.

# Texts in which a configuration is quoted: Markdown's fences, and scripts that write a file.

_KIND = re.compile(rf"kind[\"']?:[ \t]*[\"']?{KIND}\b")
_MOST = 20


def extract_quotes(text: str) -> list[str]:
    """Return the parts of a text that quote a configuration, each padded with blank lines to keep its line numbers."""
    parts = ("\n" * block.start + block.text for block in extract_blocks(text))
    held = (part for part in parts if _KIND.search(part) or ("predicates" in part and "priorities" in part))
    return list(islice(held, _MOST))


def find(text: str, limits: LoadLimits) -> list[FoundConfiguration]:
    """Return the configurations in YAML, JSON, or a text that quotes them. Raise InvalidObject if there is none, or a limit is exceeded."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    try:
        found = find_in(load_manifests(text, limits), text)
        if found:
            return found
    except InvalidObject as error:
        parts = extract_quotes(text)
        if not parts:
            raise InvalidObject(as_template(error, text)) from error
        return [each for part in parts for each in _search_part(part, limits)]
    return [each for part in extract_quotes(text) for each in _search_part(part, limits)]


def _search_part(part: str, limits: LoadLimits) -> list[FoundConfiguration]:
    try:
        return find_in(load_manifests(part, limits), part)
    except InvalidObject as error:
        first = error.errors[0]
        place = None if first.line is None else (first.line, first.column or 1)
        return [FoundConfiguration("configuration", {}, "", lambda _: place, errors=as_template(error, part))]
