"""The changes that make a found configuration applicable."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from scheduler_core.apimachinery.objects import FieldError, InvalidObject, MutableManifest
from scheduler_core.apimachinery.objects.strict import Step, check_shape, parse_path
from scheduler_core.formats.configurations.effective import Change, Migration
from scheduler_core.formats.configurations.finding.found import FoundConfiguration
from scheduler_core.formats.configurations.migrating import migrate, older_version
from scheduler_core.formats.configurations.policy import migrate_policy
from scheduler_core.formats.configurations.unknown_plugins import (
    UnknownPlugin,
    missing_points,
    unknown_plugins,
    without_plugins,
)
from scheduler_core.scheduler.config import ConfigurationError, Definition, load_configuration
from scheduler_core.scheduler.config.expand import arguments_of
from scheduler_core.scheduler.config.load import with_own
from scheduler_core.scheduler.config.schema import CONFIGURATION, FIELDS, MULTI_POINT, is_registered
from scheduler_core.scheduler.framework.features import DEFAULT_FEATURES, Features
from scheduler_core.scheduler.plugins import OUT_OF_TREE

# Plugins of others that are here as ours, written anew: where a configuration asks for the original, what ours does not have.

_STANDS_FOR = {("queueSort", "Coscheduling"): "CoschedulingSort"}


def fit_ours(manifest: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[Change]]:
    """Return a v1 configuration with each plugin at the extension points it has here, and the changes. Without changes, return the same
    manifest.
    """
    if check_shape(manifest, CONFIGURATION, ""):
        return manifest, []
    changes: list[Change] = []
    profiles = [
        _profile(profile, f"profiles[{i}]", changes) for i, profile in enumerate(manifest.get("profiles") or ())
    ]
    return ({**manifest, "profiles": profiles}, changes) if changes else (manifest, [])


def _profile(profile: Mapping[str, Any], path: str, changes: list[Change]) -> MutableManifest:
    out = dict(profile)
    plugins = profile.get("plugins") or {}
    if plugins:
        out["plugins"] = {
            point: _set(plugin_set or {}, point, f"{path}.plugins.{point}", changes) if point in FIELDS else plugin_set
            for point, plugin_set in plugins.items()
        }
        _sort(out["plugins"], f"{path}.plugins.multiPoint.enabled", changes)
    if profile.get("pluginConfig"):
        out["pluginConfig"] = [
            _config(config, f"{path}.pluginConfig[{i}].args", changes)
            for i, config in enumerate(profile["pluginConfig"])
        ]
    return out


def _set(plugin_set: Mapping[str, Any], point: str, path: str, changes: list[Change]) -> MutableManifest:
    enabled = []
    for i, entry in enumerate(plugin_set.get("enabled") or ()):
        ours = _STANDS_FOR.get((point, entry.get("name") or ""))
        if ours is None or not is_registered(ours):
            enabled.append(entry)
            continue
        changes.append(Change("moved", f"{path}.enabled[{i}]", _explain_replacement(point, entry["name"], ours)))
        enabled.append({**entry, "name": ours})
    return {**plugin_set, "enabled": enabled} if enabled else dict(plugin_set)


def _sort(plugins: MutableManifest, path: str, changes: list[Change]) -> None:
    """Enabled at all of its points, the original sorts the queue, too."""
    enabled = [entry.get("name") for entry in (plugins.get(MULTI_POINT) or {}).get("enabled") or ()]
    for (point, name), ours in _STANDS_FOR.items():
        if name in enabled and is_registered(ours) and point in dict(missing_points(plugins)):
            plugins[point] = {"enabled": [{"name": ours}]}
            changes.append(Change("moved", f"{path}[{enabled.index(name)}]", _explain_replacement(point, name, ours)))


def _explain_replacement(point: str, name: str, ours: str) -> str:
    return f"at {point}, {ours} replaces {name}, which is two plugins here"


def _config(config: Mapping[str, Any], path: str, changes: list[Change]) -> Mapping[str, Any]:
    """Without arguments that ours does not have."""
    name, args = config.get("name") or "", config.get("args")
    taken = arguments_of(name) if name in OUT_OF_TREE else None
    if taken is None or not isinstance(args, Mapping):
        return config
    surplus = [field for field in args if field not in ("apiVersion", "kind", *taken.fields)]
    for field in surplus:
        text = f"{field} is an argument of the original {name}, but not of the plugin here"
        changes.append(Change("lost", f"{path}.{field}", text, "it has no effect here"))
    kept = {field: value for field, value in args.items() if field not in surplus}
    if surplus:
        kept.pop("apiVersion", None)  # the original's own
    return {**config, "args": kept} if surplus else config


MOST_ERRORS = 200  # each is looked for in the text
_MOST_LOOKED_AT = 200  # entries of a list in which one that moved is looked for


@dataclass(frozen=True, slots=True)
class Adoption:
    """A found configuration as v1, with all differences from the original.

    `version` is the original version ("" for v1). `without` is the configuration without the plugins that do not exist here. `errors`
    prevent its use, each with its place in the text; if the migration has errors, the manifest is empty.
    """

    found: FoundConfiguration
    manifest: Mapping[str, Any]
    version: str = ""
    release: str = ""
    changes: tuple[Change, ...] = ()
    unknown: tuple[UnknownPlugin, ...] = ()
    without: Mapping[str, Any] | None = None
    errors: tuple[FieldError, ...] = ()

    @property
    def plain(self) -> bool:
        """True if the document is of v1 and needs no changes."""
        changed = self.version or self.unknown or self.changes
        return not (changed or self.found.where or self.found.what != "configuration")


def adopt(
    found: FoundConfiguration, features: Features = DEFAULT_FEATURES, own: Mapping[str, Definition] | None = None
) -> Adoption:
    """Return the adoption of a found configuration, given these user-defined plugins."""
    with with_own(own or {}):
        return _adopt(found, features)


def _adopt(found: FoundConfiguration, features: Features) -> Adoption:
    if found.errors:
        return Adoption(found, {}, errors=found.errors)
    try:
        result = _as_v1(found)
    except ConfigurationError as error:
        version = older_version(found.manifest)
        name = "Policy" if found.what == "policy" else version.name if version else ""
        return Adoption(found, {}, name, errors=_locate_errors(found, error.errors))
    unknown = [
        replace(each, places=tuple(path_before(path, result.manifest, found.manifest) for path in each.places))
        for each in unknown_plugins(result.manifest)
    ]
    names = [each.name for each in unknown]
    without = without_plugins(result.manifest, names) if unknown else None
    errors = _errors(result.manifest if without is None else without, features)
    there = [
        replace(error, path=path_before(error.path, without or result.manifest, found.manifest)) for error in errors
    ]
    return Adoption(
        found,
        result.manifest,
        result.version,
        result.release,
        (*found.changes, *result.changes),
        tuple(unknown),
        without,
        _locate_errors(found, there),
    )


def _as_v1(found: FoundConfiguration) -> Migration:
    if found.what == "policy":
        return migrate_policy(found.manifest)
    made = Migration(found.manifest, "", "", ())
    if older_version(found.manifest) is not None:
        made = migrate(found.manifest)
    manifest, changes = fit_ours(made.manifest)
    there = [replace(each, path=path_before(each.path, made.manifest, found.manifest)) for each in changes]
    return replace(made, manifest=manifest, changes=(*made.changes, *there))


def _errors(manifest: Mapping[str, Any], features: Features) -> list[FieldError]:
    try:
        load_configuration(manifest, features, elections=True)
    except InvalidObject as error:
        return list(error.errors)
    return []


def _locate_errors(
    found: FoundConfiguration, errors: list[FieldError] | tuple[FieldError, ...]
) -> tuple[FieldError, ...]:
    return tuple(error.at(found.locate(error.path)) for error in errors[:MOST_ERRORS])


def path_before(path: str, after: Any, before: Any) -> str:
    """Return a field's path in the original manifest, as far as it exists there; list entries are matched by name."""
    top = "profiles[0]."
    if path.startswith(top) and isinstance(before, Mapping) and "profiles" not in before:
        # v1alpha1 is one profile
        return _before(path.removeprefix(top), after["profiles"][0], before)
    return _before(path, after, before)


def _before(path: str, after: Any, before: Any) -> str:
    out: list[Step] = []
    for step in parse_path(path):
        if isinstance(step, int):
            step, after, before = _entry(step, after, before)
            if before is None:
                break
        else:
            after, before = (each.get(step) if isinstance(each, Mapping) else None for each in (after, before))
        out.append(step)
        if before is None:
            break
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in out).removeprefix(".")


def _entry(index: int, after: Any, before: Any) -> tuple[int, Any, Any]:
    """Return the entry of the same name, usually at the same index. Entries without names match by index."""
    entry = after[index] if isinstance(after, list) and index < len(after) else None
    there = before if isinstance(before, list) else []
    same = there[index] if index < len(there) else None
    name = _name(entry)
    if name is None or _name(same) == name:
        return index, entry, same
    for i, each in enumerate(there[:_MOST_LOOKED_AT]):
        if _name(each) == name:
            return i, entry, each
    return index, entry, None


def _name(entry: Any) -> Any:
    return entry.get("name") if isinstance(entry, Mapping) else None
