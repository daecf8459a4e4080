"""The status of a pod as its kubelet writes it: phase, conditions, and container states.

DEVIATION: no addresses, and no ids of images and containers.

kube: pkg/kubelet/kubelet_pods.go (getPhase, convertToAPIContainerStatuses), pkg/kubelet/status/{generate,status_manager}.go @ v1.34.1
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scheduler_core.apimachinery.objects import Pod, go_duration, is_sidecar
from scheduler_core.controllers.kubelet.containers import Setting, has_failed_init, is_initialized, pause_ends
from scheduler_core.controllers.kubelet.sizes import report_resources
from scheduler_core.controllers.memory.kubelet import ContainerEnd, ContainerRun, PodRun

PENDING, RUNNING, SUCCEEDED, FAILED = "Pending", "Running", "Succeeded", "Failed"
_TRUE, _FALSE = "True", "False"
RESIZE_CONDITIONS = (PENDING_RESIZE, RESIZE_IN_PROGRESS) = ("PodResizePending", "PodResizeInProgress")
_COMPLETED = {SUCCEEDED: "PodCompleted", FAILED: "PodFailed"}
Timestamp = Callable[[int], str]
Conditions = list[Mapping[str, Any]]


def phase_of(run: PodRun, setting: Setting, terminal: bool) -> str:
    """Return the phase that follows from the containers; `terminal`: no container runs, and none will be started again."""
    if has_failed_init(run, setting) and (terminal or setting.restart_policy == "Never"):
        return FAILED
    begun = any(each.starts for each in run.containers)
    if not begun:
        return FAILED if terminal else PENDING
    if any(each.running for each in run.all):
        return RUNNING
    succeeded = all(each.exit_code == 0 for each in run.containers)
    restarts = setting.restart_policy == "Always" or (setting.restart_policy == "OnFailure" and not succeeded)
    if restarts and not terminal:
        return RUNNING
    return SUCCEEDED if succeeded else FAILED


def status_of(run: PodRun, setting: Setting, phase: str, timestamp: Timestamp) -> dict[str, Any]:
    """Build the status fields of an admitted pod."""
    now = timestamp(setting.now)
    status = setting.pod.manifest.get("status") or {}
    fields: dict[str, Any] = {
        "observedGeneration": get_generation(setting.pod),
        "phase": phase,
        "startTime": status.get("startTime") or timestamp(run.admitted),
        "conditions": _conditions(run, setting, phase, now),
        "containerStatuses": _statuses(run, run.containers, setting, timestamp),
    }
    if run.init:
        fields["initContainerStatuses"] = _statuses(run, run.init, setting, timestamp)
    if phase == FAILED and run.kill is not None and run.kill.reason:
        fields["reason"], fields["message"] = run.kill.reason, run.kill.message
        if run.kill.disruption:
            target = _condition("DisruptionTarget", _TRUE, "TerminationByKubelet", run.kill.disruption)
            fields["conditions"] = _merge_conditions(fields["conditions"], [target], now, setting)
    return fields


def build_refused_status(setting: Setting, reason: str, message: str, timestamp: Timestamp) -> dict[str, Any]:
    """Build the status fields of a pod that the kubelet rejects."""
    now = timestamp(setting.now)
    status = setting.pod.manifest.get("status") or {}
    unready = [_condition(kind, _FALSE, _COMPLETED[FAILED]) for kind in ("Ready", "ContainersReady")]
    return {
        "observedGeneration": get_generation(setting.pod),
        "phase": FAILED,
        "reason": reason,
        "message": f"Pod was rejected: {message}",
        "startTime": status.get("startTime") or now,
        "conditions": _merge_conditions(status.get("conditions") or (), unready, now, setting),
    }


def _conditions(run: PodRun, setting: Setting, phase: str, now: str) -> Conditions:
    old = (setting.pod.manifest.get("status") or {}).get("conditions") or ()
    sandbox = setting.now >= run.starts_at and phase not in _COMPLETED
    fresh = [
        _condition("PodReadyToStartContainers", _TRUE if sandbox else _FALSE),
        _build_initialized(run, setting, phase),
        *_readiness(run, setting, phase, old),
        _condition("PodScheduled", _TRUE),
    ]
    kept = [condition for condition in old if condition.get("type") not in RESIZE_CONDITIONS]
    resizes = () if phase in _COMPLETED else (run.pending, run.in_progress)
    return [*_merge_conditions(kept, fresh, now, setting), *(each for each in resizes if each is not None)]


def _condition(kind: str, status: str, reason: str = "", message: str = "") -> dict[str, Any]:
    condition = {"type": kind, "status": status, "reason": reason, "message": message}
    return {field: text for field, text in condition.items() if text}


def make_resize_condition(
    pod: Pod, now: str, old: Mapping[str, Any] | None, kind: str, reason: str = "", message: str = ""
) -> Mapping[str, Any]:
    """Build a condition about a resize. Its transition time changes only with the reason."""
    same = old is not None and old.get("reason", "") == reason
    return {
        **_condition(kind, _TRUE, reason, message),
        "observedGeneration": get_generation(pod),
        "lastProbeTime": now,
        "lastTransitionTime": old["lastTransitionTime"] if same and old is not None else now,
    }


def _build_initialized(run: PodRun, setting: Setting, phase: str) -> dict[str, Any]:
    if phase == SUCCEEDED:
        return _condition("Initialized", _TRUE, _COMPLETED[phase])
    if any(each.starts for each in run.containers) or is_initialized(run, setting):
        return _condition("Initialized", _TRUE)
    names = [
        each.name
        for container, each in zip(setting.init, run.init, strict=True)
        if not (each.running if is_sidecar(container) else each.ended is not None and each.exit_code == 0)
    ]
    message = f"containers with incomplete status: [{' '.join(names)}]"
    return _condition("Initialized", _FALSE, "ContainersNotInitialized", message)


def _readiness(run: PodRun, setting: Setting, phase: str, old: Sequence[Mapping[str, Any]]) -> Conditions:
    """Return the conditions Ready and ContainersReady."""
    if phase in _COMPLETED:
        return [_condition(kind, _FALSE, _COMPLETED[phase]) for kind in ("Ready", "ContainersReady")]
    sidecars = [e for c, e in zip(setting.init, run.init, strict=True) if is_sidecar(c)]
    unready = [each.name for each in (*sidecars, *run.containers) if not setting.ready(each)]
    if unready:
        message = f"containers with unready status: [{' '.join(unready)}]"
        return [_condition(kind, _FALSE, "ContainersNotReady", message) for kind in ("Ready", "ContainersReady")]
    problem = _gates(setting, old)
    ready = _condition("Ready", _FALSE, "ReadinessGatesNotReady", problem) if problem else None
    return [ready or _condition("Ready", _TRUE), _condition("ContainersReady", _TRUE)]


def _gates(setting: Setting, old: Sequence[Mapping[str, Any]]) -> str:
    """Return the problems with the pod's readiness gates."""
    gates = setting.pod.manifest["spec"].get("readinessGates")
    if not gates:
        return ""
    states = {condition.get("type"): condition.get("status") for condition in old}
    problems = []
    for gate in gates:
        kind = gate.get("conditionType")
        if kind not in states:
            problems.append(f'corresponding condition of pod readiness gate "{kind}" does not exist.')
        elif states[kind] != _TRUE:
            problems.append(f'the status of pod readiness gate "{kind}" is not "True", but {states[kind]}')
    return ", ".join(problems)


