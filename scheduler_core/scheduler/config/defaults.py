"""Defaults of a KubeSchedulerConfiguration, filled into a new manifest.

kube: apis/config/v1/{defaults,default_plugins}.go @ v1.34.1
"""

from collections.abc import Iterable, Mapping
from typing import Any

from scheduler_core.apimachinery.objects import MutableManifest, go_duration, parse_duration
from scheduler_core.apimachinery.objects.errors import FieldError, build_required_error, invalid
from scheduler_core.scheduler.config.expand import arguments_of, default_arguments
from scheduler_core.scheduler.config.schema import API_VERSION, FIELDS, KIND, MULTI_POINT
from scheduler_core.scheduler.framework.arguments import present
from scheduler_core.scheduler.framework.features import DEFAULT_FEATURES, Features
from scheduler_core.scheduler.leaderelection.config import ElectionConfig, elector_error
from scheduler_core.scheduler.plugins import default_order
from scheduler_core.scheduler.plugins.registry import registry

# leaderElection of a KubeSchedulerConfiguration: the settings of leader election, and their validation.
# kube: component-base/config/validation/validation.go, pkg/scheduler/apis/config/validation/validation.go,
# cmd/kube-scheduler/app/{server,options/options}.go @ v1.34.1

DURATIONS = ("leaseDuration", "renewDeadline", "retryPeriod")
_PATH = "leaderElection"


def election_config(configuration: Mapping[str, Any]) -> ElectionConfig | None:
    """Return the election config of a valid, defaulted configuration; None if leaderElect is false."""
    section = configuration[_PATH]
    if not section["leaderElect"]:
        return None
    lease, renew, retry = (parse_duration(section[name]) for name in DURATIONS)
    return ElectionConfig(lease, renew, retry, section["resourceNamespace"], section["resourceName"])


def resource_lock_errors(configuration: Mapping[str, Any]) -> list[FieldError]:
    """Check resourceLock in a defaulted configuration: only Leases are supported."""
    section = configuration[_PATH]
    if not section["leaderElect"] or section["resourceLock"] == "leases":
        return []
    return [invalid(f"{_PATH}.resourceLock", section["resourceLock"], 'resourceLock value must be "leases"')]


def election_errors(configuration: Mapping[str, Any]) -> list[FieldError]:
    """Return kube-scheduler's other errors for a defaulted configuration: unreadable durations first, then invalid durations,
    then errors in making the elector.
    """
    section = configuration[_PATH]
    unreadable = []
    for name in DURATIONS:
        try:
            parse_duration(section[name])
        except ValueError as error:
            unreadable.append(FieldError(f"{_PATH}.{name}", "", str(error)))
    if unreadable or not section["leaderElect"]:
        return unreadable
    return _duration_errors(section) or _elector_errors(configuration)


def _duration_errors(section: Mapping[str, Any]) -> list[FieldError]:
    values = {name: parse_duration(section[name]) for name in DURATIONS}
    errors = [
        invalid(f"{_PATH}.{name}", go_duration(value), "must be greater than zero")
        for name, value in values.items()
        if value <= 0
    ]
    if values["leaseDuration"] <= values["renewDeadline"]:
        received = go_duration(values["renewDeadline"])
        errors.append(invalid(f"{_PATH}.leaseDuration", received, "must be greater than `RenewDeadline`"))
    names = ("resourceNamespace", "resourceName")
    return errors + [build_required_error(f"{_PATH}.{name}") for name in names if not section[name]]


def _elector_errors(configuration: Mapping[str, Any]) -> list[FieldError]:
    """Return the errors that kube-scheduler reports at startup, after its informers have synced."""
    config = election_config(configuration)
    error = "" if config is None else elector_error(config)
    return [FieldError(_PATH, "", f"couldn't create leader elector: {error}")] if error else []


DEFAULT_SCHEDULER = "default-scheduler"

LEADER_ELECTION: MutableManifest = {
    "leaderElect": True,
    "leaseDuration": "15s",
    "renewDeadline": "10s",
    "retryPeriod": "2s",
    "resourceLock": "leases",
    "resourceName": "kube-scheduler",
    "resourceNamespace": "kube-system",
}
CLIENT_CONNECTION: MutableManifest = {
    "kubeconfig": "",
    "acceptContentTypes": "",
    "contentType": "application/vnd.kubernetes.protobuf",
    "qps": 50,
    "burst": 100,
}


