"""A pod's containers over time: starts, restarts, back-offs, and ends. Pure functions of the kubelet's state.

Init containers run one after the other, sidecars (restartPolicy Always) beside the following containers; then the others start at once.
An ended container restarts at once the first time, then 10 s, 20 s ... 300 s after its end; a long run resets the back-off.

kube: pkg/kubelet/kuberuntime/{kuberuntime_manager,kuberuntime_container,kuberuntime_termination_order}.go,
client-go/util/flowcontrol/backoff.go @ v1.34.1
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from scheduler_core.apimachinery.objects import SECOND, Pod, is_sidecar
from scheduler_core.controllers.inputs.programs import KILL_EXIT, Program, program_of
from scheduler_core.controllers.memory.kubelet import ContainerEnd, ContainerRun, PodRun

FIRST_PAUSE, LONGEST_PAUSE = 10 * SECOND, 300 * SECOND
_LEAST_GRACE = 2 * SECOND  # between SIGTERM and SIGKILL, after a preStop hook or other containers
COMPLETED, ERROR = "Completed", "Error"


@dataclass(frozen=True, slots=True)
class Setting:
    """The inputs to a pod's containers besides their own past."""

    pod: Pod
    created: int  # ns
    programs: tuple[Program, ...]
    now: int
    first_pause: int = FIRST_PAUSE
    longest_pause: int = LONGEST_PAUSE

    @property
    def restart_policy(self) -> str:
        return str(self.pod.manifest["spec"].get("restartPolicy") or "Always")

    @property
    def init(self) -> Sequence[Mapping[str, Any]]:
        return self.pod.manifest["spec"].get("initContainers") or ()

    @property
    def regular(self) -> Sequence[Mapping[str, Any]]:
        return self.pod.manifest["spec"].get("containers") or ()

    def waits(self, run: ContainerRun) -> bool:
        """Return whether an ended container must be restarted, unless the pod is being terminated."""
        for container in self.init:
            if container.get("name") == run.name:
                return is_sidecar(container) or (run.exit_code != 0 and self.restart_policy != "Never")
        return _restarts(run, self.restart_policy)

    def pre_stop(self, container: str) -> int:
        """Return the preStop sleep of a container before SIGTERM (ns)."""
        for each in (*self.init, *self.regular):
            if each.get("name") == container and each.get("lifecycle"):
                sleep = (each["lifecycle"].get("preStop") or {}).get("sleep") or {}
                return int(sleep.get("seconds") or 0) * SECOND
        return 0

    def program(self, container: str) -> Program:
        return program_of(self.programs, self.pod.labels, self.created, container)

    def ready(self, run: ContainerRun) -> bool:
        """Return whether a container is ready."""
        return run.started is not None and run.running and self.program(run.name).ready(self.now, run.started)


def new_runs(containers: Sequence[Mapping[str, Any]]) -> tuple[ContainerRun, ...]:
    """Return the containers of a pod in their state before the first start."""
    return tuple(
        ContainerRun(
            str(container.get("name") or ""),
            str(container.get("image") or ""),
            allocated=container.get("resources") or {},
        )
        for container in containers
    )


def record_ends(run: PodRun, now: int) -> PodRun:
    """Return the run with its past ends recorded."""
    if not any(_is_over(each, now) for each in run.all):
        return run
    return run.with_each(lambda each: _record_end(each, now))


def advance_run(run: PodRun, setting: Setting) -> PodRun:
    """Return the run after the kubelet's starts, restarts, and stops; ends must be observed first."""
    if run.kill is not None:
        return _terminate_containers(run, setting, run.kill.until)
    if setting.now < run.starts_at:
        return run
    begun = any(each.starts for each in run.containers)
    if is_finished(run, setting):
        grace = setting.pod.spec.termination_grace_seconds
        return _terminate_containers(run, setting, setting.now + max(grace, 1) * SECOND)
    run = _with_new_images(run, setting)
    init = _advance_init(run, setting, begun)
    run = replace(run, init=init)
    if not begun and not is_initialized(run, setting):
        return run
    return replace(
        run,
        containers=tuple(
            _start_if_due(each, setting, each.changed or _restarts(each, setting.restart_policy))
            for each in run.containers
        ),
    )


def is_initialized(run: PodRun, setting: Setting) -> bool:
    """Return whether all init containers have succeeded and all sidecars are running."""
    return all(
        each.running if is_sidecar(container) else each.ended is not None and each.exit_code == 0
        for container, each in zip(setting.init, run.init, strict=True)
    )


def is_finished(run: PodRun, setting: Setting) -> bool:
    """Return True if no regular container runs or will run again."""
    return all(
        each.ended is not None and not each.changed and not _restarts(each, setting.restart_policy)
        for each in run.containers
    ) or (setting.restart_policy == "Never" and has_failed_init(run, setting))


def has_failed_init(run: PodRun, setting: Setting) -> bool:
    """Return whether an init container has failed, at least for now."""
    return any(
        not is_sidecar(container) and each.ended is not None and each.exit_code != 0
        for container, each in zip(setting.init, run.init, strict=True)
    )


def next_moment(run: PodRun, setting: Setting) -> int | None:
    """Return the next time (ns) at which the pod must be synced if nothing else happens."""
    return min((at for at in _moments(run, setting) if at > setting.now), default=None)


