"""Validation of ResourceSlices: driver and pool, location, and shared counters.

kube: pkg/apis/resource/validation/validation.go (validateResourceSliceSpec and what it calls) @ v1.34.1
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from scheduler_core.apimachinery.objects.demand import Amount
from scheduler_core.apimachinery.objects.errors import Errors, encode
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.validation.checks import IMMUTABLE, node_selector
from scheduler_core.apiserver.validation.devices import names
from scheduler_core.apiserver.validation.devices.device import counters, device
from scheduler_core.apiserver.validation.devices.names import each_once, quote_names

# Parts of objects as kube prints them in errors: its internal types as Go's JSON, each field by its Go name.
#
# internal.json was read once from the Go types: {type: [[Go's name, the manifest's name, expression]]}. An expression is a leaf
# (string, bool, int, quantity, time, any; inline: its fields are beside the others) or a type of the table, after [] for a list, {}
# for a map and * for a pointer to it.
# kube: pkg/apis/resource/types.go, pkg/apis/core/types.go @ v1.34.1

Table = Mapping[str, Sequence[tuple[str, str, str]]]
_NOTHING = {"string": "", "bool": False, "int": 0}


@cache
def _table() -> Table:
    text = Path(__file__).with_name("internal.json").read_text(encoding="utf-8")
    table: Table = json.loads(text)
    return table


def as_go_writes(value: Any, type_: str) -> str:
    """Return a part of a manifest as Go's JSON; `type_` is a type of the table, such as ResourceClaimSpec."""
    return encode(_convert_value(value, type_))


def _convert_value(value: Any, type_: str) -> Any:
    if type_.startswith("*"):
        return None if value is None else _convert_value(value, type_[1:])
    if type_.startswith("[]"):
        return None if value is None else [_convert_value(entry, type_[2:]) for entry in value]
    if type_.startswith("{}"):
        return None if value is None else {name: _convert_value(value[name], type_[2:]) for name in sorted(value)}
    if type_ in _table():
        given = value or {}
        written: dict[str, Any] = {}
        for name, field, inner in _table()[type_]:
            if inner == "inline":
                written.update(given.get(field) or {})
            else:
                written[name] = _convert_value(given.get(field), inner)
        return written
    if type_ == "quantity":
        return Amount.of(value or 0).text
    return _NOTHING.get(type_) if value is None else value


MOST_DEVICES = 128
MOST_COUNTERS_OF_DEVICES = 1024
MOST_SHARED_COUNTERS = 32
_PLACES = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
_UNSET_OR_TRUE = "must be either unset or set to true"


def slice_spec(manifest: Manifest, old: Manifest | None, of_pools: bool, errors: Errors) -> None:
    """Validate the spec of a slice, new or updated. `of_pools`: shared counters have separate slices, which others of the pool use."""
    spec, path = manifest.get("spec") or {}, "spec"
    names.driver(spec.get("driver"), f"{path}.driver", errors)
    _pool(spec.get("pool") or {}, f"{path}.pool", errors)
    if old is not None:
        _validate_immutable_fields(spec, old.get("spec") or {}, errors)
    _place(spec, errors)
    shared = spec.get("sharedCounters") or ()
    known = {str(each.get("name") or ""): frozenset(each.get("counters") or ()) for each in shared}
    per_device = bool(spec.get("perDeviceNodeSelection"))
    devices = spec.get("devices") or ()
    if of_pools and spec.get("sharedCounters") is not None and spec.get("devices") is not None:
        errors.invalid(path, "", "only one of `sharedCounters` or `devices` is allowed")
    sets = None if of_pools else known
    each_once(devices, MOST_DEVICES, device, "name", f"{path}.devices", errors, sets, per_device)
    _sizes(devices, shared, errors)
    each_once(shared, -1, _counter_set, "name", f"{path}.sharedCounters", errors)


def _pool(pool: Manifest, path: str, errors: Errors) -> None:
    names.pool(pool.get("name"), f"{path}.name", errors)
    count, generation = pool.get("resourceSliceCount") or 0, pool.get("generation") or 0
    errors.invalid(f"{path}.resourceSliceCount", count, "must be greater than zero", when=count <= 0)
    errors.invalid(f"{path}.generation", generation, "must be greater than or equal to zero", when=generation < 0)


def _validate_immutable_fields(spec: Manifest, before: Manifest, errors: Errors) -> None:
    """Validate that a slice's immutable fields are unchanged."""
    name, old = ((each.get("pool") or {}).get("name") or "" for each in (spec, before))
    errors.invalid("spec.pool.name", name, IMMUTABLE, when=name != old)
    if (spec.get("driver") or "") != (before.get("driver") or ""):
        errors.invalid("spec.driver", spec.get("driver") or "", IMMUTABLE)
    if spec.get("nodeName") != before.get("nodeName"):
        errors.invalid("spec.nodeName", spec.get("nodeName"), IMMUTABLE)


def _place(spec: Manifest, errors: Errors) -> None:
    """Validate the nodes that have the devices: exactly one field gives them."""
    path, said = "spec", []
    name = spec.get("nodeName")
    if name:
        said.append("nodeName")
        names.subdomain(name, f"{path}.nodeName", errors)
    elif name is not None:
        errors.invalid(f"{path}.nodeName", name, "must be either unset or set to a non-empty string")
    selector = spec.get("nodeSelector")
    if selector is not None:
        said.append("nodeSelector")
        node_selector(selector, f"{path}.nodeSelector", errors)
        terms = selector.get("nodeSelectorTerms")
        if len(terms or ()) != 1:
            detail = "must have exactly one node selector term"
            errors.invalid_text(
                f"{path}.nodeSelector.nodeSelectorTerms", as_go_writes(terms, "[]NodeSelectorTerm"), detail
            )
    for field in ("allNodes", "perDeviceNodeSelection"):
        if spec.get(field):
            said.append(field)
        elif spec.get(field) is not None:
            errors.invalid(f"{path}.{field}", False, _UNSET_OR_TRUE)
    if not said:
        errors.required(path, _PLACES)
    elif len(said) > 1:
        errors.invalid(path, quote_names(said), f"{_PLACES}, but multiple fields are set")


def _sizes(devices: Any, shared: Any, errors: Errors) -> None:
    used = sum(len(each.get("counters") or ()) for device in devices for each in device.get("consumesCounters") or ())
    if used > MOST_COUNTERS_OF_DEVICES:
        detail = f"the total number of counters in devices must not exceed {MOST_COUNTERS_OF_DEVICES}"
        errors.invalid("spec.devices", used, detail)
    there = sum(len(each.get("counters") or ()) for each in shared)
    if there > MOST_SHARED_COUNTERS:
        detail = f"the total number of shared counters must not exceed {MOST_SHARED_COUNTERS}"
        errors.invalid("spec.sharedCounters", there, detail)


def _counter_set(given: Manifest, path: str, errors: Errors) -> None:
    if given.get("name"):
        names.label(given["name"], f"{path}.name", errors)
    else:
        errors.required(f"{path}.name")
    counters(given, path, errors)
