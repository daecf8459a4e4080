"""The kubelet's sync of one pod: admit it, run its containers, terminate it, and write its status.

The phase Failed or Succeeded is written when no container of the pod runs any longer; a deleted pod is removed then.

DEVIATION: the creation of containers is written only if it takes longer than 2 s, because each write costs time in every watcher.

kube: pkg/kubelet/{kubelet,pod_workers,active_deadline}.go, pkg/kubelet/status/status_manager.go @ v1.34.1
"""

from dataclasses import dataclass, replace
from functools import partial

from scheduler_core.apimachinery.objects import SECOND, Node, Pod, is_sidecar, parse_time
from scheduler_core.apiserver.kube_events import NORMAL, WARNING, KubeEvent
from scheduler_core.apiserver.server import Preconditions
from scheduler_core.controllers.contract import World
from scheduler_core.controllers.inputs.programs import KILL_EXIT
from scheduler_core.controllers.kubelet import admission, devices, images, sizes, status
from scheduler_core.controllers.kubelet.containers import (
    Setting,
    advance_run,
    is_finished,
    new_runs,
    next_moment,
    pause_ends,
    record_ends,
)
from scheduler_core.controllers.kubelet.devices import NOT_YET, missing, schedule_start
from scheduler_core.controllers.kubelet.sizes import size_as_allocated
from scheduler_core.controllers.memory.kubelet import ContainerRun, Kill, PodRun

COMPONENT = "kubelet"
STARTED, KILLING, BACK_OFF, DEADLINE = "Started", "Killing", "BackOff", "DeadlineExceeded"
RESIZE_COMPLETED = "ResizeCompleted"
OVERDUE = 30 * SECOND  # the longest time from the end of a grace period to the removal of the pod
SOON = 2 * SECOND  # pods that start within this time get no status write before they run
_TOO_LONG = "Pod was active on the node longer than the specified deadline"


@dataclass(frozen=True, slots=True)
class SyncResult:
    """A description of a pod's sync, and the time of the next one (ns; None: when something happens)."""

    text: str = ""
    again: int | None = None


def setting_of(world: World, pod: Pod) -> Setting:
    """Return the present inputs to the pod's containers."""
    created = 0 if pod.creation_time is None else pod.creation_time - world.store.epoch
    kubelet = world.cluster.kubelet_of(pod.node_name)
    programs = world.surroundings.inputs.programs
    return Setting(pod, created, programs, world.now, kubelet.first_pause, kubelet.longest_pause)


def adopt_running_pod(world: World, pod: Pod) -> PodRun:
    """Adopt a pod that ran already when the kubelet first saw it."""
    setting = setting_of(world, pod)
    started = world.now if pod.start_time is None else min(pod.start_time - world.store.epoch, world.now)

    def running(run: ContainerRun) -> ContainerRun:
        length, exit_code = setting.program(run.name).run(0)
        ends = None if length is None else max(started + length, world.now)
        return replace(run, starts=1, started=started, ends=ends, exit_code=exit_code)

    init = tuple(
        running(run) if is_sidecar(c) else replace(run, starts=1, started=started, ended=started, reason="Completed")
        for c, run in zip(setting.init, new_runs(setting.init), strict=True)
    )
    containers = tuple(running(run) for run in new_runs(setting.regular))
    run = PodRun(pod.uid, pod.node_name, started, started, init, containers)
    return sizes.adopt_sizes(pod, run, setting, world.store.timestamp(world.now))


def adopt_terminating_pod(world: World, pod: Pod) -> None:
    """Adopt a terminating pod that still runs: it ignores SIGTERM, and is killed at the end of its grace period."""
    memory, run = world.surroundings.kubelet, adopt_running_pod(world, pod)
    meta = pod.manifest["metadata"]
    grace = max(int(meta.get("deletionGracePeriodSeconds") or 0), 1)
    until = max(parse_time(meta["deletionTimestamp"]) - world.store.epoch, world.now)

    def ending(each: ContainerRun) -> ContainerRun:
        return replace(each, ends=until, exit_code=KILL_EXIT, signalled=True) if each.running else each

    kill = Kill(until - grace * SECOND, until, grace)
    memory.put(pod.key, replace(run.with_each(ending), kill=kill))


