"""The election record: what a Lease's spec says of who leads, since when, and until when it is to be believed.

kube: client-go/tools/leaderelection/resourcelock/{interface,leaselock}.go @ v0.34.1
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_core.apimachinery.objects.times import SECOND, format_micro_time, parse_time
from scheduler_core.apiserver.watch import WatchEvent

Json = Mapping[str, Any]
ZERO_TIME = "0001-01-01T00:00:00.000000Z"


@dataclass(frozen=True, slots=True)
class ElectionRecord:
    """Times in ns since 1970 by the clock of whoever wrote it; None where there is none. No holder: nobody leads."""

    holder: str = ""
    duration_seconds: int = 0
    acquired: int | None = None
    renewed: int | None = None
    transitions: int = 0
    strategy: str = ""
    preferred_holder: str = ""

    @property
    def by_the_second(self) -> ElectionRecord:
        """The record for comparing two readings: times in whole seconds, as metav1.Time is written."""
        return ElectionRecord(
            self.holder,
            self.duration_seconds,
            None if self.acquired is None else self.acquired // SECOND,
            None if self.renewed is None else self.renewed // SECOND,
            self.transitions,
            self.strategy,
            self.preferred_holder,
        )


def record_of(spec: Json) -> ElectionRecord:
    """Read an election record from a Lease's spec, as a candidate does."""
    return ElectionRecord(
        spec.get("holderIdentity") or "",
        int(spec.get("leaseDurationSeconds") or 0),
        _time(spec.get("acquireTime")),
        _time(spec.get("renewTime")),
        int(spec.get("leaseTransitions") or 0),
        spec.get("strategy") or "",
        spec.get("preferredHolder") or "",
    )


def spec_of(record: ElectionRecord) -> dict[str, Any]:
    """Return a Lease's complete spec as a candidate writes it."""
    spec: dict[str, Any] = {
        "holderIdentity": record.holder,
        "leaseDurationSeconds": record.duration_seconds,
        "acquireTime": _text(record.acquired),
        "renewTime": _text(record.renewed),
        "leaseTransitions": record.transitions,
    }
    if record.strategy:
        spec["strategy"] = record.strategy
    if record.preferred_holder:
        spec["preferredHolder"] = record.preferred_holder
    return spec


def is_renewal(event: WatchEvent) -> bool:
    """Return whether a Lease change only updates its renewTime."""
    if event.kind != "Lease" or event.old is None or event.new is None:
        return False
    old, new = event.old.get("spec") or {}, event.new.get("spec") or {}
    return {**old, "renewTime": ""} == {**new, "renewTime": ""}


def _time(text: str | None) -> int | None:
    return parse_time(text) if text and text != ZERO_TIME else None


def _text(time: int | None) -> str:
    return ZERO_TIME if time is None else format_micro_time(time)
