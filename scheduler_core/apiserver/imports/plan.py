"""The plan of an import: the outcome for each object, as the screens show it."""

import re
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.names import read_words
from scheduler_core.apimachinery.objects.storage.volumes import BIND_COMPLETED
from scheduler_core.apimachinery.objects.times import SECOND, format_time, parse_time
from scheduler_core.apiserver.imports.credentials import without_credentials
from scheduler_core.apiserver.imports.items import (
    IGNORED,
    REFUSED,
    Item,
    LocatedManifest,
    Plan,
    missing,
    notes,
    source_of,
)
from scheduler_core.apiserver.imports.renaming import rename_manifests
from scheduler_core.apiserver.imports.trial import PASSED_OVER, Outcome, Trial, run_trial
from scheduler_core.apiserver.server import APIServer
from scheduler_core.apiserver.store import Store
from scheduler_core.base.steps import finish

# Facts that an import derives from its objects: the order of their creation, as kubectl prints by name, and the nodes without
# working kubelets.

_NEW = "~"  # after every time: an object without one is created now


def in_creation_order(manifests: Iterable[Any]) -> list[Any]:
    """Sort by creationTimestamp; objects of the same second, or without a timestamp, keep their order."""
    return sorted(manifests, key=get_creation_time)


def get_creation_time(manifest: Any) -> str:
    """Return the creation time of an object as a sortable text; objects without a time sort last."""
    meta = manifest.get("metadata") if isinstance(manifest, Mapping) else None
    created = meta.get("creationTimestamp") if isinstance(meta, Mapping) else None
    return created if isinstance(created, str) and created else _NEW


def list_silent_nodes(manifests: Iterable[Any]) -> tuple[str, ...]:
    """Return the nodes that report NotReady or that the control plane has lost: their kubelets do nothing."""
    return tuple(
        str(manifest["metadata"]["name"])
        for manifest in manifests
        if manifest.get("kind") == "Node"
        and any(
            condition.get("type") == "Ready" and condition.get("status") != "True"
            for condition in (manifest.get("status") or {}).get("conditions") or ()
            if condition is not None
        )
    )


# A snapshot's times on a world's clock: the moment of the snapshot becomes the world's present, so that ages stay unchanged.
# The clock of a world without objects of its own is set to that moment; elsewhere, the snapshot's times are moved.
#
# Otherwise, pods that the world creates would look older than imported ones, and preemption prefers victims that started last.

_TIMES = frozenset(
    read_words("""
    acquireTime completionTime creationTimestamp deletionTimestamp finishedAt lastHeartbeatTime lastProbeTime
    lastScheduleTime lastSuccessfulTime lastTransitionTime lastUpdateTime renewTime startTime startedAt timeAdded
""")
)
_AHEAD = frozenset(("deletionTimestamp",))  # times in the future
_SPECS = ("Node", "Lease")  # kinds with times in the spec
_MAPPING = (dict, Mapping)  # isinstance is fastest for dict
_NESTING = (*_MAPPING, list)


def moving(store: Store, now: int, manifests: Sequence[Any]) -> Generator[int, None, tuple[list[Any], int, str]]:
    """Move objects in time to a world's clock. Return them, the shift in ns, and the new time of the clock ("": unchanged).

    Change nothing if the objects are no snapshot, or are from this world. Yield the number of objects processed so far, including one
    earlier pass of the caller.
    """
    snapshot = [each for each in manifests if _is_taken(each)]
    if not snapshot or any(store.by_uid(_uid(each)) for each in snapshot if _uid(each)):
        return list(manifests), 0, ""
    texts: dict[str, None] = {}
    for number, each in enumerate(snapshot, len(manifests)):
        _collect_all(each, texts)
        yield number
    latest = max((time for text in texts if (time := _time(text)) is not None), default=None)
    if latest is None or latest == store.epoch + now:
        return list(manifests), 0, ""
    if store.is_new and not store.calendar:
        return list(manifests), 0, format_time(latest)
    shift = store.epoch + now - latest
    moved = []
    for number, each in enumerate(move_times(manifests, shift), 2 * len(manifests)):
        moved.append(each)
        yield number
    return moved, shift, ""


