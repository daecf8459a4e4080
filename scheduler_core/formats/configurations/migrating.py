"""Migration of a KubeSchedulerConfiguration of an older version to v1 without a change of meaning, with a list of the changes.

kube: apis/config/{v1alpha1,v1alpha2} @ v1.18.20, {v1beta1,v1beta2,v1beta3} @ v1.22.17, v1.25.16, v1.28.15; v1 @ v1.34.1
"""

from collections.abc import Mapping
from typing import Any

from scheduler_core.apimachinery.objects import MutableManifest, strict
from scheduler_core.apimachinery.objects.errors import FieldError, invalid, wrong_type
from scheduler_core.formats.configurations import fields
from scheduler_core.formats.configurations.effective import (
    BY_API_VERSION,
    Change,
    Migration,
    Profile,
    Version,
    effective,
)
from scheduler_core.formats.configurations.translate import SPREAD, SPREADERS, VOLUME_COUNTS, Configs, translate
from scheduler_core.formats.configurations.writing import weights_kept, write_plugins
from scheduler_core.scheduler.config import schema
from scheduler_core.scheduler.framework.arguments import present

# The shapes of the older versions, so that an error is said of the document as it was written.
# kube: kube-scheduler/config/{v1alpha1,v1alpha2,v1beta1,v1beta2,v1beta3}/types.go @ v0.17.17 to v0.28.15

_Fields = dict[str, strict.Shape]
_POINTS = [point for point in schema.FIELDS if point != "preEnqueue"]
_PLUGIN_CONFIG: strict.Shape = strict.ListOf({"name": strict.STRING, "args": strict.ANY})
_ADDRESSES: _Fields = {"healthzBindAddress": strict.STRING, "metricsBindAddress": strict.STRING}
_LOCK: _Fields = {"lockObjectNamespace": strict.STRING, "lockObjectName": strict.STRING}


def _read_profile(points: list[str]) -> _Fields:
    return {
        "schedulerName": strict.STRING,
        "plugins": dict.fromkeys(points, schema.PLUGIN_SET),
        "pluginConfig": _PLUGIN_CONFIG,
    }


def _of(shape: strict.Shape) -> _Fields:
    """The fields of an object's shape."""
    assert isinstance(shape, dict)
    return shape


def _without(names: tuple[str, ...]) -> _Fields:
    return {name: shape for name, shape in _of(schema.CONFIGURATION).items() if name not in names}


_COMMON = _without(("profiles", "delayCacheUntilActive"))
_ALPHA = {
    **_without(("profiles", "delayCacheUntilActive", "parallelism", "extenders", "leaderElection")),
    **_ADDRESSES,
    "leaderElection": {**_of(_COMMON["leaderElection"]), **_LOCK},
    "disablePreemption": strict.BOOL,
    "bindTimeoutSeconds": strict.INTEGER64,
}
EXTENDER: strict.Shape = {**_of(schema.EXTENDER), "enableHttps": strict.BOOL, "httpTimeout": strict.ANY}

SHAPES: dict[str, strict.Shape] = {
    "v1alpha1": {
        **_ALPHA,
        "schedulerName": strict.STRING,
        "algorithmSource": {
            "provider": strict.STRING,
            "policy": {
                "file": {"path": strict.STRING},
                "configMap": {"namespace": strict.STRING, "name": strict.STRING},
            },
        },
        "hardPodAffinitySymmetricWeight": strict.INTEGER32,
        "failureDomains": strict.STRING,
        "plugins": dict.fromkeys([*(p for p in _POINTS if p != "preScore"), "unreserve"], schema.PLUGIN_SET),
        "pluginConfig": _PLUGIN_CONFIG,
    },
    "v1alpha2": {
        **_ALPHA,
        "profiles": strict.ListOf(_read_profile([*(p for p in _POINTS if p != "postFilter"), "unreserve"])),
        "extenders": strict.ListOf(EXTENDER),
    },
    "v1beta1": {**_COMMON, **_ADDRESSES, "profiles": strict.ListOf(_read_profile(_POINTS))},
    "v1beta2": {**_COMMON, **_ADDRESSES, "profiles": strict.ListOf(_read_profile(_POINTS))},
    "v1beta3": {**_COMMON, "profiles": strict.ListOf(_read_profile([*schema.FIELDS, schema.MULTI_POINT]))},
}