def default_configuration(manifest: Mapping[str, Any], features: Features = DEFAULT_FEATURES) -> MutableManifest:
    """Return a new manifest with every default filled in. The argument, whose shape is already validated, is not changed."""
    out = present(manifest)
    out["apiVersion"], out["kind"] = API_VERSION, KIND
    out.setdefault("parallelism", 16)
    out["leaderElection"] = LEADER_ELECTION | _lasting(_drop_zero_values(out.get("leaderElection")))
    out["clientConnection"] = CLIENT_CONNECTION | _drop_zero_values(out.get("clientConnection"))
    out.setdefault("percentageOfNodesToScore", 0)
    out.setdefault("podInitialBackoffSeconds", 1)
    out.setdefault("podMaxBackoffSeconds", 10)
    out.setdefault("enableProfiling", True)
    if out["enableProfiling"]:
        out.setdefault("enableContentionProfiling", True)
    profiles = [present(profile) for profile in out.get("profiles") or [{}]]
    if len(profiles) == 1:
        profiles[0].setdefault("schedulerName", DEFAULT_SCHEDULER)
    out["profiles"] = [_default_profile(profile, features) for profile in profiles]
    return out


def _drop_zero_values(mapping: Mapping[str, Any] | None) -> MutableManifest:
    """Return a copy without empty strings and zeros, which Go cannot distinguish from absent; false stays."""
    return {name: value for name, value in present(mapping).items() if value is False or value}


def _lasting(election: MutableManifest) -> MutableManifest:
    """Return the fields without zero durations, which count as absent, too."""
    return {name: value for name, value in election.items() if not (name in DURATIONS and _is_zero(value))}


def _is_zero(duration: str) -> bool:
    try:
        return parse_duration(duration) == 0
    except ValueError:
        return False


def _default_profile(profile: MutableManifest, features: Features) -> MutableManifest:
    custom = profile.get("plugins") or {}
    defaults = _default_plugins(features)
    plugins: MutableManifest = {}
    for field in (*FIELDS, MULTI_POINT):
        plugin_set = _merge_set(defaults if field == MULTI_POINT else [], custom.get(field) or {})
        if plugin_set:
            plugins[field] = plugin_set
    configs = [_default_config(config, features) for config in profile.get("pluginConfig") or ()]
    configured = {config["name"] for config in configs}
    missing = [
        name
        for name in sorted(collect_enabled_names(plugins))
        if arguments_of(name) is not None and name not in configured
    ]
    configs += [_default_config({"name": name}, features) for name in missing]
    return {**profile, "plugins": plugins, "pluginConfig": configs}


def _default_plugins(features: Features) -> list[MutableManifest]:
    return [
        {"name": name, "weight": weight} if weight else {"name": name}
        for name, weight in default_order(features)
        if registry()[name].in_default_set(features)
    ]


def list_given_indexes(plugins: Mapping[str, Any], features: Features) -> list[int | None]:
    """Return the given-list index of each plugin that multiPoint enables after defaulting; None: not in the list."""
    return [index for _, index in _merge_entries(_default_plugins(features), plugins.get(MULTI_POINT) or {})]


def _merge_set(defaults: Iterable[MutableManifest], custom: Mapping[str, Any]) -> MutableManifest:
    disabled = [{"name": plugin.get("name", "")} for plugin in custom.get("disabled") or ()]
    merged = [plugin for plugin, _ in _merge_entries(defaults, custom)]
    out: MutableManifest = {}
    if merged:
        out["enabled"] = merged
    if disabled:
        out["disabled"] = disabled
    return out


def _merge_entries(
    defaults: Iterable[MutableManifest], custom: Mapping[str, Any]
) -> list[tuple[MutableManifest, int | None]]:
    """Merge plugins: the default set without disabled plugins, reconfigured ones in place, other custom ones last; with their indexes."""
    off = {plugin.get("name", "") for plugin in custom.get("disabled") or ()}
    enabled: list[MutableManifest] = [{"name": "", **present(plugin)} for plugin in custom.get("enabled") or ()]
    last = {plugin["name"]: i for i, plugin in enumerate(enabled)}
    merged: list[tuple[MutableManifest, int | None]] = []
    replaced: dict[int, None] = {}
    for plugin in () if "*" in off else defaults:
        if plugin["name"] in off:
            continue
        index = last.get(plugin["name"])
        if index is not None:
            replaced[index] = None
        merged.append((plugin if index is None else enabled[index], index))
    return merged + [(plugin, i) for i, plugin in enumerate(enabled) if i not in replaced]


def collect_enabled_names(plugins: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(
        plugin.get("name", "") for plugin_set in plugins.values() for plugin in plugin_set.get("enabled") or ()
    )


def _default_config(config: Mapping[str, Any], features: Features) -> MutableManifest:
    name = config.get("name") or ""
    args = config.get("args")
    if arguments_of(name) is None:
        return {"name": name} if args is None else {"name": name, "args": args}
    return {"name": name, "args": default_arguments(name, args or {}, features)}