def is_overdue(world: World, pod: Pod, at: int = 0) -> bool:
    """Return whether a kubelet had not ended a pod by a time (ns), though it had reported since the grace period was over.

    A pod that was overdue when this world began (0) is blocked by something outside of the kubelet, such as a process on a lost mount.
    """
    if not pod.deleting:
        return False
    node, meta = world.store.node(pod.node_name), pod.manifest["metadata"]
    conditions = () if node is None else (node.manifest.get("status") or {}).get("conditions") or ()
    ready = [each for each in conditions if (each.get("type"), each.get("status")) == ("Ready", "True")]
    since = [each.get("lastTransitionTime") for each in ready]
    if not since or not since[0]:
        return False
    return max(parse_time(meta["deletionTimestamp"]), parse_time(since[0])) + OVERDUE < world.store.epoch + at


def arrive(world: World, pod: Pod, node: Node) -> SyncResult:
    """Admit a pod or reject it permanently. A critical pod may preempt others; it starts when they have ended."""
    memory, setting = world.surroundings.kubelet, setting_of(world, pod)
    pulling = images.pull_time(world, images.missing(world, pod, node))
    refusal, starts_at, ended = admit(world, pod, node)
    if refusal is not None:
        return refuse(world, pod, refusal)
    text = "admitted the pod and creates its containers"
    if ended:
        text = f"{text} when {', '.join(victim.key for victim in ended)} have terminated"
    lacks = missing(world, pod)
    run = PodRun(
        pod.uid,
        pod.node_name,
        world.now,
        NOT_YET if lacks else starts_at + pulling + world.settings.pod_start_latency,
        new_runs(setting.init),
        new_runs(setting.regular),
    )
    if run.starts_at - world.now > SOON:
        _write(world, pod, run, setting, terminal=False)
    memory.put(pod.key, run)
    if lacks:
        devices.report(world, pod, lacks, COMPONENT)
        return SyncResult(f"admitted the pod but did not start its containers: {lacks}", _again(pod, run, setting))
    return SyncResult(text, run.starts_at)


def judge(world: World, pod: Pod, node: Node) -> tuple[admission.Refusal | None, list[Pod]]:
    """Return why a kubelet would refuse a pod now, or which pods it would preempt to admit the pod."""
    refusal = admission.find_early_refusal(pod, node, world.surroundings.kubelet.pressure.get(node.name, ()))
    if refusal is not None:
        return refusal, []
    others = [other for other in active(world, node.name) if other.key != pod.key]
    found = admission.refusals(pod, node, others)
    if not found or not admission.is_critical(pod):
        return next(iter(found), None), []
    # Preemption frees resources only; a reason of another kind would remain, and the victims would end in vain.
    if not all(each.resource for each in found):
        return next(each for each in found if not each.resource), []
    try:
        return None, admission.victims(pod, others, [(each.resource, each.missing) for each in found])
    except admission.NoSuchPods as problem:
        why = f"Unexpected error while attempting to recover from admission failure: {problem}"
        return admission.Refusal("UnexpectedAdmissionError", why), []


def admit(world: World, pod: Pod, node: Node) -> tuple[admission.Refusal | None, int, list[Pod]]:
    """Run admission for a pod. Return the refusal, or the time (ns) from which there is room, and the preempted pods."""
    refusal, chosen = judge(world, pod, node)
    ends = [_preempt_pod(world, victim) for victim in chosen]
    return refusal, max(ends, default=world.now), chosen


def active(world: World, node: str) -> list[Pod]:
    """List the pods of a node that were admitted and have not ended, as they were sized, in the order of admission."""
    memory = world.surroundings.kubelet
    found = [world.store.pod_at(key) for key in memory.on_node.get(node, ())]
    return [
        size_as_allocated(pod, memory.pods[pod.key]) if pod.key in memory.asking else pod
        for pod in found
        if pod is not None and not pod.terminal
    ]