# The plugins of a v1beta3 profile, which are v1's but for those that went since.
# kube: apis/config/v1beta3/default_plugins.go, apis/config/validation/validation.go @ v1.28.15

_COUNTED = "removed, because NodeVolumeLimits counts these volumes by their CSI drivers"
_SPREAD = f"became the default constraints of {SPREAD} (defaultingType System)"


def keep_sets(
    plugins: Mapping[str, Any], path: str, configs: Configs, where: Mapping[str, str]
) -> tuple[dict[str, Any], list[Change]]:
    """Return the plugin sets without the plugins that v1 lacks, and the changes."""
    changes: list[Change] = []
    kept = {point: _clean_set(plugin_set or {}, f"{path}.{point}", changes) for point, plugin_set in plugins.items()}
    for name in SPREADERS:
        configs.pop(name, None)
    if any(change.text.endswith(_SPREAD) for change in changes):
        args = configs.get(SPREAD) or {}
        if args.get("defaultConstraints"):
            text = f"{SPREAD} has default constraints of its own here and keeps them"
            effect = "pods of a workload are spread by these constraints alone"
            changes.append(Change("lost", where[SPREAD], text, effect))
        elif args.get("defaultingType") == "List":
            args["defaultingType"] = "System"
    return {point: plugin_set for point, plugin_set in kept.items() if plugin_set}, changes