def move_times(manifests: Iterable[Any], shift: int) -> Iterator[Any]:
    """Yield the objects; the times of those from a cluster are moved by `shift` ns."""
    times = _MovedTimes(shift)
    return (_shift_manifest(each, times) if _is_taken(each) else each for each in manifests)


def _uid(manifest: Any) -> str:
    meta = manifest.get("metadata") if isinstance(manifest, Mapping) else None
    uid = meta.get("uid") if isinstance(meta, Mapping) else None
    return uid if isinstance(uid, str) else ""


def _is_taken(manifest: Any) -> bool:
    """Return whether an object comes from a cluster. A dump may have lost its uids, but still has times."""
    found: dict[str, None] = {}
    if not _uid(manifest) and isinstance(manifest, Mapping) and isinstance(manifest.get("metadata"), Mapping):
        _collect_all(manifest, found)
    return bool(_uid(manifest) or found)


def _collect_all(manifest: Manifest, texts: dict[str, None]) -> None:
    """Add the past times of an object."""
    for part in _parts(manifest):
        _collect(manifest.get(part), texts)
    meta = manifest.get("metadata") or {}
    ends, grace = meta.get("deletionTimestamp"), meta.get("deletionGracePeriodSeconds")
    if isinstance(ends, str) and isinstance(grace, int) and (time := _time(ends)) is not None:
        texts[format_time(time - grace * SECOND)] = None  # the time of the DELETE request


def _collect(value: Any, texts: dict[str, None]) -> None:
    if isinstance(value, _MAPPING):
        for name, entry in value.items():
            if isinstance(entry, str):
                if name in _TIMES and name not in _AHEAD:
                    texts[entry] = None
            elif isinstance(entry, _NESTING):
                _collect(entry, texts)
    elif isinstance(value, list):
        for entry in value:
            if isinstance(entry, _NESTING):
                _collect(entry, texts)


def _parts(manifest: Manifest) -> tuple[str, ...]:
    specs = manifest.get("kind") in _SPECS
    return ("metadata", "status", "spec") if specs else ("metadata", "status")


class _MovedTimes(dict[str, str | None]):
    """Times as text, by their text before they were moved; None if a text is no time."""

    def __init__(self, shift: int) -> None:
        super().__init__()
        self._shift = shift

    def __missing__(self, text: str) -> str | None:
        time = _time(text)
        self[text] = moved = None if time is None else format_time(time + self._shift)
        return moved


def _shift_manifest(manifest: Manifest, times: _MovedTimes) -> Manifest:
    parts = {part: _shift_value(manifest[part], times) for part in _parts(manifest) if part in manifest}
    return {**manifest, **parts}


def _shift_value(value: Any, times: _MovedTimes) -> Any:
    """Return the value with its times moved, or the same object if it contains no times."""
    if isinstance(value, _MAPPING):
        new: dict[str, Any] = {}
        for name, entry in value.items():
            if isinstance(entry, str):
                moved = times[entry] if name in _TIMES else None
            else:
                moved = _shift_value(entry, times) if isinstance(entry, _NESTING) else None
            if moved is not None and moved is not entry:
                new[name] = moved
        return {**value, **new} if new else value
    if isinstance(value, list):
        entries = [_shift_value(entry, times) if isinstance(entry, _NESTING) else entry for entry in value]
        return entries if any(new is not old for new, old in zip(entries, value, strict=True)) else value
    return value


def _time(text: str) -> int | None:
    try:
        return parse_time(text)
    except ValueError:
        return None


# Preparation of a text's objects: credentials are removed, names are changed on request, and the times
# of a snapshot are moved to the world's clock.

SOME = 100  # objects per slice, after which other work may run


@dataclass(frozen=True, slots=True)
class Intake:
    """The objects in order. `left_out` counts credentials by sort, `shift` is in ns; `taken`: see ApplyObjects.

    After renaming, `names` are the old and the new names, and None replaces the `unneeded` objects without influence on decisions.
    """

    objects: list[Any]
    left_out: Counter[str] = field(default_factory=Counter)
    shift: int = 0
    taken: str = ""
    names: list[tuple[str, str]] = field(default_factory=list)
    unneeded: int = 0


def take_in(store: Store, now: int, manifests: Sequence[Any], rename: bool = False) -> Intake:
    """Return objects in a form that may be stored: without credentials, renamed on request, and moved in time."""
    return finish(taking_in(store, now, manifests, rename))


