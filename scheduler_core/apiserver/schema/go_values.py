"""JSON values in the formats of Go's fmt, which some of kube's messages use."""

from collections.abc import Mapping
from typing import Any

from scheduler_core.apimachinery.objects.errors import encode


def go_map(value: Any) -> str:
    """Return a value in the format of Go's %v: maps sorted by key."""
    if isinstance(value, Mapping):
        return f"map[{' '.join(f'{name}:{go_map(value[name])}' for name in sorted(value))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(go_map, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    return "<nil>" if value is None else str(value)


def go_syntax(value: Any) -> str:
    """Return a value in the format of Go's %#v."""
    if isinstance(value, Mapping):
        return f"{go_type(value)}{{{', '.join(f'{encode(name)}:{go_syntax(value[name])}' for name in sorted(value))}}}"
    if isinstance(value, list):
        return f"{go_type(value)}{{{', '.join(map(go_syntax, value))}}}"
    return "interface {}(nil)" if value is None else encode(value)


def go_type(value: Any) -> str:
    """Return the type of a JSON value in the format of Go's %T."""
    names = {bool: "bool", str: "string", list: "[]interface {}", int: "int64", float: "float64"}
    return names.get(type(value), "map[string]interface {}")
