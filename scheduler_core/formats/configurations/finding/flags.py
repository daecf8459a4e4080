"""kube-scheduler's flags: which configuration they amount to, and what the others mean here.

kube: cmd/kube-scheduler/app/options/{options,deprecated}.go @ v1.34.1; for flags that went since @ v1.18.20
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scheduler_core.apimachinery.objects.texts.json_text import parse_integer
from scheduler_core.formats.configurations.effective import Change
from scheduler_core.scheduler.config.schema import API_VERSION, KIND

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
    "pod-max-in-unschedulable-pods-duration": "is a setting of the world around the schedulers, below",
    "leader-elect-resource-lock": "is always leases",
}
_GONE = "went with v1.23"
_IDLE = "says nothing here"


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
    """The configuration that flags amount to, and what is said of each."""
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
        made.changes.append(Change("moved", path, f"--feature-gates={value} are settings of the world, below"))
    elif where is not None and ignored:
        made.changes.append(Change("dropped", path, f"--{name} counts only without --config"))
    elif where is not None:
        _put(made, where, _value(value or "true"), path)
        made.changes.append(Change("moved", path, f"--{name} is the field {where}"))
    elif name == "hard-pod-affinity-symmetric-weight":
        _argument(made, "InterPodAffinity", {"hardPodAffinityWeight": _value(value)})
        text = f"--{name} is the argument hardPodAffinityWeight of InterPodAffinity"
        made.changes.append(Change("moved", path, text))
    elif name == "algorithm-provider" and value == "ClusterAutoscalerProvider":
        _argument(made, "NodeResourcesFit", {"scoringStrategy": {"type": "MostAllocated"}})
        text = f"--{name}={value} is the scoringStrategy MostAllocated of NodeResourcesFit"
        made.changes.append(Change("moved", path, text))
    else:
        made.changes.append(_describe_flag(name, value, path))


def _describe_flag(name: str, value: str, path: str) -> Change:
    if name in _POLICY:
        effect = "paste the Policy, which can be turned into v1, too"
        return Change("lost", path, f"--{name}={value} {_GONE}, and its Policy is not in this text", effect)
    if name in ("algorithm-provider",):
        return Change("dropped", path, f"--{name}={value} {_GONE}: its plugins are the default")
    return Change("dropped", path, f"--{name} {_SETTINGS.get(name, _IDLE)}")


def _value(text: str) -> Any:
    """A flag's value as the field has it."""
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
