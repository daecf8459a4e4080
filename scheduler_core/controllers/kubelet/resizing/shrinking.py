"""Memory limits that are lowered: not below what is in use. The kubelet tries again when less is used.

kube: pkg/kubelet/kuberuntime/kuberuntime_manager.go (validateMemoryResizeAction), pkg/kubelet/cm/helpers_linux.go (ResourceConfigForPod)
@ v1.34.1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apimachinery.objects.quantity import value
from scheduler_core.controllers.contract import World
from scheduler_core.controllers.inputs.usage import book_of
from scheduler_core.controllers.kubelet.claims import NOT_YET
from scheduler_core.controllers.kubelet.eviction.observations import PodStats, stats_of
from scheduler_core.controllers.kubelet.sizes import has_outstanding
from scheduler_core.controllers.kubelet.status import RESIZE_IN_PROGRESS, make_resize_condition
from scheduler_core.controllers.memory.kubelet import ContainerRun, PodRun

ERROR = "Error"


def check_limits(world: World, pod: Pod, run: PodRun) -> PodRun:
    """Put a due resize off if it would lower a memory limit below current usage, with the reason Error."""
    failed = (run.in_progress or {}).get("reason") == ERROR
    due = failed or (run.actuates_at is not None and run.actuates_at <= world.now)
    if run.kill is not None or not due or not has_outstanding(run):
        return run
    problems = list(_find_problems(run, stats_of(world, pod)))
    if not problems:
        return replace(run, actuates_at=world.now)
    text = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
    message, now = f"cannot decrease memory limits: {text}", world.store.timestamp(world.now)
    condition = make_resize_condition(pod, now, run.in_progress, RESIZE_IN_PROGRESS, ERROR, message)
    generation = (run.in_progress or condition).get("observedGeneration")
    later = next(book_of(world.surroundings.inputs.usage).of_pod(pod).after(world.now), NOT_YET)
    return replace(run, in_progress={**condition, "observedGeneration": generation}, actuates_at=later)


def _find_problems(run: PodRun, stats: PodStats) -> Iterator[str]:
    lowered = [each for each in run.all if each.running and each.actual is not None and _is_lowered(each)]
    used, below = stats.get("memory"), "memory limit ({}) below current usage ({})"
    before, after = (_sum_limits(run, actual) for actual in (True, False))
    if after and (not before or after < before) and used >= after:
        yield f"attempting to set pod {below.format(after, used)}"
    for each in lowered:
        limit = _read_limit(each.allocated)
        if stats.share("memory", each.name) >= limit:
            yield f'attempting to set container "{each.name}" {below.format(limit, used)}'


def _is_lowered(each: ContainerRun) -> bool:
    before, after = _read_limit(each.actual), _read_limit(each.allocated)
    return after > 0 and (not before or after < before)


def _sum_limits(run: PodRun, actual: bool) -> int:
    """Add up the memory limits of running containers; 0 if one has none."""
    limits = [_read_limit(each.actual if actual and each.actual is not None else each.allocated) for each in run.all]
    return sum(limits) if all(limits) else 0


def _read_limit(resources: Mapping[str, Any] | None) -> int:
    return value(((resources or {}).get("limits") or {}).get("memory", 0))
