"""A configuration found in a text, and the places of its fields."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from scheduler_core.apimachinery.objects.errors import FieldError, InvalidObject
from scheduler_core.apimachinery.objects.loading import LoadedObject, Place
from scheduler_core.apimachinery.objects.texts.json_text import parse_integer
from scheduler_core.formats.configurations.effective import Change
from scheduler_core.scheduler.config.schema import API_VERSION, KIND

# kube-scheduler's flags: which configuration they amount to, and what the others mean here.
# kube: cmd/kube-scheduler/app/options/{options,deprecated}.go @ v1.34.1; for flags that went since @ v1.18.20

_FIELDS = {
    "leader-elect": "leaderElection.leaderElect",
    "leader-elect-lease-duration": "leaderElection.leaseDuration",
    "leader-elect-renew-deadline": "leaderElection.renewDeadline",
    "leader-elect-retry-period": "leaderElection.retryPeriod",
    "leader-elect-resource-name": "leaderElection.resourceName",
    "leader-elect-resource-namespace": "leaderElection.resourceNamespace",
    "lock-object-name": "leaderElection.resourceName",
    "lock-object-namespace": "leaderElection.resourceNamespace",
    "kube-api-qps": "clientConnection.qps",
    "kube-api-burst": "clientConnection.burst",
    "profiling": "enableProfiling",
    "contention-profiling": "enableContentionProfiling",
    "scheduler-name": "profiles[0].schedulerName",
}
_BEFORE_A_FILE = ("leader-elect", "lock-object")  # other flags count only without --config
_POLICY = ("policy-config-file", "policy-configmap", "policy-configmap-namespace", "use-legacy-policy-config")
_SETTINGS = {
    "pod-max-in-unschedulable-pods-duration": "is a setting of the simulation, below",
    "leader-elect-resource-lock": "is always leases",
}
_GONE = "was removed in v1.23"
_IDLE = "has no effect here"


@dataclass(slots=True)
class FromFlags:
    """The configuration that flags amount to. `places` are the flags' places by the fields that they set."""

    manifest: dict[str, Any] = field(default_factory=lambda: {"apiVersion": API_VERSION, "kind": KIND})
    changes: list[Change] = field(default_factory=list)
    places: dict[str, str] = field(default_factory=dict)
    gates: str = ""
    config_file: str = ""


Flag = tuple[str, str, str]  # name without dashes, value, path


def parse_flags(words: Sequence[tuple[str, str]]) -> list[Flag]:
    """Parse the words of a command line, with their paths, as flags; `--name value` counts as `--name=value`."""
    flags: list[Flag] = []
    bare = False
    for word, path in words:
        if word.startswith("-"):
            name, equals, value = word.lstrip("-").partition("=")
            flags.append((name, value.strip("\"'"), path))
            bare = not equals
        elif bare:
            flags[-1] = (flags[-1][0], word.strip("\"'"), flags[-1][2])
            bare = False
    return flags


def from_flags(flags: Sequence[Flag]) -> FromFlags:
    """Return the configuration of flags, and a change for each flag."""
    made = FromFlags(config_file=next((value for name, value, _ in flags if name == "config"), ""))
    for name, value, path in flags:
        if name != "config":
            _take(made, name, value, path)
    return made


def _take(made: FromFlags, name: str, value: str, path: str) -> None:
    where = _FIELDS.get(name)
    ignored = made.config_file and not name.startswith(_BEFORE_A_FILE)
    if name == "feature-gates":
        made.gates = ",".join(part for part in (made.gates, value) if part)
        made.changes.append(Change("moved", path, f"--feature-gates={value} are settings of the simulation, below"))
    elif where is not None and ignored:
        made.changes.append(Change("dropped", path, f"--{name} has an effect only without --config"))
    elif where is not None:
        _put(made, where, _value(value or "true"), path)
        made.changes.append(Change("moved", path, f"--{name} became the field {where}"))
    elif name == "hard-pod-affinity-symmetric-weight":
        _argument(made, "InterPodAffinity", {"hardPodAffinityWeight": _value(value)})
        text = f"--{name} became the argument hardPodAffinityWeight of InterPodAffinity"
        made.changes.append(Change("moved", path, text))
    elif name == "algorithm-provider" and value == "ClusterAutoscalerProvider":
        _argument(made, "NodeResourcesFit", {"scoringStrategy": {"type": "MostAllocated"}})
        text = f"--{name}={value} became the scoringStrategy MostAllocated of NodeResourcesFit"
        made.changes.append(Change("moved", path, text))
    else:
        made.changes.append(_describe_flag(name, value, path))


