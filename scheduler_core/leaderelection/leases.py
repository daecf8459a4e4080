"""Carrying a candidate's call out at the API server.

kube: apiserver/pkg/registry/generic/registry/store.go Update (resourceVersion), apis/coordination/validation @ v1.34.1
"""

from __future__ import annotations

from scheduler_core.api.kinds import known
from scheduler_core.api.status import Answer, Refused, already_exists, conflict, not_found
from scheduler_core.api.store import Store
from scheduler_core.leaderelection.lock import LeaseAnswer, LeaseCall, Manifest, Verb

_KIND = "Lease"
_RESOURCE = known(_KIND).resource
_MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"


def carry_out(store: Store, call: LeaseCall, now: int) -> LeaseAnswer:
    """At virtual time `now` (ns). A refusal changes nothing."""
    old = store.get(_KIND, call.namespace, call.name)
    if call.verb is Verb.GET:
        return _refused(not_found(_RESOURCE, call.name)) if old is None else LeaseAnswer(old)
    assert call.manifest is not None
    refusal = _refusal(call, old)
    if refusal is not None:
        return _refused(refusal)
    try:
        if call.verb is Verb.CREATE:
            return LeaseAnswer(store.create(call.manifest, _KIND, now).new)
        event = store.replace(call.manifest, _KIND)
    except Refused as refused:
        return LeaseAnswer(reason="Invalid", message=str(refused))
    return LeaseAnswer(old if event is None else event.new)


def _refusal(call: LeaseCall, old: Manifest | None) -> Answer | None:
    if call.verb is Verb.CREATE:
        return None if old is None else already_exists(_RESOURCE, call.name)
    if old is None:
        return not_found(_RESOURCE, call.name)
    assert call.manifest is not None
    same = call.manifest["metadata"].get("resourceVersion") == old["metadata"]["resourceVersion"]
    return None if same else conflict(_RESOURCE, call.name, _MODIFIED)


def _refused(answer: Answer) -> LeaseAnswer:
    return LeaseAnswer(reason=answer.reason, message=answer.message)
