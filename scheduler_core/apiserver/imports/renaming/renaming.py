"""Renaming of manifests in two passes: the first collects all names, the second writes the new ones."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.imports.renaming import fields
from scheduler_core.apiserver.imports.renaming.fields import Names, find_random_suffix
from scheduler_core.apiserver.kinds import is_own_group

ADDRESS = "192.0.2.1"  # reserved by RFC 5737
_COMPARING = ("Gt", "Lt")


@dataclass(frozen=True, slots=True)
class RenamedObjects:
    """The objects in order, None for those left out; `names` are old and new names."""

    objects: list[Any]
    names: list[tuple[str, str]] = field(default_factory=list)
    left_out: int = 0


def rename_manifests(manifests: Sequence[Any]) -> RenamedObjects:
    """Rename objects, and leave out those without influence on decisions."""
    names = Names()
    chosen = [each if _is_taken(each) else None for each in manifests]
    compared: set[str] = set()
    for manifest in chosen:
        if manifest is not None:
            _announce(manifest, names)
            compared.update(_find_compared_keys(manifest))
    seeing = _Walk(names.see, compared)
    for manifest in chosen:
        if manifest is not None:
            seeing.object(manifest)
    names.number()
    writing = _Walk(names.new, compared)
    objects = [None if manifest is None else writing.object(manifest) for manifest in chosen]
    return RenamedObjects(objects, names.changes(), sum(each is None for each in chosen))


def _is_taken(manifest: Any) -> bool:
    return (
        isinstance(manifest, Mapping)
        and manifest.get("kind") in fields.KINDS
        and is_own_group(str(manifest.get("apiVersion") or ""))
        and isinstance(manifest.get("metadata"), Mapping)
    )


def _announce(manifest: Manifest, names: Names) -> None:
    """Register the names in an object before any new name is assigned."""
    kind, meta = manifest["kind"], manifest["metadata"]
    name = str(meta.get("name") or "")
    if kind == "Node":
        names.see_node(name)
        labels = _map(meta.get("labels"))
        for key in fields.HOSTNAMES:
            if isinstance(labels.get(key), str):
                names.see_node(labels[key])
    elif kind == "CSIDriver":
        names.keep(name)
    elif kind == "CSINode":
        for each in _list(_map(manifest.get("spec")).get("drivers")):
            names.keep(str(_map(each).get("name") or ""))
    elif kind == "Pod":
        owners = [str(_map(each).get("name") or "") for each in _list(meta.get("ownerReferences"))]
        if suffix := find_random_suffix(name, owners):
            names.see_suffix(suffix)
    _keep_drivers(manifest.get("spec"), names)
    for field_ in fields.DRIVERS:
        if isinstance(manifest.get(field_), str):
            names.keep(manifest[field_])


def _keep_drivers(value: Any, names: Names) -> None:
    if isinstance(value, Mapping):
        for key, entry in value.items():
            if key in fields.DRIVERS and isinstance(entry, str):
                names.keep(entry)
            elif isinstance(entry, Mapping | list):
                _keep_drivers(entry, names)
    elif isinstance(value, list):
        for entry in value:
            _keep_drivers(entry, names)


def _find_compared_keys(value: Any) -> Iterable[str]:
    """Yield the keys of labels whose values are compared as numbers."""
    if isinstance(value, Mapping):
        if value.get("operator") in _COMPARING and isinstance(value.get("key"), str):
            yield value["key"]
        for entry in value.values():
            if isinstance(entry, Mapping | list):
                yield from _find_compared_keys(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from _find_compared_keys(entry)


def _map(value: Any) -> Manifest:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


class _Walk:
    """A pass over objects that replaces each name by `name(name)`."""

    def __init__(self, name: Callable[[str], str], compared: set[str]) -> None:
        self._name = name
        self._kept_values = fields.VALUES_KEPT | compared

    def object(self, manifest: Manifest) -> Manifest:
        new = {
            key: value if key in ("apiVersion", "kind") else self._field(key, value)
            for key, value in manifest.items()
            if key not in fields.DROPPED
        }
        new["metadata"] = self._metadata(manifest["metadata"])
        return new

    def _metadata(self, meta: Manifest) -> dict[str, Any]:
        new: dict[str, Any] = {}
        for key, value in meta.items():
            if key == "annotations":
                kept = self._annotations(_map(value))
                new |= {key: kept} if kept else {}
            elif key not in fields.DROPPED:
                new[key] = self._field(key, value)
        return new

    def _annotations(self, notes: Manifest) -> dict[str, Any]:
        return {
            key: value if fields.is_demonstration(key) or not isinstance(value, str) else self._note(value)
            for key, value in notes.items()
            if isinstance(key, str) and fields.is_own_annotation(key)
        }

    def _note(self, value: str) -> str:
        if value in ("true", "false", "yes", "no") or fields.is_time(value):
            return value
        return ",".join(self._key(part) for part in value.split(","))

    def _key(self, key: str) -> str:
        return key if fields.is_public(key) else self._name(key)

    def _resource(self, key: str) -> str:
        before, name, after = fields.resource_parts(key)
        return before + (self._key(name) if name else "") + after

    def _label(self, key: str, value: Any) -> Any:
        return value if key in self._kept_values or not isinstance(value, str) or not value else self._name(value)

    def _labels(self, labels: Manifest) -> dict[str, Any]:
        return {self._key(str(key)): self._label(str(key), value) for key, value in labels.items()}

    def _amounts(self, amounts: Manifest) -> dict[str, Any]:
        """Rename amounts by resource, or fields that contain such amounts."""
        return {
            self._resource(str(key)): self._field(key, value) if isinstance(value, Mapping | list) else value
            for key, value in amounts.items()
        }

    def _mapping(self, value: Manifest) -> dict[str, Any]:
        if "apiVersion" in value and "kind" in value and not is_own_group(str(value["apiVersion"])):
            value = {
                **value,
                "apiVersion": self._name(str(value["apiVersion"])),
                "kind": self._name(str(value["kind"])),
            }
            return {k: v if k in ("apiVersion", "kind") else self._field(k, v) for k, v in value.items()}
        key = value.get("key")
        return {
            name: self._selected(str(key), entry)
            if name in ("value", "values") and isinstance(key, str)
            else self._field(name, entry)
            for name, entry in value.items()
            if name not in fields.DROPPED
        }

    def _selected(self, key: str, value: Any) -> Any:
        return [self._label(key, each) for each in value] if isinstance(value, list) else self._label(key, value)

    def _field(self, key: str, value: Any) -> Any:
        if isinstance(value, Mapping):
            if key in fields.KEPT:
                return value
            if key == "metadata":
                return self._metadata(value)
            if key in fields.LABELS or (key in fields.MAYBE_LABELS and not any(map(_is_nested, value.values()))):
                return self._labels(value)
            if key == "capacity" and any(map(_is_nested, value.values())):  # of a device, as expressions name it
                return value
            return self._amounts(value) if key in fields.QUANTITIES else self._mapping(value)
        if isinstance(value, list):
            return value if key in fields.KEPT else [self._element(key, each) for each in value]
        return self._text(key, value) if isinstance(value, str) and value else value

    def _element(self, key: str, value: Any) -> Any:
        return self._mapping(value) if isinstance(value, Mapping) else self._field(key, value)

    def _text(self, key: str, text: str) -> str:
        if key in fields.KEPT or key == "apiVersion" or key in fields.AMOUNTS or fields.is_vocabulary(text):
            return text
        if fields.is_address(text):
            return ADDRESS
        return self._key(text) if key in fields.LABEL_KEYS else self._name(text)


def _is_nested(value: Any) -> bool:
    return isinstance(value, Mapping | list)