def _merge_conditions(
    old: Sequence[Mapping[str, Any]], fresh: Sequence[dict[str, Any]] | Conditions, now: str, setting: Setting
) -> Conditions:
    """Return the kubelet's conditions, then those of others; a transition time changes only with the status."""
    before = {condition.get("type"): condition for condition in old}
    generation = get_generation(setting.pod)
    merged: Conditions = []
    for condition in fresh:
        known = before.get(condition["type"])
        since = known.get("lastTransitionTime") if known and known.get("status") == condition["status"] else None
        merged.append(
            {**condition, "observedGeneration": generation, "lastProbeTime": None, "lastTransitionTime": since or now}
        )
    own = {condition["type"] for condition in fresh}
    return [*merged, *(condition for condition in old if condition.get("type") not in own)]


def get_generation(pod: Pod) -> int:
    """Return the generation of a pod."""
    return int(pod.manifest["metadata"].get("generation") or 0)


# containers


def _statuses(
    run: PodRun, runs: Sequence[ContainerRun], setting: Setting, timestamp: Timestamp
) -> list[dict[str, Any]]:
    containers = setting.init if runs is run.init else setting.regular
    may_restart = run.kill is None
    return [
        _status(each, container, setting, timestamp, may_restart)
        for each, container in zip(runs, containers, strict=True)
    ]


def _status(
    each: ContainerRun, container: Mapping[str, Any], setting: Setting, timestamp: Timestamp, may_restart: bool
) -> dict[str, Any]:
    init = any(container is other for other in setting.init)
    ready = setting.ready(each)
    if init and not is_sidecar(container):
        ready = each.ended is not None and each.exit_code == 0
    status: dict[str, Any] = {
        "name": each.name,
        "image": str(container.get("image") or ""),
        "imageID": "",
        "ready": ready,
        "started": each.running,
        "restartCount": max(each.starts - 1, 0),
        "state": _state(each, setting, timestamp, may_restart),
    }
    last = each.last
    if "waiting" in status["state"] and each.ended is not None and each.started is not None:
        last = ContainerEnd(each.started, each.ended, each.exit_code, each.reason)
    if last is not None:
        status["lastState"] = {"terminated": _build_terminated(last, timestamp)}
    if each.starts:
        status |= report_resources(each)
    return status


def _state(each: ContainerRun, setting: Setting, timestamp: Timestamp, may_restart: bool) -> dict[str, Any]:
    if each.started is None:
        reason = "PodInitializing" if setting.init else "ContainerCreating"
        return {"waiting": {"reason": reason}}
    if each.ended is None:
        return {"running": {"startedAt": timestamp(each.started)}}
    over = pause_ends(each)
    if may_restart and over is not None and over > setting.now and setting.waits(each):
        pod = setting.pod
        message = (
            f"back-off {go_duration(each.pause)} restarting failed container={each.name} "
            f"pod={pod.name}_{pod.namespace}({pod.uid})"
        )
        return {"waiting": {"reason": "CrashLoopBackOff", "message": message}}
    return {
        "terminated": _build_terminated(ContainerEnd(each.started, each.ended, each.exit_code, each.reason), timestamp)
    }


def _build_terminated(ending: ContainerEnd, timestamp: Timestamp) -> dict[str, Any]:
    return {
        "exitCode": ending.exit_code,
        "reason": ending.reason,
        "startedAt": timestamp(ending.started),
        "finishedAt": timestamp(ending.ended),
    }