def _clean_set(plugin_set: Mapping[str, Any], path: str, changes: list[Change]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for which in ("enabled", "disabled"):
        entries = [
            kept
            for i, entry in enumerate(plugin_set.get(which) or ())
            if (kept := _entry(entry, which, f"{path}.{which}[{i}]", changes)) is not None
        ]
        if entries:
            out[which] = entries
    return out


def _entry(entry: Mapping[str, Any], which: str, path: str, changes: list[Change]) -> Mapping[str, Any] | None:
    """None where it is left out."""
    name = entry.get("name")
    if name in VOLUME_COUNTS:
        changes.append(Change("dropped", path, f"{name}: {_COUNTED}"))
        return None
    if name not in SPREADERS:
        return entry
    if which == "disabled":
        changes.append(Change("dropped", path, f"{name} was removed from kube-scheduler"))
        return None
    changes.append(Change("moved", path, f"{name} {_SPREAD}"))
    return {**entry, "name": SPREAD}


_ALPHAS = ("v1alpha1", "v1alpha2")


def older_version(manifest: Any) -> Version | None:
    """Return the older version of a document, or None if it is of v1 or no KubeSchedulerConfiguration."""
    if not isinstance(manifest, Mapping) or manifest.get("kind") != schema.KIND:
        return None
    version = manifest.get("apiVersion")
    return BY_API_VERSION.get(version) if isinstance(version, str) else None


def migrate(manifest: Mapping[str, Any]) -> Migration:
    """Migrate a configuration of an older version to v1. Raise ConfigurationError if it has another version, or an invalid shape."""
    version = older_version(manifest)
    if version is None:
        received = manifest.get("apiVersion") if isinstance(manifest, Mapping) else manifest
        raise schema.ConfigurationError([invalid("apiVersion", received, "is not an older version")])
    errors = strict.check_shape(manifest, SHAPES[version.name], "") or _names_errors(manifest)
    if errors:
        raise schema.ConfigurationError(errors)
    changes = [_first(version)]
    out = present(manifest)
    out["apiVersion"] = schema.API_VERSION
    changes += fields.common(out)
    single = "profiles" not in out and version.name == "v1alpha1"
    if version.name in _ALPHAS:
        changes += fields.alpha(out)
    profiles = [present(each) for each in out.get("profiles") or [{}]]
    converted = [
        _profile(profile, "" if single else f"profiles[{i}].", version, changes) for i, profile in enumerate(profiles)
    ]
    if out.get("profiles") or any(converted):
        out["profiles"] = converted
    elif "profiles" in out:
        del out["profiles"]
    return Migration(out, version.name, version.release, tuple(_once(changes)))


def _first(version: Version) -> Change:
    became = f"{version.api_version} became {schema.API_VERSION}"
    text = f"{became}. It is read as in kube-scheduler {version.release}, the last release with this version"
    return Change("moved", "apiVersion", text)


def _names_errors(manifest: Mapping[str, Any]) -> list[FieldError]:
    """Return errors for plugin arguments that are not objects."""
    holders: list[tuple[str, Mapping[str, Any]]] = [("", manifest)]
    holders += [(f"profiles[{i}].", each) for i, each in enumerate(manifest.get("profiles") or ())]
    return [
        error
        for path, holder in holders
        for i, config in enumerate(holder.get("pluginConfig") or ())
        if not isinstance(config.get("args") or {}, Mapping)
        for error in [wrong_type(f"{path}pluginConfig[{i}].args", config["args"], "an object")]
    ]


def _once(changes: list[Change]) -> list[Change]:
    """Remove repeated changes of several profiles."""
    seen: dict[tuple[str, str], Change] = {}
    for change in changes:
        seen.setdefault((change.kind, change.text) if not change.path else (change.path, change.text), change)
    return list(seen.values())


def _profile(profile: MutableManifest, path: str, version: Version, changes: list[Change]) -> MutableManifest:
    configs, where = _configs(profile, path)
    changes += _arguments(configs, where, version)
    if version.name == "v1beta3":
        plugins, said = keep_sets(profile.get("plugins") or {}, f"{path}plugins", configs, where)
        changes += said
    else:
        ran, said = effective(profile.get("plugins"), f"{path}plugins", version)
        changes += said
        plugins = _translate_plugins(ran, configs, where, version, changes)
    out = {name: value for name, value in profile.items() if name not in ("plugins", "pluginConfig")}
    if plugins:
        out["plugins"] = plugins
    if configs:
        out["pluginConfig"] = [{"name": name, "args": args} for name, args in configs.items()]
    return out


def _translate_plugins(
    ran: Profile, configs: Configs, where: Mapping[str, str], version: Version, changes: list[Change]
) -> MutableManifest:
    spread_alone = version.name in _ALPHAS and not ran.find("score", "DefaultPodTopologySpread")
    changes += translate(ran, configs, where)
    if spread_alone and ran.find("score", SPREAD) and not configs.get(SPREAD, {}).get("defaultConstraints"):
        configs.setdefault(SPREAD, {})["defaultingType"] = "List"
        text = f"{SPREAD} had no default constraints, so defaultingType List without constraints is written out"
        changes.append(Change("kept", "", text))
    changes += weights_kept(ran, version)
    plugins, said = write_plugins(ran, version)
    changes += said
    return plugins


def _configs(profile: MutableManifest, path: str) -> tuple[Configs, dict[str, str]]:
    """Return the plugins' arguments by name, and their paths."""
    configs: Configs = {}
    where: dict[str, str] = {}
    for i, config in enumerate(profile.get("pluginConfig") or ()):
        name = config.get("name") or ""
        configs[name] = present(config.get("args"))
        where[name] = f"{path}pluginConfig[{i}]"
    return configs, where


def _arguments(configs: Configs, where: Mapping[str, str], version: Version) -> list[Change]:
    """Migrate the arguments' own version, and write out defaults that have changed since."""
    changes = []
    for name, args in configs.items():
        if args.get("apiVersion") == version.api_version:
            args["apiVersion"] = schema.API_VERSION
            changes.append(Change("moved", f"{where[name]}.args.apiVersion", "the arguments are also converted to v1"))
    spread = configs.get(SPREAD)
    if version.name != "v1beta2" and spread and spread.get("defaultConstraints") and "defaultingType" not in spread:
        spread["defaultingType"] = "List"
        text = "defaultConstraints require the defaultingType List, which was implied then"
        changes.append(Change("kept", where[SPREAD], text))
    return changes