def pause_ends(each: ContainerRun) -> int | None:
    """Return the end of a container's back-off (ns); None if there is no back-off."""
    if each.ended is None or not each.pause:
        return None
    return each.ended + each.pause


def _moments(run: PodRun, setting: Setting) -> Iterator[int]:
    if run.kill is None and not any(each.starts for each in run.all):
        yield run.starts_at
    for each in run.all:
        if each.running:
            if each.ends is not None:
                yield each.ends
            assert each.started is not None
            change = setting.program(each.name).next_change(setting.now, each.started)
            if change is not None:
                yield change
        elif run.kill is None and (over := pause_ends(each)) is not None and setting.waits(each):
            yield over


def _is_over(each: ContainerRun, now: int) -> bool:
    return each.running and each.ends is not None and each.ends <= now


def _record_end(each: ContainerRun, now: int) -> ContainerRun:
    if not _is_over(each, now):
        return each
    reason = each.reason or (COMPLETED if each.exit_code == 0 else ERROR)
    return replace(each, ended=each.ends, ends=None, reason=reason)


def _restarts(each: ContainerRun, policy: str) -> bool:
    """Return whether the restart policy restarts a container. kube: pkg/kubelet/container/helpers.go ShouldContainerBeRestarted."""
    return policy == "Always" or (policy == "OnFailure" and each.exit_code != 0)


def _with_new_images(run: PodRun, setting: Setting) -> PodRun:
    """Terminate containers whose image has changed. They restart with the new image, regardless of the policy."""
    until = setting.now + max(setting.pod.spec.termination_grace_seconds, 1) * SECOND
    containers = list(run.containers)
    for i, container in enumerate(setting.regular):
        image = str(container.get("image") or "")
        if containers[i].image != image:
            changed = replace(containers[i], image=image, changed=containers[i].running)
            containers[i] = terminate(changed, setting, until)
    return replace(run, containers=tuple(containers))


def _advance_init(run: PodRun, setting: Setting, begun: bool) -> tuple[ContainerRun, ...]:
    """Start the next due init container. Once regular containers have started, restart only sidecars."""
    new = list(run.init)
    for i, container in enumerate(setting.init):
        if is_sidecar(container):
            new[i] = _start_if_due(new[i], setting, True)
            if begun or new[i].running:
                continue
            break
        if begun or (new[i].ended is not None and new[i].exit_code == 0):
            continue
        new[i] = _start_if_due(new[i], setting, setting.restart_policy != "Never")
        break
    return tuple(new)


def _start_if_due(each: ContainerRun, setting: Setting, restarts: bool) -> ContainerRun:
    if each.running or (each.ended is not None and not restarts):
        return each
    now = setting.now
    if each.ended is None:
        return _start(each, setting)
    # An entry of the back-off is forgotten when the container ran for twice the longest pause.
    forgotten = not each.pause or each.ended - each.paused_at > 2 * setting.longest_pause
    if not forgotten and now - each.ended < each.pause:
        return each
    pause = setting.first_pause if forgotten else min(each.pause * 2, setting.longest_pause)
    return _start(replace(each, pause=pause, paused_at=now), setting)


def _start(each: ContainerRun, setting: Setting) -> ContainerRun:
    length, exit_code = setting.program(each.name).run(each.starts)
    last = each.last
    if each.started is not None and each.ended is not None:
        last = ContainerEnd(each.started, each.ended, each.exit_code, each.reason)
    return replace(
        each,
        starts=each.starts + 1,
        started=setting.now,
        ends=None if length is None else setting.now + length,
        ended=None,
        exit_code=exit_code,
        reason="",
        signalled=False,
        changed=False,
        last=last,
        actual=None,
    )


# the end


def _terminate_containers(run: PodRun, setting: Setting, until: int) -> PodRun:
    """Send SIGTERM: to regular containers at once, to sidecars after them, the last one first."""
    containers = tuple(terminate(each, setting, until) for each in run.containers)
    init = list(run.init)
    waiting = any(each.running for each in containers) and setting.now < until
    for i in reversed(range(len(init))):
        if not is_sidecar(setting.init[i]):
            init[i] = terminate(init[i], setting, until)
        elif not waiting:
            init[i] = terminate(init[i], setting, max(until, setting.now + _LEAST_GRACE))
            waiting = init[i].running and setting.now < until
    return replace(run, init=tuple(init), containers=containers)


def terminate(each: ContainerRun, setting: Setting, until: int) -> ContainerRun:
    """Terminate a container: SIGTERM, then SIGKILL at `until`. If SIGTERM was sent before, its deadline can only become earlier."""
    if not each.running:
        return each
    if each.signalled:
        if each.ends is not None and each.ends <= until:
            return each
        return replace(each, ends=until, exit_code=KILL_EXIT)
    program = setting.program(each.name)
    signal = min(setting.now + setting.pre_stop(each.name), until)
    until = max(until, signal + _LEAST_GRACE) if signal > setting.now else until
    ends, code = until, KILL_EXIT
    if program.term_after is not None and signal + program.term_after <= until:
        ends, code = signal + program.term_after, program.term_exit
    if each.ends is not None and each.ends <= ends:
        ends, code = each.ends, each.exit_code
    return replace(each, ends=ends, exit_code=code, signalled=True)
