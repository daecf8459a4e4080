"""Notes on the input: texts for people with named values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from scheduler_core.apimachinery.objects.errors import FieldError, InvalidObject
from scheduler_core.apimachinery.objects.loading import LoadedObject, Place
from scheduler_core.apiserver.kinds import split_api_version
from scheduler_core.scheduler.framework.explanation import gettext_noop

# Objects that stand inside others, and know their place there.


def inside(outer: LoadedObject, path: str, manifest: Any) -> LoadedObject:
    """Return the object at a path of a document."""

    def locate(inner: str) -> Place | None:
        between = "" if not inner or inner.startswith("[") else "."
        return outer.locate(f"{path}{between}{inner}")

    return replace(outer, manifest=manifest, locate=locate)


def replace_manifest(loaded: LoadedObject, manifest: Any) -> LoadedObject:
    """Return the document with another manifest."""
    return loaded if manifest is loaded.manifest else replace(loaded, manifest=manifest)


# Changes in the order they happened: watch events, records, traces. What counts is how things stood at the end.

Key = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class Change:
    """An object as it was from then on, or that it went."""

    object: LoadedObject
    gone: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """The final objects and the number of changes. `fullest`: the objects are those of the fullest moment, because none are left at the
    end.
    """

    objects: list[LoadedObject]
    changes: int
    fullest: bool = False


def outcome(changes: Sequence[Change]) -> Outcome:
    """Return the last state of each object. If none is left, return the moment with the most objects."""
    there: dict[Key, LoadedObject] = {}
    most = fullest = 0
    for number, change in enumerate(changes, start=1):
        _make(there, change)
        if len(there) > most:
            most, fullest = len(there), number
    if there or not fullest:
        return Outcome(list(there.values()), len(changes))
    for change in changes[:fullest]:
        _make(there, change)
    return Outcome(list(there.values()), len(changes), True)


def newest(objects: Sequence[LoadedObject]) -> tuple[list[LoadedObject], int]:
    """Return the objects without older states of the same uid, and the number of these."""
    uids = [_uid(each.manifest) for each in objects]
    said = [uid for uid in uids if uid]
    if len(frozenset(said)) == len(said):
        return list(objects), 0
    kept: dict[tuple[Key, str], LoadedObject] = {}
    others: list[LoadedObject] = []
    for each, uid in zip(objects, uids, strict=True):
        if not uid:
            others.append(each)
            continue
        key = (key_of(each.manifest), uid)
        before = kept.get(key)
        if before is None or _version(each.manifest) >= _version(before.manifest):
            kept[key] = each
    left = {id(each) for each in (*kept.values(), *others)}
    remaining = [each for each in objects if id(each) in left]
    return remaining, len(objects) - len(remaining)


def key_of(manifest: Mapping[str, Any]) -> Key:
    """Group, kind, namespace and name."""
    meta = manifest.get("metadata")
    meta = meta if isinstance(meta, Mapping) else {}
    group = split_api_version(str(manifest.get("apiVersion") or ""))[0]
    return group, str(manifest.get("kind")), str(meta.get("namespace") or ""), str(meta.get("name") or "")


def _uid(manifest: Any) -> str:
    meta = manifest.get("metadata") if isinstance(manifest, dict) else None
    uid = meta.get("uid") if isinstance(meta, dict) else None
    return uid if isinstance(uid, str) else ""


def _make(there: dict[Key, LoadedObject], change: Change) -> None:
    key = key_of(change.object.manifest)
    if change.gone:
        there.pop(key, None)
    else:
        there[key] = change.object


def _version(manifest: Mapping[str, Any]) -> int:
    said = manifest["metadata"].get("resourceVersion")
    return int(said) if isinstance(said, str) and said.isdecimal() and len(said) < 20 else 0


__all__ = ["NotObjects", "Note", "gettext_noop"]


@dataclass(frozen=True, slots=True)
class Note:
    """A text marked by gettext_noop, and its values."""

    text: str
    values: Mapping[str, object] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.text % self.values if self.values else self.text


class NotObjects(InvalidObject):
    """An input without objects. `note` names the input's type and a better input."""

    def __init__(self, note: Note, line: int | None = None) -> None:
        self.note = note
        super().__init__([FieldError("", str(note), "", line=line)])
