"""Resources of containers on a node: asked for, allocated by the kubelet, and actual. Pure functions of what the kubelet remembers.

`ContainerRun.allocated` is what the kubelet granted; `actual` is what the container runs with, as long as that is something else.

kube: pkg/kubelet/allocation/allocation_manager.go (updatePodFromAllocation, isPodResizeInProgress, podResizeCompletionMsg),
pkg/kubelet/kuberuntime/kuberuntime_manager.go (computePodResizeAction), pkg/kubelet/kubelet_pods.go
(convertContainerStatusResources) @ v1.34.1
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from scheduler_core.controllers.kubelet.containers import Setting, told_to_end
from scheduler_core.controllers.memory.kubelet import ContainerRun, PodRun
from scheduler_core.objects.pod import Pod
from scheduler_core.objects.quantity import nanos
from scheduler_core.objects.resources import CPU, MEMORY, is_sidecar
from scheduler_core.objects.times import SECOND

Container = Mapping[str, Any]
Amounts = Mapping[str, Any]  # requests and limits
SIDES = ("limits", "requests")
RESIZABLE = (CPU, MEMORY)
_FIELDS = ("initContainers", "containers")


def resources_of(container: Container) -> Amounts:
    """What a container asks for."""
    resources: Amounts = container.get("resources") or {}
    return resources


def alike(one: Amounts, other: Amounts) -> bool:
    """Whether two lists of requests and limits say the same, however they write it."""
    return one == other or all(_exact(one, side) == _exact(other, side) for side in SIDES)


def _exact(resources: Amounts, side: str) -> dict[str, int]:
    return {name: nanos(quantity) for name, quantity in (resources.get(side) or {}).items()}


def asks_otherwise(old: Pod, new: Pod) -> bool:
    """Whether a change of a pod is a resize: of a container or a sidecar, whose cpu or memory is another."""
    before = {container["name"]: container for container in _resizable(old)}
    return any(
        not alike(_sized(resources_of(container)), _sized(resources_of(before[container["name"]])))
        for container in _resizable(new)
        if container["name"] in before
    )


def _resizable(pod: Pod) -> Iterator[Container]:
    spec = pod.manifest["spec"]
    yield from (each for each in spec.get("initContainers") or () if is_sidecar(each))
    yield from spec.get("containers") or ()


def _sized(resources: Amounts) -> Amounts:
    """The part that can be resized, without zeros."""
    return {
        side: {name: amount for name, amount in (resources.get(side) or {}).items() if _counts(name, amount)}
        for side in SIDES
    }


def _counts(name: str, amount: Any) -> bool:
    return name in RESIZABLE and nanos(amount) != 0


def allocated_pod(pod: Pod, run: PodRun) -> Pod:
    """A pod with what was allocated to its containers in place of what they ask for; the very pod where that is the same."""
    spec, changes = pod.manifest["spec"], {}
    for field, runs in zip(_FIELDS, (run.init, run.containers), strict=True):
        given = spec.get(field) or ()
        if not all(_is_granted(each, container) for container, each in zip(given, runs, strict=True)):
            changes[field] = [
                container if _is_granted(each, container) else {**container, "resources": each.allocated}
                for container, each in zip(given, runs, strict=True)
            ]
    if not changes:
        return pod
    return Pod.from_manifest({**pod.manifest, "spec": {**spec, **changes}}, None, pod.reading)


def _is_granted(each: ContainerRun, container: Container) -> bool:
    return alike(each.allocated or {}, resources_of(container))


def granted(run: PodRun, setting: Setting) -> PodRun:
    """A pod whose containers are allocated what they ask for; those that run have to be resized yet."""

    def grant(container: Container, each: ContainerRun) -> ContainerRun:
        wanted = resources_of(container)
        actual = (each.actual or each.allocated or {}) if each.running else None
        done = actual is None or alike(_sized(actual), _sized(wanted))
        return replace(each, allocated=wanted, actual=None if done else actual)

    return _mapped(run, setting, grant)


def _mapped(
    run: PodRun, setting: Setting, change: Callable[[Container, ContainerRun], ContainerRun]
) -> PodRun:
    init = tuple(change(container, each) for container, each in zip(setting.init, run.init, strict=True))
    regular = zip(setting.regular, run.containers, strict=True)
    return replace(run, init=init, containers=tuple(change(container, each) for container, each in regular))


def outstanding(run: PodRun) -> bool:
    """Whether a container runs with something else than what was allocated to it."""
    return any(each.running and each.actual is not None for each in run.all)


def sized(run: PodRun, setting: Setting) -> PodRun:
    """Gives containers what was allocated to them: by a restart where their resizePolicy asks for one, else when their time has come."""
    if run.kill is not None or not outstanding(run):
        return run
    in_place = run.actuates_at is not None and setting.now >= run.actuates_at
    until = setting.now + max(setting.pod.spec.termination_grace_seconds, 1) * SECOND

    def size(container: Container, each: ContainerRun) -> ContainerRun:
        if not each.running or each.actual is None:
            return each
        if _needs_restart(container, each.actual, each.allocated or {}):
            return told_to_end(replace(each, changed=True), setting, until)
        return replace(each, actual=None) if in_place else each

    return _mapped(run, setting, size)


def _needs_restart(container: Container, actual: Amounts, wanted: Amounts) -> bool:
    changed = {
        name
        for side in SIDES
        for name in RESIZABLE
        if nanos((actual.get(side) or {}).get(name, 0)) != nanos((wanted.get(side) or {}).get(name, 0))
    }
    return any(
        policy.get("resourceName") in changed and policy.get("restartPolicy") == "RestartContainer"
        for policy in container.get("resizePolicy") or ()
    )


def reported(each: ContainerRun) -> dict[str, Any]:
    """What a status says of a container's resources: the actual ones where they are known, and what was allocated."""
    allocated = each.allocated or {}
    resources = allocated if all(allocated.values()) else {k: part for k, part in allocated.items() if part}
    if each.running and each.actual is not None:
        sides = [side for side in SIDES if side in resources]
        resources = {**resources, **{side: _running_with(each, side) for side in sides}}
    fields: dict[str, Any] = {"resources": resources}
    if allocated.get("requests"):
        fields["allocatedResources"] = allocated["requests"]
    return fields


