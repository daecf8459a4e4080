"""The Lease as a lock: a candidate's calls about it, and the last known version of the object.

An update has the last known resourceVersion, so that the API server refuses it if another client wrote meanwhile. There is no fencing: a
former leader may continue to act when another candidate has the lock.

kube: client-go/tools/leaderelection/resourcelock/leaselock.go @ v0.34.1
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.times import SECOND, format_micro_time, parse_time
from scheduler_core.apiserver import Refused, WatchEvent
from scheduler_core.apiserver.server import APIServer
from scheduler_core.base.state import Shared, State

# The election record in a Lease's spec: the holder, the time since when, and the duration.
# kube: client-go/tools/leaderelection/resourcelock/{interface,leaselock}.go @ v0.34.1

Json = Mapping[str, Any]
ZERO_TIME = "0001-01-01T00:00:00.000000Z"


@dataclass(frozen=True, slots=True)
class ElectionRecord:
    """Times in ns since 1970 by the writer's clock, or None. Without a holder there is no leader."""

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
        seconds = (None if time is None else time // SECOND for time in (self.acquired, self.renewed))
        return replace(self, acquired=next(seconds), renewed=next(seconds))


NO_RECORD = ElectionRecord()


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


class Verb(enum.StrEnum):
    GET = "get"
    CREATE = "create"
    UPDATE = "update"


class LeaseCall(msgspec.Struct, frozen=True):
    """One call about the Lease; `manifest` is the object to write."""

    verb: Verb
    namespace: str
    name: str
    manifest: Manifest | None = None


@dataclass(frozen=True, slots=True)
class LeaseAnswer:
    """The API server's answer: the current Lease, or kube's reason ("NotFound", "Conflict", else any error)."""

    lease: Manifest | None = None
    reason: str = ""
    message: str = ""

    @property
    def ok(self) -> bool:
        return not self.reason


@dataclass(slots=True, eq=False)
class LeaseLock(State):
    """One candidate's handle of the Lease. `lease` is the object that it last read or wrote."""

    namespace: str
    name: str
    identity: str
    lease: Shared[Manifest] | None = None

    @property
    def description(self) -> str:
        return f"{self.namespace}/{self.name}"

    def get(self) -> LeaseCall:
        return LeaseCall(Verb.GET, self.namespace, self.name)

    def create(self, record: ElectionRecord) -> LeaseCall:
        manifest = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": self.name, "namespace": self.namespace},
            "spec": spec_of(record),
        }
        return LeaseCall(Verb.CREATE, self.namespace, self.name, manifest)

    def update(self, record: ElectionRecord) -> LeaseCall | None:
        """Return the call that updates the Lease, or None if no Lease is known, which counts as a failure without a call."""
        if self.lease is None:
            return None
        manifest = {**self.lease, "spec": spec_of(record)}
        return LeaseCall(Verb.UPDATE, self.namespace, self.name, manifest)

    def hear(self, answer: LeaseAnswer, verb: Verb) -> None:
        """Store the Lease of the answer. After a failed creation, no Lease is known."""
        if answer.ok:
            self.lease = answer.lease
        elif verb is Verb.CREATE:
            self.lease = None


# Sending a candidate's call to the API server.

USER = "system:kube-scheduler"


def carry_out(api: APIServer, call: LeaseCall) -> LeaseAnswer:
    """Send the call to the API server. Return its answer; a refused call changes nothing."""
    try:
        if call.manifest is None:
            return LeaseAnswer(api.found(("Lease", call.namespace, call.name)))
        if call.verb is Verb.CREATE:
            return LeaseAnswer(api.create(call.manifest, USER))
        return LeaseAnswer(api.update(call.manifest, user=USER))
    except Refused as refused:
        return LeaseAnswer(reason=refused.answer.reason, message=refused.answer.message)
