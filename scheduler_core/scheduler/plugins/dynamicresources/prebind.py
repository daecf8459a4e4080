"""PreBind: write the claims one after the other, then wait for the drivers.

```
 index 0 ─> held back by the client? ─> [create] ─> write ─conflict─> 10 ms ─> read, write ... (5 tries)
            └─> extended: the pod's status, then once a second: has the informer received the claim? (120 s)
 index 1 ─> ...
 all written ─> once every 5 s: do all devices report their binding conditions? (600 s)
```

kube: plugins/dynamicresources/dynamicresources.go (PreBind, bindClaim, isPodReadyForBinding) @ v1.34.1
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from scheduler_core.apimachinery.objects import Manifest, Pod
from scheduler_core.apimachinery.objects.times import SECOND, format_time, parse_time
from scheduler_core.base.releases import Behavior
from scheduler_core.scheduler.framework import Code, CycleState, Status, error
from scheduler_core.scheduler.framework.plugin import CallResult, Handle
from scheduler_core.scheduler.plugins.dynamicresources import claim_writing
from scheduler_core.scheduler.plugins.dynamicresources.extended_resources import is_in_memory, request_mappings
from scheduler_core.scheduler.plugins.dynamicresources.filtering import with_requests
from scheduler_core.scheduler.plugins.dynamicresources.pod_claims import allocation_of, is_reserved_for, key_of, uid_of
from scheduler_core.scheduler.plugins.dynamicresources.state import Facts, NodeAllocation, Progress

# Binding conditions: conditions that a device's driver must report before a pod may be bound.
# kube: plugins/dynamicresources/dynamicresources.go (isClaimReadyForBinding, isClaimTimeout) @ v1.34.1

TIMEOUT = 600 * SECOND


class BindingFailed(Exception):
    """Error of a device that can't be bound; the text is the reason in kube's words."""


def results_of(claim: Manifest) -> list[Manifest]:
    devices = (allocation_of(claim) or {}).get("devices") or {}
    return list(devices.get("results") or ())


def has_conditions(claim: Manifest) -> bool:
    return any(result.get("bindingConditions") for result in results_of(claim))


def ready(claim: Manifest) -> bool:
    """Return whether all binding conditions of all devices are true. Raise BindingFailed if a failure condition is true."""
    if allocation_of(claim) is None:
        return False
    for result in results_of(claim):
        if not result.get("bindingConditions"):
            continue
        reported = _conditions(claim, result)
        if reported is None:
            return False
        for name in result.get("bindingFailureConditions") or ():
            failed = reported.get(name)
            if failed is not None and failed.get("status") == "True":
                said = json.dumps(failed.get("message") or "", ensure_ascii=False)
                why = f"reason={failed.get('reason') or ''}, message={said}"
                raise BindingFailed(why)
        if any((reported.get(name) or {}).get("status") != "True" for name in result["bindingConditions"]):
            return False
    return True


def has_timed_out(claim: Manifest, now: int) -> bool:
    """Return whether the allocation exceeds the binding timeout at `now` (ns since 1970)."""
    since = (allocation_of(claim) or {}).get("allocationTimestamp")
    if since is None or not any("bindingConditions" in result for result in results_of(claim)):
        return False
    return parse_time(since) + TIMEOUT < now


def unusable(claim: Manifest, now: int) -> bool:
    """Return whether an allocated claim's binding has failed or timed out."""
    try:
        return not ready(claim) and has_timed_out(claim, now)
    except BindingFailed:
        return True


def _conditions(claim: Manifest, result: Manifest) -> Mapping[str, Any] | None:
    """Return the conditions that the driver reports for a device, by type; None if there are none."""
    for device in (claim.get("status") or {}).get("devices") or ():
        if all(device.get(name) == result.get(name) for name in ("driver", "pool", "device")):
            conditions: dict[str, Any] = {}
            for condition in device.get("conditions") or ():
                conditions.setdefault(condition.get("type") or "", condition)
            return conditions
    return None