def _running_with(each: ContainerRun, side: str) -> Amounts:
    """What a container runs with of what was allocated to it; memory that it had not asked for before is 0."""
    allocated, actual = (each.allocated or {})[side], (each.actual or {}).get(side) or {}
    default = {MEMORY: "0"} if side == "requests" and MEMORY in allocated else {}
    return {
        **allocated,
        **default,
        **{name: actual[name] for name in RESIZABLE if name in actual and name in allocated},
    }


def reported_by(pod: Pod, run: PodRun, setting: Setting, timestamp: str) -> PodRun:
    """A pod that ran already, with what its status says of its resources and of a resize."""
    status = pod.manifest.get("status") or {}
    said = [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]
    conditions = {each.get("type"): {"lastTransitionTime": timestamp, **each} for each in pod.conditions}
    pending, in_progress = (conditions.get(kind) for kind in ("PodResizePending", "PodResizeInProgress"))

    def adopt(container: Container, each: ContainerRun) -> ContainerRun:
        found: Container = next((one for one in said if one.get("name") == each.name), {})
        return _adopted(each, resources_of(container), found, pending is not None)

    run = replace(_mapped(run, setting, adopt), pending=pending, in_progress=in_progress)
    return replace(run, actuates_at=setting.now) if outstanding(run) or in_progress else run


def _adopted(each: ContainerRun, wanted: Amounts, status: Mapping[str, Any], pending: bool) -> ContainerRun:
    """A container that ran already. `pending`: its pod has a resize that was not granted."""
    actual = status.get("resources")
    if actual is None:
        return replace(each, allocated=wanted)
    given = status.get("allocatedResources")
    requests = _with(wanted.get("requests"), (actual.get("requests") if given is None else given) or {})
    pending = pending or not alike({"requests": requests}, {"requests": wanted.get("requests")})
    limits = _with(wanted.get("limits"), actual.get("limits") or {}) if pending else wanted.get("limits")
    allocated = {side: amounts for side, amounts in (("limits", limits), ("requests", requests)) if amounts}
    allocated = dict(wanted) if alike(allocated, wanted) else allocated
    done = not each.running or alike(_sized(actual), _sized(allocated))
    return replace(each, allocated=allocated, actual=None if done else actual)


def _with(wanted: Amounts | None, said: Amounts) -> Amounts:
    """A list whose cpu and memory are another's."""
    others = {name: amount for name, amount in (wanted or {}).items() if name not in RESIZABLE}
    return {**others, **{name: said[name] for name in RESIZABLE if name in said}}


def completion(run: PodRun) -> str:
    """The message of the Event that tells of a completed resize."""
    parts = {
        field: [{"name": each.name, "resources": _listed(each.allocated or {})} for each in runs]
        for field, runs in zip(_FIELDS, (run.init, run.containers), strict=True)
        if runs
    }
    return f"Pod resize completed: {json.dumps(parts, separators=(',', ':'))}"


def _listed(resources: Amounts) -> Amounts:
    return {side: dict(sorted(resources[side].items())) for side in SIDES if resources.get(side)}
