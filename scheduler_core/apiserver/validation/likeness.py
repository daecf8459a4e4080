"""Whether two values are the same to the API server: absent, null and empty are, and quantities count, not their texts.

kube: apimachinery/pkg/api/equality/semantic.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.apimachinery.objects.quantity import BadQuantity, nanos

_AMOUNTS = ("requests", "limits", "overhead", "capacity", "hard", "podFixed", "allocatable")
_PLAIN_BOOLEANS = (
    "hostNetwork",
    "hostPID",
    "hostIPC",
    "stdin",
    "stdinOnce",
    "tty",
    "readOnly",
    "paused",
    "unschedulable",
)
_NOTHING: tuple[Any, ...] = (None, "", [], {}, ())


def alike(one: Any, other: Any) -> bool:
    """Return whether two parts of manifests are equal."""
    return one is other or one == other or plain(one) == plain(other)


def plain(value: Any, field: str = "") -> Any:
    """A value without what is empty, its quantities as numbers."""
    if isinstance(value, Mapping):
        items = {name: plain(inner, field if field in _AMOUNTS else name) for name, inner in value.items()}
        kept = {name: inner for name, inner in items.items() if not _is_nothing(name, inner)}
        return kept if field not in _AMOUNTS else {name: _amount(value[name]) for name in kept}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    return value


def _is_nothing(name: str, value: Any) -> bool:
    if isinstance(value, bool):
        return not value and name in _PLAIN_BOOLEANS
    return not isinstance(value, int | float) and value in _NOTHING


def _amount(quantity: Any) -> Any:
    try:
        return nanos(quantity)
    except (BadQuantity, TypeError):
        return quantity