def taking_in(store: Store, now: int, manifests: Sequence[Any], rename: bool = False) -> Generator[int, None, Intake]:
    """Take in some objects at a time, as take_in does. Yield the number of objects processed; each is processed three times."""
    left_out: Counter[str] = Counter()
    cleaned: list[Any] = []
    for start in range(0, len(manifests), SOME):
        cleaned += without_credentials(manifests[start : start + SOME], left_out)
        yield len(cleaned)
    names: list[tuple[str, str]] = []
    unneeded = 0
    if rename:
        others = rename_manifests(cleaned)
        cleaned, names, unneeded = others.objects, others.names, others.left_out
    cleaned = [_complete_claim(each) for each in cleaned]
    objects, shift, taken = yield from moving(store, now, cleaned)
    return Intake(objects, left_out, shift, taken, names, unneeded)


def _complete_claim(manifest: Any) -> Any:
    """Return a bound claim with the annotations of binding, which a dump may have lost; return other objects unchanged."""
    if not isinstance(manifest, Mapping) or manifest.get("kind") != "PersistentVolumeClaim":
        return manifest
    parts: list[Any] = [manifest.get(part) for part in ("spec", "status", "metadata")]
    if not all(isinstance(part, Mapping) for part in parts):
        return manifest
    spec, status, meta = parts
    given = meta.get("annotations") or {}
    if status.get("phase") != "Bound" or "volumeName" not in spec or not isinstance(given, Mapping):
        return manifest
    return {**manifest, "metadata": {**meta, "annotations": {BIND_COMPLETED: "yes", **given}}}


# Notes on pools of devices that cause errors in schedulers: the API server accepts them, as kube's does.
# kube: dynamic-resource-allocation/structured/internal/experimental/pools_experimental.go @ v1.34.1

SLICE = "ResourceSlice"
_Pool = tuple[str, str]


def pool_notes(store: Store, slices: Iterable[str]) -> list[str]:
    """Return notes on the pools of these slices, as they are in the store; `slices` are names."""
    wanted = dict.fromkeys(slices)
    by_pool: dict[_Pool, list[Manifest]] = {}
    touched: dict[_Pool, None] = {}
    for manifest in store.list(SLICE) if wanted else ():
        spec = manifest.get("spec") or {}
        pool = str(spec.get("driver") or ""), str((spec.get("pool") or {}).get("name") or "")
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
            f"{'has' if len(older) == 1 else 'have'} no effect"
        )
    wanted = int(current[0]["spec"]["pool"].get("resourceSliceCount") or 0)
    if len(current) != wanted:
        said.append(
            f"{name} is incomplete: {len(current)} of {wanted} slices of generation {newest} exist. Until all "
            "exist, claims for all devices end with an error"
        )
    if twice := _twice(current):
        said.append(f"{name} is invalid: device {twice} exists twice. Searches of this pool end with an error")
    return said


def _twice(slices: list[Manifest]) -> str:
    """Return the first device name that a pool contains twice, or ""."""
    seen: dict[str, None] = {}
    for manifest in slices:
        for device in manifest["spec"].get("devices") or ():
            name = str(device.get("name"))
            if name in seen:
                return name
            seen[name] = None
    return ""


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


def plan_import(api: APIServer, sources: Sequence[Manifest | LocatedManifest]) -> Plan:
    """Return the plan of an import, without importing. Sources are manifests or loaded texts."""
    read = [source_of(index, source) for index, source in enumerate(sources)]
    return build_plan(api, read, run_trial(api, [source.manifest for source in read]))


def build_plan(api: APIServer, sources: Sequence[Any], trial: Trial) -> Plan:
    """Return the plan of an import, from its trial."""
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
            get = f"import the output of kubectl get {kind} -o yaml, too"
            said.append(f"not in the cluster, and not in this import: {kind} {names}; {get}")
    return said


def _item(source: Any, outcome: Outcome) -> Item:
    errors = outcome.errors
    if source.locate is not None:
        errors = tuple(error.at(source.locate(error.path)).in_file(source.file) for error in errors)
    manifest = source.manifest if isinstance(source.manifest, dict) else {}
    about, why = (outcome.action, outcome.kind, outcome.namespace, outcome.name), PASSED_OVER.get(outcome.kind, "")
    return Item(*about, source.index, manifest, outcome.changed, why, errors)