def end(world: World, pod: Pod, grace: int | None, reason: str, message: str, disruption: str = "") -> int:
    """Terminate a pod for the kubelet's own reasons, within `grace` seconds (None: the pod's). Return the time (ns) of its end."""
    memory, now = world.surroundings.kubelet, world.now
    run = memory.pods[pod.key]
    # kube's pod worker gives every pod at least one second (calculateEffectiveGracePeriod).
    seconds = max(pod.spec.termination_grace_seconds if grace is None else grace, 1)
    if run.kill is not None:
        seconds = min(seconds, run.kill.grace)
        until = min(now + seconds * SECOND, run.kill.until)
        kill = replace(run.kill, until=until, grace=seconds, reason=reason, message=message, disruption=disruption)
    else:
        kill = Kill(now, now + seconds * SECOND, seconds, reason, message, disruption)
    memory.put(pod.key, replace(run, kill=kill))
    world.controller(COMPONENT).enqueue(world, pod.key, 0)
    setting = setting_of(world, pod)
    if any(each.running for each in run.init):
        return kill.until
    signalled = advance_run(record_ends(memory.pods[pod.key], now), setting)
    return max((each.ends for each in signalled.containers if each.running and each.ends is not None), default=now)


def _preempt_pod(world: World, victim: Pod) -> int:
    _record(world, victim, WARNING, admission.PREEMPTING, admission.MESSAGE)
    return end(world, victim, None, admission.PREEMPTING, admission.MESSAGE, admission.CONDITION)


def refuse(world: World, pod: Pod, refusal: admission.Refusal) -> SyncResult:
    """Fail a pod that the node rejects."""
    fields = status.build_refused_status(setting_of(world, pod), refusal.reason, refusal.message, world.store.timestamp)
    world.store.patch_pod_status(pod.key, world.now, fields=fields)
    _record(world, pod, WARNING, refusal.reason, refusal.message)
    return SyncResult(f"refused the pod: {refusal.message}")


def look_after(world: World, pod: Pod, before: PodRun) -> SyncResult:
    """Sync an admitted pod."""
    setting = setting_of(world, pod)
    run = record_ends(schedule_start(world, pod, before), world.now)
    run = _with_kill(world, pod, run)
    run = record_ends(advance_run(sizes.resize_due(run, setting), setting), world.now)
    run = _note_progress(world, pod, run)
    over = not any(each.running for each in run.all)
    terminal = over and (run.kill is not None or (is_finished(run, setting) and world.now >= run.starts_at))
    _record_events(world, pod, before, run, setting)
    _write(world, pod, run, setting, terminal)
    memory = world.surroundings.kubelet
    text = _text(before, run)
    if not terminal:
        memory.put(pod.key, run)
        return SyncResult(text, _again(pod, run, setting))
    memory.drop(pod.key)
    if pod.deleting:
        world.api.delete(("Pod", pod.namespace, pod.name), 0, preconditions=Preconditions(pod.uid))
        text = f"{text}; removed the pod, whose containers have stopped".removeprefix("; ")
    return SyncResult(text)


def remove(world: World, pod: Pod) -> SyncResult:
    """Remove a deleted pod none of whose containers has run here."""
    world.api.delete(("Pod", pod.namespace, pod.name), 0, preconditions=Preconditions(pod.uid))
    return SyncResult("removed the deleted pod, which has no running containers")


def _with_kill(world: World, pod: Pod, run: PodRun) -> PodRun:
    """Begin the pod's end if the pod was deleted or its deadline is over; a shorter grace period replaces a longer one."""
    now = world.now
    if pod.deleting:
        grace = max(int(pod.manifest["metadata"].get("deletionGracePeriodSeconds") or 0), 1)
        if run.kill is None:
            return replace(run, kill=Kill(now, now + grace * SECOND, grace))
        if grace < run.kill.grace:
            until = min(run.kill.until, now + grace * SECOND)
            return replace(run, kill=replace(run.kill, until=until, grace=grace))
    deadline = _deadline(pod, run)
    if run.kill is None and deadline is not None and now >= deadline:
        grace = max(pod.spec.termination_grace_seconds, 1)
        return replace(run, kill=Kill(now, now + grace * SECOND, grace, DEADLINE, _TOO_LONG))
    return run


def _note_progress(world: World, pod: Pod, run: PodRun) -> PodRun:
    """Set the condition PodResizeInProgress while a container is not yet resized, and clear it afterwards."""
    if run.kill is not None or sizes.has_outstanding(run) == (run.in_progress is not None):
        return run
    if run.in_progress is not None:
        return replace(run, in_progress=None, actuates_at=None)
    now = world.store.timestamp(world.now)
    return replace(run, in_progress=status.make_resize_condition(pod, now, None, status.RESIZE_IN_PROGRESS))


