"""The row of a pod: readiness, the status in one word, and restarts.

kube: pkg/printers/internalversion/printers.go printPod @ v1.34.1
"""

from collections.abc import Callable
from typing import Any

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.door.tables.row import NONE, Cells, Row

Since = Callable[[Any], str]


class _Restarts:
    """The restarts of containers, and the end of the last one."""

    def __init__(self) -> None:
        self.count = 0
        self.last = ""

    def add(self, status: Manifest) -> None:
        self.count += int(status.get("restartCount") or 0)
        ended = (status.get("lastState") or {}).get("terminated") or {}
        self.last = max(self.last, str(ended.get("finishedAt") or ""))

    def text(self, since: Since) -> str:
        return f"{self.count} ({since(self.last)} ago)" if self.count and self.last else str(self.count)


def print_pod(pod: Manifest, now: int) -> Cells:
    """Return the cells of a pod, including the wide ones. `now`: ns since 1970."""
    since = Row(pod, now).since
    spec, status, meta = pod.get("spec") or {}, pod.get("status") or {}, pod["metadata"]
    conditions = {each.get("type"): each for each in status.get("conditions") or ()}
    phase = status.get("phase") or ""
    reason = status.get("reason") or phase
    if (conditions.get("PodScheduled") or {}).get("reason") == "SchedulingGated":
        reason = "SchedulingGated"
    sidecars = [each for each in spec.get("initContainers") or () if each.get("restartPolicy") == "Always"]
    total = len(spec.get("containers") or ()) + len(sidecars)
    names = {each.get("name") for each in sidecars}
    word, ready, before, of_sidecars = _initialize(status, names, len(spec.get("initContainers") or ()))
    if word and not _holds(conditions, "Initialized"):
        reason, restarts = word, before
    else:
        reason = word or reason
        reason, more, restarts = _run(status, reason, of_sidecars, _holds(conditions, "Ready"))
        ready += more
    if meta.get("deletionTimestamp"):
        if status.get("reason") == "NodeLost":
            reason = "Unknown"
        elif phase not in ("Failed", "Succeeded"):
            reason = "Terminating"
    gates = spec.get("readinessGates") or ()
    open_ = sum(_holds(conditions, each.get("conditionType")) for each in gates)
    wide = [
        ((status.get("podIPs") or [{}])[0] or {}).get("ip") or NONE,
        spec.get("nodeName") or NONE,
        status.get("nominatedNodeName") or NONE,
        f"{open_}/{len(gates)}" if gates else NONE,
    ]
    return [meta["name"], f"{ready}/{total}", reason, restarts.text(since), since(meta.get("creationTimestamp")), *wide]


def _holds(conditions: Manifest, type_: Any) -> bool:
    return (conditions.get(type_) or {}).get("status") == "True"


def _initialize(status: Manifest, sidecars: set[Any], total: int) -> tuple[str, int, _Restarts, _Restarts]:
    """Return the status of a running initialization ("" if over), ready sidecars, and restarts of all containers and of sidecars."""
    ready, restarts, of_sidecars = 0, _Restarts(), _Restarts()
    for number, each in enumerate(status.get("initContainerStatuses") or ()):
        restarts.add(each)
        is_sidecar = each.get("name") in sidecars
        if is_sidecar:
            of_sidecars.add(each)
        state = each.get("state") or {}
        ended, waiting = state.get("terminated"), state.get("waiting") or {}
        if ended is not None and not ended.get("exitCode"):
            continue
        if is_sidecar and each.get("started"):
            ready += bool(each.get("ready"))
            continue
        if ended is not None:
            word = f"Init:{_why_ended(ended)}"
        elif waiting.get("reason") and waiting["reason"] != "PodInitializing":
            word = f"Init:{waiting['reason']}"
        else:
            word = f"Init:{number}/{total}"
        return word, ready, restarts, of_sidecars
    return "", ready, restarts, of_sidecars


def _why_ended(ended: Manifest) -> str:
    if ended.get("reason"):
        return str(ended["reason"])
    return f"Signal:{ended['signal']}" if ended.get("signal") else f"ExitCode:{ended.get('exitCode', 0)}"


def _run(status: Manifest, reason: str, restarts: _Restarts, is_ready: bool) -> tuple[str, int, _Restarts]:
    ready, running = 0, False
    for each in reversed(status.get("containerStatuses") or ()):
        restarts.add(each)
        state = each.get("state") or {}
        if (state.get("waiting") or {}).get("reason"):
            reason = state["waiting"]["reason"]
        elif state.get("terminated") is not None:
            reason = _why_ended(state["terminated"])
        elif each.get("ready") and state.get("running") is not None:
            running = True
            ready += 1
    if reason == "Completed" and running:
        reason = "Running" if is_ready else "NotReady"
    return reason, ready, restarts
