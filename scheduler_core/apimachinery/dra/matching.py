"""Which devices an expression selects, remembered per device."""

from __future__ import annotations

from typing import Any, Protocol

from scheduler_core.apimachinery.dra.slices import Device


class Selectors(Protocol):
    """The search's questions about devices."""

    def matches(self, expression: str, device: Device) -> bool:
        """Return whether the expression selects the device. Raise SelectorError if evaluation fails."""
        ...

    def values(self, expression: str, device: Device) -> list[dict[str, Any]]:
        """The values of the expression's parts at the device, JSON-safe, for those who look on."""
        ...
