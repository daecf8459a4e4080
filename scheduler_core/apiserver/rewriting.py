"""New manifests made from old ones: nothing changes in place, and unchanged parts are shared."""

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from scheduler_core.apimachinery.objects import Manifest, controller_of

# Objects by controller: an index of one kind's objects, which the store updates once it is in use.
# kube: pkg/controller/controller_utils.go (PodControllerUIDIndex, OrphanPodIndex) @ v1.34.1

Key = tuple[str, str]


class ControllerIndex:
    """Keys of objects by the uid of their controller, or by namespace if they have none; each list is sorted."""

    __slots__ = ("_keys",)

    def __init__(self, objects: Iterable[tuple[Key, Manifest]]) -> None:
        self._keys: dict[str, list[Key]] = {}
        for key, manifest in objects:
            self._keys.setdefault(_place(key, manifest), []).append(key)
        for keys in self._keys.values():
            keys.sort()

    def of(self, uid: str) -> list[Key]:
        """Return the keys of the objects that the controller of a uid manages."""
        return list(self._keys.get(uid, ()))

    def without(self, namespace: str) -> list[Key]:
        """Return the keys of a namespace's objects without a controller."""
        return list(self._keys.get(f"/{namespace}", ()))

    def note(self, key: Key, old: Manifest | None, new: Manifest | None) -> None:
        """Update the index after a change of one object."""
        before = None if old is None else _place(key, old)
        after = None if new is None else _place(key, new)
        if before == after:
            return
        if before is not None:
            keys = self._keys[before]
            del keys[bisect_left(keys, key)]
            if not keys:
                del self._keys[before]
        if after is not None:
            insort(self._keys.setdefault(after, []), key)


def _place(key: Key, manifest: Manifest) -> str:
    reference = controller_of(manifest)
    return f"/{key[0]}" if reference is None else str(reference.get("uid") or "")


def with_section(manifest: Manifest, section: str, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy with fields of one top-level section set."""
    return {**manifest, section: {**(manifest.get(section) or {}), **changes}}


def fill(value: Manifest, unset: tuple[Any, ...] = (None,), **defaults: Any) -> Manifest:
    """Return a value with defaults for its `unset` fields; the same value if none is unset."""
    missing = {name: default for name, default in defaults.items() if value.get(name) in unset}
    return {**value, **missing} if missing else value


def rewrite(value: Any, path: Sequence[str], change: Callable[[Any], Any]) -> Any:
    """Return a value with each part at a path changed ("*": all entries); the same value if nothing changes."""
    if not path or not value:
        return value if path else change(value)
    name, rest = path[0], path[1:]
    if name != "*":
        inner = value.get(name)
        new = inner if inner is None else rewrite(inner, rest, change)
        return value if new is inner else {**value, name: new}
    if isinstance(value, Mapping):
        entries = {key: rewrite(each, rest, change) for key, each in value.items()}
        return value if all(entries[key] is each for key, each in value.items()) else entries
    listed = [rewrite(each, rest, change) for each in value]
    return value if all(new is each for new, each in zip(listed, value, strict=True)) else listed


def without(value: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return a copy without some fields."""
    return {name: each for name, each in value.items() if name not in names}


def merge_patch(target: Any, patch: Any) -> Any:
    """Apply a merge patch (RFC 7396): objects are merged, null deletes, anything else replaces."""
    if not isinstance(patch, Mapping):
        return patch
    merged = dict(target) if isinstance(target, Mapping) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = merge_patch(merged.get(name), value)
    return merged


def with_condition(
    status: Mapping[str, Any], condition: Mapping[str, Any], timestamp: str, probed: bool = True
) -> dict[str, Any] | None:
    """Return the status with a condition set, or None if it is set already. `probed`: add a probe time, as in pods' conditions.

    The transition time moves only when the condition's status changes. kube: api/v1/pod/util.go UpdatePodCondition
    """
    conditions = list(status.get("conditions") or ())
    index = next((i for i, old in enumerate(conditions) if old.get("type") == condition["type"]), None)
    fresh = {**({"lastProbeTime": None} if probed else {}), "lastTransitionTime": timestamp, **condition}
    if index is None:
        conditions.append(fresh)
        return {**status, "conditions": conditions}
    old = conditions[index]
    if old.get("status") == fresh.get("status") and old.get("lastTransitionTime"):
        fresh["lastTransitionTime"] = old["lastTransitionTime"]
    if all(
        old.get(field) == fresh.get(field)
        for field in ("status", "reason", "message", "lastTransitionTime", "observedGeneration")
    ):
        return None
    conditions[index] = fresh
    return {**status, "conditions": conditions}


_MOST_PATHS = 50


def list_changed_paths(old: Any, new: Any, path: str = "") -> list[str]:
    """Return the paths of the fields in which two manifests differ, in the order of the fields, up to a limit."""
    paths: list[str] = []
    _compare(old, new, path, paths)
    return paths


def _compare(old: Any, new: Any, path: str, paths: list[str]) -> None:
    if len(paths) >= _MOST_PATHS or old is new or old == new:
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for name in dict.fromkeys((*old, *new)):
            _compare(old.get(name), new.get(name), path_below(path, str(name)), paths)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for i, (before, after) in enumerate(zip(old, new, strict=True)):
            _compare(before, after, f"{path}[{i}]", paths)
    else:
        paths.append(path)


def path_below(path: str, name: str) -> str:
    """Return the path of a field, given the path of its owner."""
    if not name.isidentifier():
        return f"{path}[{name}]"
    return f"{path}.{name}" if path else name


# Updates of objects: the fields that the server owns, and the fields that differ.

SERVER_OWNED = (
    *("uid", "creationTimestamp", "generation", "resourceVersion", "deletionTimestamp"),
    *("deletionGracePeriodSeconds", "managedFields", "selfLink"),
)


def difference(old: Manifest, new: Manifest) -> list[str]:
    """Return the paths of changed fields, except those that the server owns."""
    return list_changed_paths(without_owned(old), without_owned(new))


def without_owned(manifest: Manifest) -> Manifest:
    """Return an object without the metadata that only the server writes."""
    meta = {name: value for name, value in manifest["metadata"].items() if name not in SERVER_OWNED}
    return {**manifest, "metadata": meta}


class Writing:
    """The stages of an object until it is stored, with the writer of each field.

    A new value under an absent field is recorded leaf by leaf, and an element that is added to a list as a whole.
    """

    def __init__(self, manifest: Manifest) -> None:
        self.manifest = manifest
        self.written: list[Manifest] = []

    def take(self, by: str, manifest: Manifest) -> Manifest:
        """Record the object that a stage returns, and return it."""
        if manifest is not self.manifest:
            found = _changes(self.manifest, manifest, "")
            self.written += ({"by": by, "path": path, "value": value} for path, value in found)
            self.manifest = manifest
        return manifest


def _changes(old: Any, new: Any, path: str) -> Iterator[tuple[str, Any]]:
    if old is new or old == new:
        return
    if isinstance(new, Mapping) and new and isinstance(old, Mapping | None):
        for name, value in new.items():
            yield from _changes((old or {}).get(name), value, path_below(path, str(name)))
        yield from ((path_below(path, str(name)), None) for name in old or () if name not in new)
    elif isinstance(new, list) and isinstance(old, list) and len(old) <= len(new):
        for number, value in enumerate(new):
            place = f"{path}[{number}]"
            if number < len(old):
                yield from _changes(old[number], value, place)
            else:
                yield place, value
    else:
        yield path, new
