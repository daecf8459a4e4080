"""Pods that are not there: their controller was not let create them (a quota, an admission plugin), or their workload is not to have
them yet, being paused, suspended, or managed by another controller.

They have no name yet. They are called by that of their owner: namespace/owner-*.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler_core.analysis.explain.explanation import Explanation, Given, State
from scheduler_core.analysis.fixes.admission import acts, find_quota_error
from scheduler_core.analysis.fixes.quotas import missing_of
from scheduler_core.world.simulation import Simulation

_OWNERS = ("ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Job")
_FAILED, _CREATED = "FailedCreate", "SuccessfulCreate"
_QUOTA = "exceeded quota: "
_JOB_CONTROLLER = "kubernetes.io/job-controller"


def explain_uncreated(world: Simulation) -> list[Explanation]:
    """One for each workload whose last pod was refused, or that is not to have its pods yet."""
    last = _last_events(world)
    found = list(_withheld(world))
    for kind in _OWNERS:
        for manifest in world.store.list(kind):
            meta = manifest["metadata"]
            key = (kind, str(meta.get("namespace") or ""), str(meta["name"]))
            missing = 0 if kind == "Job" and _idle_job(manifest) is not None else missing_of(manifest)
            message = _condition(manifest) or last.get(key, "")
            if missing > 0 and not message and not acts(world, kind):
                message = find_quota_error(world, manifest)
            if message and missing > 0:
                found.append(_explain_missing(key, message, missing))
    return found


def _withheld(world: Simulation) -> Iterator[Explanation]:
    for manifest in world.store.list("Deployment"):
        owns = world.store.controlled("ReplicaSet", str(manifest["metadata"].get("uid") or ""))
        if (manifest.get("spec") or {}).get("paused") and not owns and (missing := missing_of(manifest)) > 0:
            yield _idle(manifest, State.PAUSED, "spec.paused is true", missing)
    for manifest in world.store.list("Job"):
        if (idle := _idle_job(manifest)) is not None and (missing := missing_of(manifest)) > 0:
            yield _idle(manifest, *idle, missing)


def _idle_job(manifest: Mapping[str, Any]) -> tuple[State, str] | None:
    """Return the state and the reason for which nothing creates pods for an unfinished Job, or None."""
    spec, status = manifest.get("spec") or {}, manifest.get("status") or {}
    over = (each for each in status.get("conditions") or () if each.get("type") in ("Complete", "Failed"))
    if any(each.get("status") == "True" for each in over):
        return None
    if (by := spec.get("managedBy")) not in (None, _JOB_CONTROLLER):
        return State.MANAGED_ELSEWHERE, f"spec.managedBy is {by}"
    return (State.SUSPENDED, "spec.suspend is true") if spec.get("suspend") else None


def _idle(manifest: Mapping[str, Any], state: State, message: str, missing: int) -> Explanation:
    kind, meta = str(manifest["kind"]), manifest["metadata"]
    evidence = {"owner": {"kind": kind, "name": meta["name"]}, "missing": missing}
    key = f"{meta.get('namespace') or 'default'}/{meta['name']}-*"
    return Explanation(key, state, (Given(state, "", message, evidence=evidence),))


def _last_events(world: Simulation) -> dict[tuple[str, str, str], str]:
    """Return, by object, the message of the refusal of its last pod, or "" if its last pod was created."""
    last: dict[tuple[str, str, str], str] = {}
    for event in world.store.events:
        if event.reason in (_FAILED, _CREATED):
            text = event.message.removeprefix("Error creating: ") if event.reason == _FAILED else ""
            last[event.kind, event.namespace, event.name] = text
    return last


def _condition(manifest: Mapping[str, Any]) -> str:
    """kube: ReplicaSetReplicaFailure"""
    conditions: Iterator[Mapping[str, Any]] = iter((manifest.get("status") or {}).get("conditions") or ())
    return next(
        (
            str(each.get("message") or "")
            for each in conditions
            if each.get("reason") == _FAILED and each.get("status") == "True"
        ),
        "",
    )


def _explain_missing(key: tuple[str, str, str], message: str, missing: int) -> Explanation:
    kind, namespace, name = key
    state = State.QUOTA_EXCEEDED if _QUOTA in message else State.NOT_CREATED
    evidence: dict[str, Any] = {"owner": {"kind": kind, "name": name}, "missing": missing}
    if state is State.QUOTA_EXCEEDED:
        evidence["quota"] = message.partition(_QUOTA)[2].partition(",")[0]
    return Explanation(f"{namespace}/{name}-*", state, (Given(state, "", message, evidence=evidence),))