FACTS, ALLOCATIONS = "DynamicResources", "DynamicResources nodes"
RESERVED, PROGRESS = "DynamicResources reserved", "DynamicResources PreBind"

CLAIMS = "claims"  # the name of these calls in faults
_ASSUMED_WITHIN, _READY_WITHIN = 120 * SECOND, TIMEOUT
_LOOK_AFTER = 5 * SECOND
_DONE = CallResult()


class Binding:
    """One call of PreBind; a WAIT result requests another call."""

    def __init__(self, handle: Handle, state: CycleState, pod: Pod, node_name: str) -> None:
        self._handle, self._state, self._pod, self._node_name = handle, state, pod, node_name
        self._calls = handle.calls(pod)
        features = handle.features
        self._conditions = features.dra_binding_conditions and features.dra_device_status
        self._new_texts = Behavior.BINDING_TEXTS in features.behaviors
        self._facts: Facts = state.read(FACTS)
        self._progress: Progress = state.get(PROGRESS) or Progress()
        self._reserved: Mapping[int, Manifest] = state.get(RESERVED) or {}

    def go_on(self) -> CallResult:
        while not self._progress.bound:
            index = self._progress.index
            if index == len(self._facts.store.claims):
                if not self._conditions or not any(map(has_conditions, self._facts.store.claims)):
                    return _DONE
                text = f"waiting for binding conditions for device on node {self._node_name}"
                self._handle.note(self._pod, "BindingConditionsPending", text, "Scheduling")
                self._keep(Progress(bound=True))
                return self._look()
            answer = self._bind(index, self._facts.store.claims[index])
            if answer is not None:
                return answer
        return self._look()

    # One claim

    def _bind(self, index: int, claim: Manifest) -> CallResult | None:
        """Bind the claim. Return None if the claim is bound, or needs no binding."""
        allocation = self._reserved.get(index)
        extended = self._facts.store.is_extended(index)
        if self._progress.claim is not None and self._progress.waited:
            return self._assume(index, claim, self._progress.claim)
        if is_reserved_for(claim, self._pod):
            self._next()
            return None
        if extended and allocation is None and not _requests(claim):
            self._next()
            return None
        held_up = self._hold_up(allocation is not None)
        if held_up is not None:
            return held_up
        if extended and is_in_memory(claim):
            created = self._create(claim)
            if isinstance(created, Status):
                return self._fail(claim, created)
            claim = created
            self._set_claim(index, claim)
        timestamp = format_time(self._handle.now) if self._conditions else ""
        written = claim_writing.bind(self._calls, self._pod, claim, allocation, timestamp, self._progress.tries > 0)
        if written.manifest is None:
            tries = self._progress.tries + 1
            if written.conflict and tries < claim_writing.TRIES:
                return self._wait(claim_writing.PAUSE, tries=tries)
            return self._fail(claim, error(written.error))
        if extended and (problem := self._write_pod_status(written.manifest)):
            return self._fail(claim, error(problem))
        return self._assume(index, claim, written.manifest)

    def _hold_up(self, allocates: bool) -> CallResult | None:
        progress = self._progress
        if progress.tries:
            return None
        # An allocation takes up to two writes: the finalizer is part of the object,
        # the allocation part of its status subresource.
        pause = self._handle.held_up(self._pod, progress.held_up, 2 if allocates else 1, CLAIMS)
        return self._wait(pause, held_up=progress.held_up + 1) if pause else None

    def _create(self, claim: Manifest) -> Manifest | Status:
        """Create the claim for extended resources with the requests for the node."""
        nodes: Mapping[str, NodeAllocation] = self._state.get(ALLOCATIONS) or {}
        found = nodes.get(self._node_name)
        if found is None or found.requests is None:
            return error(f"extended resource claim not found for node {self._node_name}")
        # The name in memory is not a valid object name; the API server generates one from generateName and sets the UID.
        metadata = {k: v for k, v in claim["metadata"].items() if k not in ("name", "uid")}
        reply = self._calls.create({**with_requests(claim, found.requests), "metadata": metadata})
        if reply.manifest is None:
            return error(f"create claim for extended resources : {reply.error}")
        return reply.manifest

    def _write_pod_status(self, claim: Manifest) -> str:
        status = {"requestMappings": request_mappings(claim, self._pod), "resourceClaimName": claim["metadata"]["name"]}
        reply = self._calls.patch_pod_status({"extendedResourceClaimStatus": status})
        if not reply.error:
            return ""
        return f"update pod {self._pod.key} ExtendedResourceClaimStatus: {reply.error}"

    def _assume(self, index: int, claim: Manifest, written: Manifest) -> CallResult | None:
        """Assume the written claim as the scheduler's newest version; wait if the cache lacks a newly created claim."""
        extended = self._facts.store.is_extended(index)
        if index in self._reserved:
            # Assume first, then drop the pending allocation: in the other order the devices would be free for a moment.
            problem = self._handle.claims.assume(written)
            waited = self._progress.waited
            if problem.startswith("could not find") and extended and waited < _ASSUMED_WITHIN:
                return self._wait(SECOND, claim=written, waited=waited + SECOND)
            self._handle.claims.remove_pending_allocation(self._pending_uid(index, claim))
        self._set_claim(index, written)
        self._next()
        return None

    def _fail(self, claim: Manifest, status: Status) -> CallResult:
        index = self._progress.index
        if index in self._reserved:
            self._handle.claims.remove_pending_allocation(self._pending_uid(index, claim))
        return CallResult(status)

    def _pending_uid(self, index: int, claim: Manifest) -> str:
        store = self._facts.store
        return store.initial_uid if store.is_extended(index) else uid_of(claim)

    def _set_claim(self, index: int, claim: Manifest) -> None:
        self._facts = replace(self._facts, store=self._facts.store.with_claim(index, claim))
        self._state.write(FACTS, self._facts)

    def _next(self) -> None:
        self._keep(Progress(index=self._progress.index + 1))

    # Binding conditions

    def _look(self) -> CallResult:
        """Check all claims until they are ready, fail, or time out."""
        waited = self._progress.waited
        if waited >= _READY_WITHIN:
            late = ": context deadline exceeded" if self._new_texts else ""
            return CallResult(error(f"device binding timeout{late}"))
        problem, is_ready = "", True
        for index, claim in enumerate(self._facts.store.claims):
            metadata = claim["metadata"]
            known = self._handle.claims.get(metadata["namespace"], metadata["name"])
            if known is None:
                problem = f'could not find ResourceClaim "{key_of(claim)}"'
                break
            self._set_claim(index, known)
            try:
                is_ready = ready(known)
            except BindingFailed as failed:
                problem = self._say_unbound(metadata["name"], "failed", f"{failed}")
            if not problem and not is_ready and has_timed_out(known, self._handle.now):
                problem = self._say_unbound(metadata["name"], "timeout")
            if problem or not is_ready:
                break
        if problem:
            return CallResult(error(problem))
        if is_ready:
            return _DONE
        pause = min(_LOOK_AFTER, _READY_WITHIN - waited)
        return self._wait(pause, waited=waited + pause)

    def _say_unbound(self, name: str, what: str, why: str = "") -> str:
        if self._new_texts:
            return f"device binding {what}: claim={name}" + (f", {why}" if why else "")
        return f"claim {name} binding {what}" + (f": {why}" if why else "")

    # Progress

    def _wait(self, pause: int, **changes: Any) -> CallResult:
        self._keep(replace(self._progress, **changes))
        return CallResult(Status(Code.WAIT), pause)

    def _keep(self, progress: Progress) -> None:
        self._progress = progress
        self._state.write(PROGRESS, progress)


def _requests(claim: Manifest) -> Any:
    return ((claim.get("spec") or {}).get("devices") or {}).get("requests")
