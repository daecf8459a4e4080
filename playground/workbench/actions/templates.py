"""The pods of a workload: what it makes them of."""

from __future__ import annotations

from typing import Any

from playground.workbench.actions.contract import Subject

WORKLOADS = ("Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Job")
_MADE = ("pod-template-hash", "controller-revision-hash", "pod-template-generation")


def template(subject: Subject) -> Any:
    """The pod of an object: itself, or what it makes pods of."""
    return subject.manifest if subject.kind == "Pod" else subject.part("spec", "template") or {}


def containers(subject: Subject) -> list[dict[str, Any]]:
    """Return the pod's regular containers."""
    return [dict(each) for each in (template(subject).get("spec") or {}).get("containers") or ()]


def labels(subject: Subject, between: str = ", ") -> str:
    """The labels of the pods, without those that controllers give them."""
    given = (template(subject).get("metadata") or {}).get("labels") or {}
    return between.join(f"{key}={value}" for key, value in given.items() if key not in _MADE)
