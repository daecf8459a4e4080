"""The plan of an import: what would become of each object, as the screens show it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.imports.items import IGNORED, REFUSED, Item, Located, Plan, notes, source_of
from scheduler_core.apiserver.imports.missing import missing
from scheduler_core.apiserver.imports.trial import PASSED_OVER, Outcome, Trial, run_trial
from scheduler_core.apiserver.server import APIServer
from scheduler_core.apiserver.store import Store

# Pools of devices that an import leaves in a state which schedulers take ill: the API server accepts it, as kube's does.
#
# kube: dynamic-resource-allocation/structured/internal/experimental/pools_experimental.go @ v1.34.1

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
        said.append(f"{name} is invalid: device {twice} is there twice; whoever searches it ends with an error")
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


_REFERRED = {
    "namespaces": re.compile(r'namespaces "([^"]*)" not found').match,
    "priorityclasses": re.compile(r".*no PriorityClass with name (\S+) was found").match,
    "runtimeclasses": re.compile(r'.*RuntimeClass "([^"]*)" not found').match,
}


def plan_import(api: APIServer, sources: Sequence[Manifest | Located]) -> Plan:
    """Return the plan of an import, without importing. Sources are manifests or loaded texts."""
    read = [source_of(index, source) for index, source in enumerate(sources)]
    return build_plan(api, read, run_trial(api, [source.manifest for source in read]))


def build_plan(api: APIServer, sources: Sequence[Any], trial: Trial) -> Plan:
    """Return the plan of an import whose sources were tried."""
    items = tuple(_item(source, outcome) for source, outcome in zip(sources, trial.outcomes, strict=True))
    slices = [item.name for item in items if item.kind == SLICE and item.action != REFUSED]
    pools = pool_notes(trial.store, slices)
    accepted = [item.manifest for item in items if item.manifest and item.action not in (REFUSED, IGNORED)]
    said = (*_missing(trial.outcomes), *notes(api.store, items), *pools)
    return Plan(items, said, missing(trial.store, accepted))


def _missing(outcomes: Sequence[Outcome]) -> list[str]:
    """Return notes on the absent objects that refused objects refer to, and the command that gets them."""
    said = []
    for kind, pattern in _REFERRED.items():
        found = [pattern(outcome.answer.message) for outcome in outcomes if outcome.answer is not None]
        names = ", ".join(f'"{name}"' for name in sorted({match[1] for match in found if match}))
        if names:
            get = f"import them too, as kubectl get {kind} -o yaml prints them"
            said.append(f"not in the cluster, and not in this import: {kind} {names}; {get}")
    return said


def _item(source: Any, outcome: Outcome) -> Item:
    errors = outcome.errors
    if source.locate is not None:
        errors = tuple(error.at(source.locate(error.path)).in_file(source.file) for error in errors)
    return Item(
        outcome.action,
        outcome.kind,
        outcome.namespace,
        outcome.name,
        source.index,
        source.manifest if isinstance(source.manifest, dict) else {},
        outcome.changed,
        PASSED_OVER.get(outcome.kind, ""),
        errors,
    )
