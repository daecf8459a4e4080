"""Fields whose feature gate is off: they are dropped, unless the object already had such a field.

releases.json lists the fields of each kind: the release that introduced the gate ("": the oldest), the gates that must all be on (a
release: a gate that cannot be set, and is on from then; "": a gate that is always off), and the paths; "*" stands for all entries of a
list or a map, "|" for alternatives. `gated` lists fields of a pod's spec that are dropped before any other step: the release from which
on their gate is on ("": in none), the gate, and the paths.

DEVIATION: status.declaredFeatures of nodes stays in 1.35, where kube drops it: kubelets report it again after an upgrade.

kube: pkg/registry/*/strategy.go (dropDisabledFields), pkg/api/pod/util.go @ v1.34.1, v1.35.4, v1.36.3, v1.37.2
"""

import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from scheduler_core.apimachinery.objects import CONTAINER_LISTS, Manifest
from scheduler_core.apiserver.kinds import POD_SPECS
from scheduler_core.apiserver.registry.devices.defaults import DeviceGates
from scheduler_core.apiserver.rewriting import rewrite, without
from scheduler_core.base.releases import OLDEST, Release, has_reached, rules_of

TABLE: Mapping[str, Any] = json.loads(Path(__file__).parents[1].joinpath("releases.json").read_text(encoding="utf-8"))
_KEPT = "distinctAttribute"  # kube 1.34 drops it from a copy
# Kinds that contain the spec of another kind: that kind, and the path of the spec.
_WITHIN: Mapping[str, tuple[str, str]] = {
    "ResourceClaimTemplate": ("ResourceClaim", "spec.spec"),
    **{kind: ("Pod", path) for kind, path in POD_SPECS.items() if kind != "Pod"},
}

Row = tuple[str, tuple[str, ...], tuple[tuple[str, ...], ...]]


@cache
def _list_rows(kind: str, release: Release) -> tuple[Row, ...]:
    """Return since, gates, and paths of each row of a kind in a release."""
    like, spec = _WITHIN.get(kind, ("", ""))
    inner = [
        [since, gates, " ".join(f"{spec}{path[4:]}" for path in paths.split() if path.startswith("spec."))]
        for since, gates, paths in TABLE["fields"].get(like, ())
        if since or like != "Pod"
    ]
    return tuple(
        (since, tuple(gates.split()), tuple(each for path in paths.split() for each in _expand(path)))
        for since, gates, paths in (*TABLE["fields"].get(kind, ()), *inner)
        if paths and has_reached(release, since or OLDEST)
    )


def _expand(path: str) -> Iterable[tuple[str, ...]]:
    return itertools.product(*(name.split("|") for name in path.split(".")))


def without_disabled(
    kind: str, new: Manifest, old: Manifest | None, gates: DeviceGates, restored: bool = False
) -> Manifest:
    """Return the new object without the fields of gates that are off, changing nothing in place.

    `restored`: another cluster admitted the object, with its own gates, so fields of newer releases stay.
    """
    for since, names, paths in _list_rows(kind, gates.release):
        if (names and all(_is_on(name, gates) for name in names)) or (restored and since):
            continue
        if any(_uses(new, path) for path in paths) and not any(_uses(old, path) for path in paths):
            for *owner, field in paths:
                if field != _KEPT or "distinct-attribute-dropped" in rules_of(gates.release):
                    new = _drop(new, owner, field)
    return new


def _is_on(gate: str, gates: DeviceGates) -> bool:
    return has_reached(gates.release, gate) if gate[0].isdigit() else bool(getattr(gates, gate))


def _uses(value: Any, path: Sequence[str]) -> bool:
    if not path or value is None:
        return value not in (None, [])
    if path[0] == "*":
        return any(_uses(each, path[1:]) for each in (value.values() if isinstance(value, Mapping) else value))
    return _uses(value.get(path[0]), path[1:])


def _drop(manifest: Manifest, owner: Sequence[str], field: str) -> Manifest:
    dropped: Manifest = rewrite(manifest, owner, lambda value: without(value, field) if field in value else value)
    return dropped


# Fields of the spec of a pod or pod template whose gates are off by default. Newer releases turned most of them on.

_Fields = dict[str, Any]  # by name, the fields below to drop; {} for a field to drop itself
_GO_EMPTY = ("lifecycle",)  # kube drops these together with the last field in them


@cache
def _list_gated(release: Release) -> _Fields:
    tree: _Fields = {}
    off = [paths for since, _, paths in TABLE["gated"] if not since or not has_reached(release, since)]
    for path in " ".join(off).split():
        for names in _expand(path):
            below = tree
            for name in names:
                below = below.setdefault(name, {})
    return tree


def without_gated(kind: str, manifest: Manifest, release: Release) -> Manifest:
    """Return a pod, or an object with a pod template, without these fields; unchanged if it has none of them."""
    if kind not in POD_SPECS:
        return manifest
    left: Manifest = rewrite(manifest, POD_SPECS[kind].split("."), lambda spec: _without_gated_spec(spec, release))
    return left


def _without_gated_spec(spec: Any, release: Release) -> Any:
    spec = _prune(spec, _list_gated(release))
    rules = rules_of(release)
    if "restart-policies" not in rules:  # only sidecars have a policy of their own
        spec = rewrite(
            spec,
            ("initContainers", "*"),
            lambda each: each if each.get("restartPolicy", "Always") == "Always" else without(each, "restartPolicy"),
        )
    if "image-volumes-kept" in rules:
        return spec
    # A volume of an image is dropped as a whole, together with its mounts.
    images = [each.get("name") for each in spec.get("volumes") or () if each.get("image") is not None]
    if not images:
        return spec
    spec = {**spec, "volumes": [each for each in spec["volumes"] if each.get("image") is None]}
    for field in CONTAINER_LISTS:
        path = (field, "*", "volumeMounts")
        spec = rewrite(spec, path, lambda mounts: [each for each in mounts if each.get("name") not in images])
    return spec


def _prune(value: Any, gone: _Fields) -> Any:
    """Return a value without some fields; the same value if it has none of them."""
    if not value:
        return value
    if not isinstance(value, Mapping):
        entries = [_prune(each, gone["*"]) for each in value]
        return value if all(new is each for new, each in zip(entries, value, strict=True)) else entries
    left = value
    for name, below in gone.items():
        if name in value:
            inner = _prune(value[name], below) if below else None
            if inner is value[name] and inner is not None:
                continue
            emptied = inner is None or (not inner and name in _GO_EMPTY)
            left = without(left, name) if emptied else {**left, name: inner}
    return left