def _describe_flag(name: str, value: str, path: str) -> Change:
    if name in _POLICY:
        effect = "to convert the Policy to v1, paste it, too"
        return Change("lost", path, f"--{name}={value} {_GONE}, and its Policy is not in this text", effect)
    if name in ("algorithm-provider",):
        return Change("dropped", path, f"--{name}={value} {_GONE}: its plugins are the default")
    return Change("dropped", path, f"--{name} {_SETTINGS.get(name, _IDLE)}")


def _value(text: str) -> Any:
    """Convert a flag's value to the type of its field."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if text.isdecimal() and text.isascii():
        return parse_integer(text)
    try:
        return float(text) if text.replace(".", "", 1).isdecimal() else text
    except ValueError:
        return text


def _put(made: FromFlags, where: str, value: Any, path: str) -> None:
    made.places[where] = path
    if where.startswith("profiles[0]."):
        _profile(made)[where.removeprefix("profiles[0].")] = value
        return
    section, _, name = where.rpartition(".")
    holder = made.manifest.setdefault(section, {}) if section else made.manifest
    holder[name] = value


def _profile(made: FromFlags) -> dict[str, Any]:
    [profile] = made.manifest.setdefault("profiles", [{}])
    return profile if isinstance(profile, dict) else {}


def _argument(made: FromFlags, plugin: str, args: Mapping[str, Any]) -> None:
    _profile(made).setdefault("pluginConfig", []).append({"name": plugin, "args": dict(args)})


Locate = Callable[[str], Place | None]
What = Literal["configuration", "policy", "flags", "values"]


@dataclass(frozen=True, slots=True)
class FoundConfiguration:
    """A configuration found in a text. `where` names its place, or "" if it is a document. `locate` finds its fields, like Loaded.locate.

    `changes` describe the meaning of flags or values. `gates` are feature gates in the format of --feature-gates. `config_file` is the
    file that flags name but the text does not contain. With `errors`, the configuration is unreadable and the manifest is empty.
    """

    what: What
    manifest: Mapping[str, Any]
    where: str
    locate: Locate
    changes: tuple[Change, ...] = ()
    gates: str = ""
    config_file: str = ""
    errors: tuple[FieldError, ...] = field(default=())

    @property
    def usual(self) -> bool:
        """True if these are flags that amount to kube-scheduler's defaults."""
        usual = {"apiVersion", "kind", "leaderElection"}
        election = self.manifest.get("leaderElection") or {"leaderElect": True}
        alike = set(self.manifest) <= usual and election == {"leaderElect": True}
        return self.what == "flags" and alike and not self.gates

    @property
    def line(self) -> int | None:
        place = self.locate("")
        return place[0] if place is not None else None


class Lines:
    """The lines of a text, split on demand because the text may be long."""

    def __init__(self, text: str = "") -> None:
        self.text = text

    @cached_property
    def all(self) -> list[str]:
        return self.text.split("\n")


@dataclass(frozen=True, slots=True)
class Source:
    """A searched document, and the lines of its text (none if the text joins several files)."""

    loaded: LoadedObject
    lines: Lines = field(default_factory=Lines)

    @property
    def manifest(self) -> Any:
        return self.loaded.manifest

    def at(self, path: str) -> Locate:
        """Return a function that finds fields below a path."""
        return lambda inner: self.loaded.locate(join_path(path, inner))

    def inside(self, path: str, locate: Locate) -> Locate:
        """Return a function that finds fields of a text that is the value at a path. `locate` finds them within that text."""
        return lambda inner: self._outer(self.loaded.locate(path), locate(inner))

    def _outer(self, start: Place | None, inner: Place | None) -> Place | None:
        """Return the place in the outer text: for a block scalar the line itself, for any other text its start."""
        if start is None or inner is None or not self.lines.text:
            return start
        line, column = start
        lines = self.lines.all
        if not lines[line - 1][column - 1 :].startswith("|"):
            return start
        below = (each for each in lines[line:] if each.strip())
        first = next(below, "")
        return line + inner[0], inner[1] + len(first) - len(first.lstrip(" "))


def join_path(path: str, inner: str) -> str:
    """The path of a field below another one."""
    return f"{path}.{inner}" if path and inner and not inner.startswith("[") else path + inner


def name_of(manifest: Mapping[str, Any]) -> str:
    """An object as people call it: `ConfigMap kube-system/scheduler-config`."""
    meta = manifest.get("metadata")
    meta = meta if isinstance(meta, Mapping) else {}
    names = "/".join(str(meta[part]) for part in ("namespace", "name") if meta.get(part))
    return " ".join(part for part in (str(manifest.get("kind") or ""), names) if part)


def as_template(error: InvalidObject, text: str) -> tuple[FieldError, ...]:
    """Return the errors of an unreadable text; for a template, they also advise rendering it."""
    if "{{" not in text and "{%" not in text:
        return error.errors
    advice = "the text looks like a template: render it first, for example with helm template, then paste the result"
    return tuple(replace(each, expected=f"{each.expected}; {advice}") for each in error.errors)