def _deadline(pod: Pod, run: PodRun) -> int | None:
    """Return the end of activeDeadlineSeconds (ns), counted from the pod's admission on the node."""
    seconds = pod.manifest["spec"].get("activeDeadlineSeconds")
    return None if seconds is None else run.admitted + int(seconds) * SECOND


def _again(pod: Pod, run: PodRun, setting: Setting) -> int | None:
    moments = [next_moment(run, setting)]
    if run.kill is None:
        moments.append(_deadline(pod, run))
        if run.actuates_at is not None and run.actuates_at > setting.now:
            moments.append(run.actuates_at)
    return min((at for at in moments if at is not None and at != NOT_YET), default=None)


def _write(world: World, pod: Pod, run: PodRun, setting: Setting, terminal: bool) -> None:
    phase = status.phase_of(run, setting, terminal)
    if terminal and run.kill is not None and run.kill.reason:
        phase = status.FAILED
    fields = status.status_of(run, setting, phase, world.store.timestamp)
    world.store.patch_pod_status(pod.key, world.now, fields=fields)


def _record(world: World, pod: Pod, type_: str, reason: str, message: str) -> None:
    world.store.record(KubeEvent(world.now, type_, reason, "Pod", pod.namespace, pod.name, message, COMPONENT))


def _record_events(world: World, pod: Pod, before: PodRun, run: PodRun, setting: Setting) -> None:
    """Record the Kubernetes Events of the changes."""
    event = partial(_record, world, pod)
    if any(new.starts > old.starts for old, new in zip(before.all, run.all, strict=True)):
        for name in images.mark_pulled(world, pod):
            size = world.surroundings.kubelet.image_sizes[name]
            event(NORMAL, images.PULLED, f'Successfully pulled image "{name}". Image size: {size} bytes.')

    if before.in_progress is not None and run.in_progress is None:
        event(NORMAL, RESIZE_COMPLETED, sizes.describe_completion(run))
    if run.kill is not None and before.kill is None and run.kill.reason == DEADLINE:
        event(NORMAL, DEADLINE, _TOO_LONG)
    for old, new in zip(before.all, run.all, strict=True):
        if new.starts > old.starts:
            event(NORMAL, STARTED, f"Started container {new.name}")
        if new.signalled and not old.signalled:
            event(NORMAL, KILLING, _explain_end(old, new))
        over = pause_ends(new)
        if new.ended is not None and old.ended is None and over is not None and over > world.now:
            if run.kill is None and setting.waits(new):
                pod_name = f"{pod.name}_{pod.namespace}({pod.uid})"
                event(WARNING, BACK_OFF, f"Back-off restarting failed container {new.name} in pod {pod_name}")


def _explain_end(old: ContainerRun, new: ContainerRun) -> str:
    if new.changed and new.image != old.image:
        return f"Container {new.name} definition changed, will be restarted"
    if new.changed and new.actual is not None:
        return f"Container {new.name} resize requires restart"
    return f"Stopping container {new.name}"


def _text(before: PodRun, run: PodRun) -> str:
    """Describe the changes of the containers."""
    pairs = list(zip(before.all, run.all, strict=True))
    started = [new.name for old, new in pairs if new.starts > old.starts]
    signalled = [new.name for old, new in pairs if new.signalled and not old.signalled]
    ended = [f"{new.name} ({_exit_code(old, new)})" for old, new in pairs if _has_ended(old, new)]
    parts = [
        f"{what}: {', '.join(names)}"
        for what, names in (("ended", ended), ("started", started), ("stopping", signalled))
        if names
    ]
    if run.kill is not None and before.kill is None:
        why = run.kill.reason or "the pod was deleted"
        parts.append(f"{why}: {run.kill.grace} s are left")
    return "; ".join(parts)


def _has_ended(old: ContainerRun, new: ContainerRun) -> bool:
    return old.running and (not new.running or new.starts > old.starts)


def _exit_code(old: ContainerRun, new: ContainerRun) -> int:
    """Return the exit code of the ended run; the container may have been restarted since."""
    return new.last.exit_code if new.starts > old.starts and new.last is not None else new.exit_code
