"""Pods that are not there, because their controller was not let create them: a quota, an admission plugin.

They have no name yet. They are called by that of their owner: namespace/owner-*.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler_core.explain.explanation import Explanation, Given, State
from scheduler_core.fixes.admission import acts, exceeded
from scheduler_core.fixes.quotas import missing_of
from scheduler_core.simulation import Simulation
from scheduler_core.view import WorldView

_OWNERS = ("ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Job")
_FAILED, _CREATED = "FailedCreate", "SuccessfulCreate"
_QUOTA = "exceeded quota: "


def uncreated(world: WorldView) -> list[Explanation]:
    """One for each workload whose last pod was refused."""
    assert isinstance(world, Simulation)
    last = _last_events(world)
    found = []
    for kind in _OWNERS:
        for manifest in world.store.list(kind):
            meta = manifest["metadata"]
            key = (kind, str(meta.get("namespace") or ""), str(meta["name"]))
            missing = missing_of(manifest)
            message = _condition(manifest) or last.get(key, "")
            if missing > 0 and not message and not acts(world, kind):
                message = exceeded(world, manifest)
            if message and missing > 0:
                found.append(_explained(key, message, missing))
    return found


def _last_events(world: Simulation) -> dict[tuple[str, str, str], str]:
    """By object, what the refusal of its last pod said; "" where the last one was made."""
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


def _explained(key: tuple[str, str, str], message: str, missing: int) -> Explanation:
    kind, namespace, name = key
    state = State.QUOTA_EXCEEDED if _QUOTA in message else State.NOT_CREATED
    evidence: dict[str, Any] = {"owner": {"kind": kind, "name": name}, "missing": missing}
    if state is State.QUOTA_EXCEEDED:
        evidence["quota"] = message.partition(_QUOTA)[2].partition(",")[0]
    return Explanation(f"{namespace}/{name}-*", state, (Given(state, "", message, evidence=evidence),))
