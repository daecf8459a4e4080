"""Carrying a candidate's call out at the API server."""

from __future__ import annotations

from scheduler_core.apiserver.server import APIServer
from scheduler_core.apiserver.status import Refused
from scheduler_core.scheduler.leaderelection.lock import LeaseAnswer, LeaseCall, Verb

USER = "system:kube-scheduler"


def carry_out(api: APIServer, call: LeaseCall) -> LeaseAnswer:
    """A refusal changes nothing."""
    try:
        if call.manifest is None:
            return LeaseAnswer(api.found(("Lease", call.namespace, call.name)))
        if call.verb is Verb.CREATE:
            return LeaseAnswer(api.create(call.manifest, USER))
        return LeaseAnswer(api.update(call.manifest, user=USER))
    except Refused as refused:
        return LeaseAnswer(reason=refused.answer.reason, message=refused.answer.message)
