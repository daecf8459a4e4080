"""Calls that write objects for a pod: the changes that plugins make to resource claims.

The API server answers at once; the client's delay is added before (`Handle.held_up`).

kube: client-go/kubernetes/typed/resource/v1/resourceclaim.go, scheduler/util/utils.go (PatchPodStatus) @ v1.34.1
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from scheduler_core.apimachinery.dra.claims import FINALIZER, KIND
from scheduler_core.apimachinery.objects import Manifest, Pod
from scheduler_core.apiserver import DONE, Refused, get_kind_by_key, not_found
from scheduler_core.apiserver.faults import CLAIMS
from scheduler_core.base.trace.kinds import ApiCall
from scheduler_core.scheduler.core.calls import client
from scheduler_core.scheduler.core.world import Owner
from scheduler_core.scheduler.framework.claims import Reply

# The effect of a write on a resource claim, for the record of the call.

PROTECTED, UNPROTECTED = "protected", "unprotected"
ALLOCATED, DEALLOCATED = "allocated", "deallocated"
RESERVED, RELEASED = "reserved", "released"


class Effects(NamedTuple):
    """The effects of a call. `devices`: driver/pool/device of each allocated or deallocated device."""

    effects: list[str] | None = None
    devices: list[str] | None = None


NONE = Effects()


def effects_of(before: Manifest | None, after: Manifest | None) -> Effects:
    """Return the effects of replacing one claim version with another; NONE for objects of other kinds."""
    if before is None or after is None or after.get("kind") != KIND:
        return NONE
    had, has = _status(before), _status(after)
    effects = _protection(before, after)
    given, devices = has.get("allocation"), None
    if given is not None and had.get("allocation") is None:
        effects.append(ALLOCATED)
        devices = _devices(given)
    elif given is None and had.get("allocation") is not None:
        effects.append(DEALLOCATED)
        devices = _devices(had["allocation"])
    users, now = _users(had), _users(has)
    if now - users:
        effects.append(RESERVED)
    if users - now and DEALLOCATED not in effects:
        effects.append(RELEASED)
    return Effects(effects or None, devices or None)


def _status(claim: Manifest) -> Manifest:
    return claim.get("status") or {}


def _protection(before: Manifest, after: Manifest) -> list[str]:
    had = FINALIZER in (before["metadata"].get("finalizers") or ())
    has = FINALIZER in (after["metadata"].get("finalizers") or ())
    return [PROTECTED if has else UNPROTECTED] if had != has else []


def _users(status: Manifest) -> frozenset[str]:
    return frozenset(str(each.get("uid")) for each in status.get("reservedFor") or ())


def _devices(allocation: Manifest) -> list[str]:
    results = (allocation.get("devices") or {}).get("results") or ()
    return ["/".join(str(each.get(part) or "") for part in ("driver", "pool", "device")) for each in results]


_CONFLICT = "Conflict"


@dataclass(frozen=True, slots=True)
class PodObjectCalls:
    """kube's clientset, as a plugin uses it for one pod."""

    caller: Owner
    pod: Pod

    def read(self, kind: str, namespace: str, name: str) -> Reply:
        if self.caller.hang is not None:
            fault = client.fault_of(self.caller, CLAIMS, self.pod.key)
            assert fault is not None
            return Reply(error=fault.answer(get_kind_by_key(kind).resource, name).message)
        found = self.caller.world.store.get(kind, namespace, name)
        resource = get_kind_by_key(kind).resource
        return Reply(found) if found is not None else Reply(error=not_found(resource, name).message)

    def create(self, manifest: Manifest) -> Reply:
        metadata = manifest["metadata"]
        name = metadata.get("name") or metadata.get("generateName") or ""
        target = manifest["kind"], metadata["namespace"], name
        return self._call("CREATE", target, lambda: self.caller.world.api.create(manifest))

    def update(self, manifest: Manifest, subresource: str = "") -> Reply:
        metadata = manifest["metadata"]
        target = manifest["kind"], metadata["namespace"], metadata["name"]
        effects = effects_of(self.caller.world.store.get(*target), manifest)
        return self._call(
            "UPDATE", target, lambda: self.caller.world.api.update(manifest, subresource), subresource, effects
        )

    def change(self, kind: str, namespace: str, name: str, how: Callable[[Manifest], Manifest | None]) -> Reply:
        def carry_out() -> Manifest:
            stored = self.caller.world.api.found((kind, namespace, name))
            wanted = how(stored)
            return stored if wanted is None else self.caller.world.api.update(wanted, "status")

        stored = self.caller.world.store.get(kind, namespace, name)
        effects = effects_of(stored, None if stored is None else how(stored))
        return self._call("PATCH", (kind, namespace, name), carry_out, "status", effects)

    def delete(self, kind: str, namespace: str, name: str) -> Reply:
        target = kind, namespace, name
        return self._call("DELETE", target, lambda: self.caller.world.api.delete(target))

    def patch_pod_status(self, fields: Manifest) -> Reply:
        def carry_out() -> None:
            world = self.caller.world
            answer = world.store.patch_pod_status(self.pod.key, world.now, fields=fields)
            if not answer.ok:
                raise Refused.because(answer)

        return self._call("PATCH", ("Pod", self.pod.namespace, self.pod.name), carry_out, "status")

    def _call(
        self,
        verb: str,
        target: tuple[str, str, str],
        carry_out: Callable[[], Manifest | None],
        subresource: str = "",
        effects: Effects = NONE,
    ) -> Reply:
        kind, namespace, name = target
        fault = client.take_fault(self.caller, CLAIMS, self.pod.key)
        failure = DONE if fault is None else fault.answer(get_kind_by_key(kind).resource, name)
        answer, written = failure, None
        if failure.ok or (fault is not None and fault.after_write):
            try:
                written = carry_out()
            except Refused as refused:
                answer = refused.answer
        address = "/".join(part for part in (namespace, name, subresource) if part)
        call = ApiCall(
            verb,
            self.pod.key,
            kind=kind,
            object=address,
            effects=effects.effects,
            devices=effects.devices,
            fault=failure.message,
            error=answer.message if failure.ok else "",
        )
        self.caller.world.record(call, self.caller.name)
        if answer.ok:
            return Reply(written)
        return Reply(error=answer.message, conflict=answer.reason == _CONFLICT)
