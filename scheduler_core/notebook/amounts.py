"""Amounts as people read them."""

from __future__ import annotations

from collections.abc import Callable

Written = Callable[[int], str]
"""Writes an amount."""

_MEMORY = ("Ki", "Mi", "Gi", "Ti", "Pi")


def cpu(millis: int) -> str:
    """Cores of so many millis: 1.5."""
    return f"{millis / 1000:g}"


def memory(count: int) -> str:
    """Bytes in the largest unit that leaves at least one: 1.5Gi."""
    size, unit = float(count), ""
    for larger in _MEMORY:
        if abs(size) < 1024:
            break
        size, unit = size / 1024, larger
    return f"{size:.4g}{unit}"


def seconds(nanoseconds: int) -> str:
    """Virtual time: 0.012 s."""
    return f"{nanoseconds / 1e9:.3f}".rstrip("0").rstrip(".") + " s"


def format_count(count: int, one: str, more: str = "") -> str:
    """A number with its noun: 1 pod, 2 pods."""
    return f"{count:,} {one if count == 1 else more or one + 's'}"
