"""The Lease as a lock: the calls that a candidate makes about it, and what it last knew of the object.

An update carries the resourceVersion that was last read or written, so that the API server refuses it where somebody
else wrote meanwhile. Nothing fences a leader: who held the lock may go on acting when another has it.

kube: client-go/tools/leaderelection/resourcelock/leaselock.go @ v0.34.1
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

import msgspec

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.base.state import Shared, State
from scheduler_core.scheduler.leaderelection.record import ElectionRecord, spec_of


class Verb(enum.StrEnum):
    GET = "get"
    CREATE = "create"
    UPDATE = "update"


class LeaseCall(msgspec.Struct, frozen=True):
    """One call about the Lease; `manifest` is what is written."""

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


class LeaseLock(State):
    """One candidate's handle on the Lease. `lease` is the object as it last read or wrote it."""

    __slots__ = ("identity", "lease", "name", "namespace")

    namespace: str
    name: str
    identity: str
    lease: Shared[Manifest] | None

    def __init__(self, namespace: str, name: str, identity: str) -> None:
        self.namespace = namespace
        self.name = name
        self.identity = identity
        self.lease = None

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
        """None where there is no Lease that it knows, which fails without a call."""
        if self.lease is None:
            return None
        manifest = {**self.lease, "spec": spec_of(record)}
        return LeaseCall(Verb.UPDATE, self.namespace, self.name, manifest)

    def hear(self, answer: LeaseAnswer, verb: Verb) -> None:
        """Keeps the Lease that came back. One that could not be created is no longer known."""
        if answer.ok:
            self.lease = answer.lease
        elif verb is Verb.CREATE:
            self.lease = None
