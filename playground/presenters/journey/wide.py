"""A pod as `kubectl get pod -o wide` prints it: one cell for each column.

kube: pkg/printers/internalversion/printers.go (printPod) @ v1.34.1
"""

from __future__ import annotations

from playground.presenters.journey.ages import age
from scheduler_core.world.readonly import Pod


def wide(pod: Pod | None, name: str, since: int) -> dict[str, str]:
    """`since` is the pod's age in virtual ns. Cells that have no value are empty; a pod that is gone has none but its name."""
    if pod is None:
        return dict.fromkeys(_COLUMNS, "") | {"NAME": name}
    containers = len((pod.manifest.get("spec") or {}).get("containers") or ())
    ready = containers if pod.phase == "Running" else 0
    cells = (
        name,
        f"{ready}/{containers}",
        _status(pod),
        "0",
        age(since),
        "",
        pod.node_name,
        pod.nominated_node_name,
        "",
    )
    return dict(zip(_COLUMNS, cells, strict=True))


_COLUMNS = ("NAME", "READY", "STATUS", "RESTARTS", "AGE", "IP", "NODE", "NOMINATED NODE", "READINESS GATES")


def _status(pod: Pod) -> str:
    if pod.deleting:
        return "Terminating"
    condition = pod.condition("PodScheduled")
    if condition is not None and condition.get("reason") == "SchedulingGated":
        return "SchedulingGated"
    return pod.phase
