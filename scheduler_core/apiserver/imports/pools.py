"""Pools of devices that an import leaves in a state which schedulers take ill: the API server accepts it, as kube's does.

kube: dynamic-resource-allocation/structured/internal/experimental/pools_experimental.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Iterable

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.store import Store

SLICE = "ResourceSlice"
_Pool = tuple[str, str]


def pool_notes(store: Store, slices: Iterable[str]) -> list[str]:
    """Return notes on the pools of these slices, as they are in the store; `slices` are names."""
    wanted = dict.fromkeys(slices)
    by_pool: dict[_Pool, list[Manifest]] = {}
    touched: dict[_Pool, None] = {}
    for manifest in store.list(SLICE) if wanted else ():
        pool = _pool_of(manifest)
        by_pool.setdefault(pool, []).append(manifest)
        if manifest["metadata"]["name"] in wanted:
            touched[pool] = None
    return [text for pool in sorted(touched) for text in _notes(pool, by_pool[pool])]


def _notes(pool: _Pool, slices: list[Manifest]) -> list[str]:
    name = f"pool {pool[0]}/{pool[1]}"
    newest = max(_generation(each) for each in slices)
    current = [each for each in slices if _generation(each) == newest]
    said = []
    if older := [each["metadata"]["name"] for each in slices if _generation(each) < newest]:
        said.append(
            f"{name}: generation {newest} is the newest, so {_some(older)} of older generations "
            f"{'counts' if len(older) == 1 else 'count'} for nothing"
        )
    wanted = int(current[0]["spec"]["pool"].get("resourceSliceCount") or 0)
    if len(current) != wanted:
        said.append(
            f"{name} is incomplete: {len(current)} of {wanted} slices of generation {newest} are there; claims for all "
            "devices are an error as long as that is so"
        )
    if twice := _twice(current):
        said.append(
            f"{name} is invalid: device {twice} is there twice; whoever searches it ends with an error"
        )
    return said


def _twice(slices: list[Manifest]) -> str:
    """The first device name that a pool has twice; "" where it has none."""
    seen: dict[str, None] = {}
    for manifest in slices:
        for device in manifest["spec"].get("devices") or ():
            name = str(device.get("name"))
            if name in seen:
                return name
            seen[name] = None
    return ""


def _pool_of(manifest: Manifest) -> _Pool:
    spec = manifest.get("spec") or {}
    return str(spec.get("driver") or ""), str((spec.get("pool") or {}).get("name") or "")


def _generation(manifest: Manifest) -> int:
    return int(((manifest.get("spec") or {}).get("pool") or {}).get("generation") or 0)


def _some(names: list[str]) -> str:
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"{names[0]}{more}"
