"""Parts of objects as kube prints them in errors: its own types written as JSON by Go, every field by its Go name.

internal.json was read once from the Go types: {type: [[Go's name, the manifest's name, expression]]}. An expression is a leaf (string,
bool, int, quantity, time, any; inline: its fields stand beside the others) or a type of the table, after [] for a list, {} for a map and *
for a pointer to it.

kube: pkg/apis/resource/types.go, pkg/apis/core/types.go @ v1.34.1
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from scheduler_core.apimachinery.objects.demand import Amount
from scheduler_core.apiserver.validation.devices.lists import format_json

Table = Mapping[str, Sequence[tuple[str, str, str]]]
_NOTHING = {"string": "", "bool": False, "int": 0}


@cache
def _table() -> Table:
    text = Path(__file__).with_name("internal.json").read_text(encoding="utf-8")
    table: Table = json.loads(text)
    return table


def as_go_writes(value: Any, type_: str) -> str:
    """A part of a manifest of a type of the table, such as ResourceClaimSpec."""
    return format_json(_convert_value(value, type_))


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
