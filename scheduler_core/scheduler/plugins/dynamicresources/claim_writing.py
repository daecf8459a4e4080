"""Writes of claims: allocation and reservation in PreBind, deallocation, and the deletion of a claim for extended resources.

A conflict leads to a new read and another try, five tries in all. In PreBind a try follows after 10 ms; elsewhere, where a pause would
block the scheduling cycle, it follows at once (DEVIATION; kube also adds up to a tenth of jitter).

kube: plugins/dynamicresources/dynamicresources.go (bindClaim, deleteClaim, Unreserve), client-go/util/retry (DefaultRetry) @ v1.34.1
"""

from typing import Any

from scheduler_core.apimachinery.dra.claims import FINALIZER, KIND
from scheduler_core.apimachinery.objects import Manifest, Pod
from scheduler_core.scheduler.framework.claims import ObjectCalls, Reply
from scheduler_core.scheduler.plugins.dynamicresources.pod_claims import allocation_of, key_of, uid_of, with_status

TRIES = 5
PAUSE = 10_000_000


def bind(
    calls: ObjectCalls, pod: Pod, claim: Manifest, allocation: Manifest | None, timestamp: str, again: bool
) -> Reply:
    """Try once to write the allocation, unless it is None, and the reservation. `again`: read the claim first.

    `timestamp`: the allocation's time if it has none yet; "" leaves the time unset.
    """
    if again:
        read = calls.read(KIND, claim["metadata"]["namespace"], claim["metadata"]["name"])
        if read.manifest is None:
            return Reply(error=f"get updated claim {key_of(claim)} after conflict: {read.error}")
        claim = read.manifest
    if claim["metadata"].get("deletionTimestamp"):
        return Reply(error=f"claim {key_of(claim)} got deleted in the meantime")
    if allocation is not None:
        if allocation_of(claim) is not None:
            return Reply(error=f"claim {key_of(claim)} got allocated elsewhere in the meantime")
        protected = _with_finalizer(calls, claim)
        if protected.manifest is None:
            return protected
        claim = protected.manifest
    given = dict(allocation if allocation is not None else allocation_of(claim) or {})
    if timestamp and not given.get("allocationTimestamp"):
        given["allocationTimestamp"] = timestamp
    consumer = {"resource": "pods", "name": pod.name, "uid": pod.uid}
    consumers = [*((claim.get("status") or {}).get("reservedFor") or ()), consumer]
    written = calls.update(with_status(claim, allocation=given, reservedFor=consumers), "status")
    if written.manifest is not None:
        return written
    what = "allocation and reservation" if allocation is not None else "reservation"
    return Reply(error=f"add {what} to claim {key_of(claim)}: {written.error}", conflict=written.conflict)


def _with_finalizer(calls: ObjectCalls, claim: Manifest) -> Reply:
    finalizers = list(claim["metadata"].get("finalizers") or ())
    if FINALIZER in finalizers:
        return Reply(claim)
    written = calls.update(_with_finalizers(claim, [*finalizers, FINALIZER]))
    if written.manifest is not None:
        return written
    return Reply(error=f"add finalizer to claim {key_of(claim)}: {written.error}", conflict=written.conflict)


def _with_finalizers(claim: Manifest, finalizers: list[Any]) -> Manifest:
    metadata = {name: value for name, value in claim["metadata"].items() if name != "finalizers"}
    if finalizers:
        metadata["finalizers"] = finalizers
    return {**claim, "metadata": metadata}


def deallocate(calls: ObjectCalls, claim: Manifest) -> Reply:
    """Remove the allocation, the reservations, and the drivers' reports from the claim's status."""
    return calls.update(with_status(claim, allocation=None, reservedFor=None, devices=None), "status")


def release(calls: ObjectCalls, claim: Manifest, pod: Pod) -> None:
    """Remove the pod's reservation. If the write fails, the reservation remains until the next attempt to schedule the pod."""

    def without_pod(stored: Manifest) -> Manifest | None:
        if uid_of(stored) != uid_of(claim):
            return None
        consumers = (stored.get("status") or {}).get("reservedFor") or ()
        left = [consumer for consumer in consumers if consumer.get("uid") != pod.uid]
        return with_status(stored, reservedFor=left or None)

    calls.change(KIND, claim["metadata"]["namespace"], claim["metadata"]["name"], without_pod)


def delete(calls: ObjectCalls, claim: Manifest) -> str:
    """Remove a claim's finalizer, then delete the claim. Return the error, or ""."""
    namespace, name = claim["metadata"]["namespace"], claim["metadata"]["name"]
    for attempt in range(TRIES):
        if attempt:
            read = calls.read(KIND, namespace, name)
            if read.manifest is None:
                return f"get resourceclaim {key_of(claim)}: {read.error}"
            claim = read.manifest
        finalizers = [each for each in claim["metadata"].get("finalizers") or () if each != FINALIZER]
        written = calls.update(_with_finalizers(claim, finalizers))
        if written.manifest is not None:
            return calls.delete(KIND, namespace, name).error
        if not written.conflict:
            break
    return f"update resourceclaim {key_of(claim)}: {written.error}"
