"""Jobs: pods until enough of them have succeeded, or too many have failed.

DEVIATION: during the back-off after a failure, status.active counts the running pods; kube writes 0, which its own validation refuses if
one is Ready.

kube: pkg/controller/job/job_controller.go @ v1.34.1
"""

from typing import Any

from scheduler_core.apimachinery.objects import Pod, controller_of
from scheduler_core.apiserver import NORMAL, WARNING, WatchEvent
from scheduler_core.base.clock.agenda import SECOND
from scheduler_core.controllers.contract import World
from scheduler_core.controllers.workloads.jobs import finish, pods
from scheduler_core.controllers.workloads.jobs.finish import track
from scheduler_core.controllers.workloads.jobs.look import TRACKING, Look, is_tracked
from scheduler_core.controllers.workloads.owners import Owner, claim_pods, resolve
from scheduler_core.controllers.workloads.pods import list_pods
from scheduler_core.controllers.workloads.watching import WorkloadController

_ORPHAN = "Pod/"  # the prefix of the keys of pods whose Job is finished or deleted
_BATCH = SECOND
_OWN = "kubernetes.io/job-controller"
_UNKNOWN_MODE = "UnknownCompletionMode"


class JobController(WorkloadController):
    """Keeps a Job's pods, and counts them."""

    name = "job-controller"
    kind = "Job"
    watches = ("Job", "Pod")

    def on_watch(self, world: World, event: WatchEvent) -> None:
        super().on_watch(world, event)
        if event.kind == "Job" and (event.new is None or finish.is_finished(event.new)):
            manifest = event.new or event.old
            assert manifest is not None
            for pod in list_pods(world.store, [manifest]):
                self._enqueue_orphan(world, pod)

    def hear_of_pod(self, world: World, event: WatchEvent) -> None:
        super().hear_of_pod(world, event)
        pod = event.new_pod
        if pod is not None and _is_orphan(world, pod):
            self._enqueue_orphan(world, pod)

    def _enqueue_orphan(self, world: World, pod: Pod) -> None:
        if is_tracked(pod):
            self.enqueue(world, f"{_ORPHAN}{pod.key}")

    def alike(self, old: Pod, new: Pod) -> bool:
        return (
            super().alike(old, new)
            and old.phase == new.phase
            and is_tracked(old) == is_tracked(new)
            and finish.count_restarts(old) == finish.count_restarts(new)
        )

    def patience(self, world: World, key: str) -> int:
        return _BATCH

    def sync(self, world: World, key: str) -> str:
        if key.startswith(_ORPHAN):
            return self._let_go(world, key.removeprefix(_ORPHAN))
        owner = Owner.found(world, self.kind, key)
        if owner is None or finish.is_finished(owner.manifest):
            world.surroundings.workloads.jobs.pop(key, None)
            return ""
        if owner.spec.get("managedBy") not in (None, _OWN):
            return ""
        if owner.spec.get("completionMode") not in ("NonIndexed", "Indexed"):
            text = "Skipped Job sync because completion mode is unknown"
            self.event(world, WARNING, _UNKNOWN_MODE, self.kind, key, text)
            return ""
        found = claim_pods(world, owner, lambda pod: True, finalizers=(TRACKING,))
        look = Look(self, world, owner, found)
        self._sync(look)
        return "; ".join(look.said)

    def _sync(self, look: Look) -> None:
        world, owner = look.world, look.owner
        # The status to write; a Job that is not suspended has started. Pods left uncounted in an imported cluster count now.
        given = owner.status
        status: dict[str, Any] = {
            "conditions": list(given.get("conditions") or ()),
            "startTime": given.get("startTime"),
            "uncountedTerminatedPods": {},
        }
        if status["startTime"] is None and not look.is_suspended:
            self._begin(look, status)
        ending = finish.finish(look)
        if ending is not None:
            refused = pods.delete(look, look.running, ending.get("message", ""))
            if refused is not None:
                ending = None
        else:
            refused = None if owner.deleting else pods.manage(look)
            ending = finish.check_completions(look)
            if ending is None and not owner.deleting:
                self._note_suspension(look, status)
        status |= {"active": look.active, "ready": look.ready, "terminating": look.terminating}
        track(look, status, ending)
        end = finish.deadline(look)
        if ending is None and end is not None:
            self.enqueue_at(world, owner.key, end)
        if refused is not None:
            raise refused

    def _begin(self, look: Look, status: dict[str, Any]) -> None:
        """Set the start time of a Job, and enqueue it for its active deadline."""
        status["startTime"] = look.timestamp
        seconds = look.spec.get("activeDeadlineSeconds")
        if seconds is not None:
            self.enqueue(look.world, look.owner.key, int(seconds) * SECOND)

    def _note_suspension(self, look: Look, status: dict[str, Any]) -> None:
        conditions: list[finish.Condition] = status["conditions"]
        old = next((one for one in conditions if one.get("type") == finish.SUSPENDED), None)
        suspended = finish.find_true_condition(conditions, finish.SUSPENDED) is not None
        if look.is_suspended == suspended:
            return
        word = "Suspended" if look.is_suspended else "Resumed"
        text, truth = f"Job {word.lower()}", "True" if look.is_suspended else "False"
        new = finish.condition(look, finish.SUSPENDED, f"Job{word}", text, truth)
        status["conditions"] = [new if one is old else one for one in conditions] + ([] if old else [new])
        if not look.is_suspended:
            self._begin(look, status)
        look.event(NORMAL, word, text)
        look.said.append(text)

    def _let_go(self, world: World, key: str) -> str:
        """Remove the finalizer of a pod that no Job counts. kube: syncOrphanPod"""
        pod = world.store.pod_at(key)
        if pod is None or not is_tracked(pod) or not _is_orphan(world, pod):
            return ""
        pods.release(world, pod)
        return f"allowed the deletion of {pod.name}: no Job counts the pod"


def _is_orphan(world: World, pod: Pod) -> bool:
    """Return whether no Job will count a pod: it has none, or the Job is finished."""
    reference = controller_of(pod.manifest)
    if reference is None:
        return True
    if reference.get("kind") != "Job":
        return False
    namespace, _, name = resolve(world, "Job", pod.manifest).partition("/")
    job = world.store.get("Job", namespace, name)
    return job is None or finish.is_finished(job) is not None
