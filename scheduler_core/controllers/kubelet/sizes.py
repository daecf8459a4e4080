"""Resources of containers on a node: requested, allocated by the kubelet, and actual. Pure functions of the kubelet's state.

`ContainerRun.allocated` is what the kubelet granted; `actual` is what the container runs with, if that differs.

kube: pkg/kubelet/allocation/allocation_manager.go (updatePodFromAllocation, isPodResizeInProgress, podResizeCompletionMsg),
pkg/kubelet/kuberuntime/kuberuntime_manager.go (computePodResizeAction), pkg/kubelet/kubelet_pods.go (convertContainerStatusResources) @
v1.34.1
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from scheduler_core.apimachinery.objects import SECOND, Pod, nanos
from scheduler_core.apimachinery.objects.resources import CPU, MEMORY, is_sidecar
from scheduler_core.controllers.kubelet.containers import Setting, terminate
from scheduler_core.controllers.memory.kubelet import ContainerRun, PodRun

Container = Mapping[str, Any]
Amounts = Mapping[str, Any]  # requests and limits
SIDES = ("limits", "requests")
RESIZABLE = (CPU, MEMORY)
_FIELDS = ("initContainers", "containers")


def get_resources(container: Container) -> Amounts:
    """Return the requests and limits of a container."""
    resources: Amounts = container.get("resources") or {}
    return resources


def are_alike(one: Amounts, other: Amounts) -> bool:
    """Return whether two pairs of requests and limits are equal, however they are written."""
    return one == other or all(_measure(one, side) == _measure(other, side) for side in SIDES)


def _measure(resources: Amounts, side: str) -> dict[str, int]:
    return {name: nanos(quantity) for name, quantity in (resources.get(side) or {}).items()}


def asks_otherwise(old: Pod, new: Pod) -> bool:
    """Return whether a change of a pod is a resize: cpu or memory of a container or a sidecar differ."""
    before = {container["name"]: container for container in _list_resizable(old)}
    return any(
        not are_alike(
            _keep_resizable(get_resources(container)), _keep_resizable(get_resources(before[container["name"]]))
        )
        for container in _list_resizable(new)
        if container["name"] in before
    )


def _list_resizable(pod: Pod) -> Iterator[Container]:
    spec = pod.manifest["spec"]
    yield from (each for each in spec.get("initContainers") or () if is_sidecar(each))
    yield from spec.get("containers") or ()


def _keep_resizable(resources: Amounts) -> Amounts:
    """Return cpu and memory without zeros."""
    return {
        side: {
            name: amount for name, amount in (resources.get(side) or {}).items() if name in RESIZABLE and nanos(amount)
        }
        for side in SIDES
    }


def size_as_allocated(pod: Pod, run: PodRun) -> Pod:
    """Return the pod with the allocated resources as its requests; the same pod object if they are equal."""
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
    return are_alike(each.allocated or {}, get_resources(container))


def grant_all(run: PodRun, setting: Setting) -> PodRun:
    """Allocate the requested resources. Running containers keep their actual resources until they are resized."""

    def grant(container: Container, each: ContainerRun) -> ContainerRun:
        wanted = get_resources(container)
        actual = (each.actual or each.allocated or {}) if each.running else None
        done = actual is None or are_alike(_keep_resizable(actual), _keep_resizable(wanted))
        return replace(each, allocated=wanted, actual=None if done else actual)

    return _map_containers(run, setting, grant)


def _map_containers(run: PodRun, setting: Setting, change: Callable[[Container, ContainerRun], ContainerRun]) -> PodRun:
    init = tuple(change(container, each) for container, each in zip(setting.init, run.init, strict=True))
    regular = zip(setting.regular, run.containers, strict=True)
    return replace(run, init=init, containers=tuple(change(container, each) for container, each in regular))


def has_outstanding(run: PodRun) -> bool:
    """Return whether a container does not run with its allocated resources."""
    return any(each.running and each.actual is not None for each in run.all)


def resize_due(run: PodRun, setting: Setting) -> PodRun:
    """Resize containers: by a restart if their resizePolicy asks for one, else in place at `actuates_at`."""
    if run.kill is not None or not has_outstanding(run):
        return run
    in_place = run.actuates_at is not None and setting.now >= run.actuates_at
    until = setting.now + max(setting.pod.spec.termination_grace_seconds, 1) * SECOND

    def size(container: Container, each: ContainerRun) -> ContainerRun:
        if not each.running or each.actual is None:
            return each
        if _needs_restart(container, each.actual, each.allocated or {}):
            return terminate(replace(each, changed=True), setting, until)
        return replace(each, actual=None) if in_place else each

    return _map_containers(run, setting, size)


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


def report_resources(each: ContainerRun) -> dict[str, Any]:
    """Return the fields of a container status about resources: the actual ones, and the allocated ones."""
    allocated = each.allocated or {}
    resources = allocated if all(allocated.values()) else {k: part for k, part in allocated.items() if part}
    if each.running and each.actual is not None:
        sides = [side for side in SIDES if side in resources]
        resources = {**resources, **{side: _merge_actual(each, side) for side in sides}}
    fields: dict[str, Any] = {"resources": resources}
    if allocated.get("requests"):
        fields["allocatedResources"] = allocated["requests"]
    return fields


def _merge_actual(each: ContainerRun, side: str) -> Amounts:
    """Merge actual amounts into the allocated ones. A newly added memory request is 0 until it is actuated."""
    allocated, actual = (each.allocated or {})[side], (each.actual or {}).get(side) or {}
    default = {MEMORY: "0"} if side == "requests" and MEMORY in allocated else {}
    return {
        **allocated,
        **default,
        **{name: actual[name] for name in RESIZABLE if name in actual and name in allocated},
    }


def adopt_sizes(pod: Pod, run: PodRun, setting: Setting, timestamp: str) -> PodRun:
    """Adopt the resources and the resize of a running pod from its status."""
    status = pod.manifest.get("status") or {}
    said = [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]
    conditions = {each.get("type"): {"lastTransitionTime": timestamp, **each} for each in pod.conditions}
    pending, in_progress = (conditions.get(kind) for kind in ("PodResizePending", "PodResizeInProgress"))

    def adopt(container: Container, each: ContainerRun) -> ContainerRun:
        found: Container = next((one for one in said if one.get("name") == each.name), {})
        return _adopt(each, get_resources(container), found, pending is not None)

    run = replace(_map_containers(run, setting, adopt), pending=pending, in_progress=in_progress)
    return replace(run, actuates_at=setting.now) if has_outstanding(run) or in_progress else run


def _adopt(each: ContainerRun, wanted: Amounts, status: Mapping[str, Any], pending: bool) -> ContainerRun:
    """Adopt the resources of a running container. `pending`: a resize of its pod was not granted."""
    actual = status.get("resources")
    if actual is None:
        return replace(each, allocated=wanted)
    given = status.get("allocatedResources")
    requests = _replace_resizable(wanted.get("requests"), (actual.get("requests") if given is None else given) or {})
    pending = pending or not are_alike({"requests": requests}, {"requests": wanted.get("requests")})
    limits = _replace_resizable(wanted.get("limits"), actual.get("limits") or {}) if pending else wanted.get("limits")
    allocated = {side: amounts for side, amounts in (("limits", limits), ("requests", requests)) if amounts}
    allocated = dict(wanted) if are_alike(allocated, wanted) else allocated
    done = not each.running or are_alike(_keep_resizable(actual), _keep_resizable(allocated))
    return replace(each, allocated=allocated, actual=None if done else actual)


def _replace_resizable(wanted: Amounts | None, said: Amounts) -> Amounts:
    """Return a list with the cpu and memory of another."""
    others = {name: amount for name, amount in (wanted or {}).items() if name not in RESIZABLE}
    return {**others, **{name: said[name] for name in RESIZABLE if name in said}}


def describe_completion(run: PodRun) -> str:
    """Write the message of the Event ResizeCompleted."""
    parts = {
        field: [{"name": each.name, "resources": _list_resources(each.allocated or {})} for each in runs]
        for field, runs in zip(_FIELDS, (run.init, run.containers), strict=True)
        if runs
    }
    return f"Pod resize completed: {json.dumps(parts, separators=(',', ':'))}"


def _list_resources(resources: Amounts) -> Amounts:
    return {side: dict(sorted(resources[side].items())) for side in SIDES if resources.get(side)}
