"""Drains of nodes as by kubectl drain: cordon the node, choose the pods, evict them, and wait until they are gone.

kube has no such controller, but it works like one here: the key is a pod (namespace/name) to evict; an eviction that a budget refuses
(429) is retried 5 s later. A drain that can't begin leaves the node cordoned, as kubectl does.

| pod | without a flag |
|---|---|
| of an existing DaemonSet | refused (--ignore-daemonsets: stays) |
| mirror of a static pod | stays |
| with an emptyDir | refused (--delete-emptydir-data: evicted) |
| without a controller | refused (--force: evicted) |
| ended | evicted |

DEVIATION: uncordoning the node cancels the drain; kubectl would continue until it is interrupted.

kube: k8s.io/kubectl/pkg/drain/{drain,filters}.go, pkg/cmd/drain/drain.go @ v0.34.1
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from scheduler_core.apimachinery.objects import Pod, controller_of
from scheduler_core.apiserver import Refused, WatchEvent, not_found
from scheduler_core.apiserver.eviction import evict
from scheduler_core.base.clock.agenda import SECOND
from scheduler_core.controllers.contract import WORN_OUT, Controller, World
from scheduler_core.controllers.memory.nodes import Drain, DrainedPod

NAME = "kubectl-drain"
AGAIN_AFTER = 5 * SECOND
MIRROR = "kubernetes.io/config.mirror"
_FIELDS = {
    "--ignore-daemonsets": "ignore_daemon_sets",
    "--force": "force",
    "--delete-emptydir-data": "delete_empty_dir_data",
}
_IGNORED = "ignoring DaemonSet-managed Pods"
_BARE = "deleting Pods that declare no controller"


@dataclass(frozen=True, slots=True)
class Flags:
    """kubectl drain's --ignore-daemonsets, --force and --delete-emptydir-data."""

    ignore_daemon_sets: bool = False
    force: bool = False
    delete_empty_dir_data: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision whether to drain a pod. An error stops the whole drain, unless the drain has the flag `wanted`."""

    goes: bool
    warning: str = ""
    error: str = ""
    wanted: str = ""


def judge(world: World, pod: Pod, flags: Flags) -> Verdict:
    """Return a drain's verdict on a pod."""
    owner = controller_of(pod.manifest)
    is_daemon = owner is not None and (owner.get("apiVersion"), owner.get("kind")) == ("apps/v1", "DaemonSet")
    if owner is not None and is_daemon and not pod.terminal:
        name = str(owner.get("name"))
        if world.store.get("DaemonSet", pod.namespace, name) is not None:
            if flags.ignore_daemon_sets:
                return Verdict(False, _IGNORED)
            return _refuse("DaemonSet-managed Pods (use --ignore-daemonsets to ignore)", "--ignore-daemonsets")
        if not flags.force:
            return _refuse(not_found("daemonsets.apps", name).message, "--force")
    if MIRROR in pod.annotations:
        return Verdict(False)
    if pod.terminal:
        return Verdict(True)
    local = any(volume.get("emptyDir") is not None for volume in pod.manifest["spec"].get("volumes") or ())
    if local and not flags.delete_empty_dir_data:
        return _refuse("Pods with local storage (use --delete-emptydir-data to override)", "--delete-emptydir-data")
    if owner is not None:
        return Verdict(True)  # in kube the last filter's verdict counts, without the warnings of those before
    if not flags.force:
        return _refuse("cannot delete Pods that declare no controller (use --force to override)", "--force")
    return Verdict(True, _BARE)


def _refuse(error: str, wanted: str) -> Verdict:
    return Verdict(False, error=error, wanted=wanted)


def list_wanted_flags(world: World, node: str) -> dict[str, list[Pod]]:
    """Return the flags without which a drain of a node does not begin, each with the pods that it is wanted for."""
    wanted: dict[str, list[Pod]] = {}
    for pod in world.store.pods_on(node):
        flags = Flags()
        while name := judge(world, pod, flags).wanted:
            wanted.setdefault(name, []).append(pod)
            flags = replace(flags, **{_FIELDS[name]: True})
    return wanted


def begin(world: World, node: str, flags: Flags, grace: int | None) -> None:
    """Cordon a node and start to drain it; a drain in progress starts again. Raise Refused if the node does not exist."""
    found = world.api.found(("Node", "", node))
    if not (found.get("spec") or {}).get("unschedulable"):
        world.api.patch(("Node", "", node), {"spec": {"unschedulable": True}})
    verdicts = [(pod, judge(world, pod, flags)) for pod in world.store.pods_on(node)]
    errors = _group_messages((verdict.error, pod.key) for pod, verdict in verdicts)
    warnings = tuple(_group_messages((verdict.warning, pod.key) for pod, verdict in verdicts))
    if errors:
        why = [f"cannot delete {text}" for text in errors]
        said = why[0] if len(why) == 1 else f"[{', '.join(why)}]"
        _keep(world, Drain(node, world.now, grace, (), warnings, world.now, said))
        return
    pods = tuple(DrainedPod(pod.key, pod.uid) for pod, verdict in verdicts if verdict.goes)
    _keep(world, Drain(node, world.now, grace, pods, warnings, None if pods else world.now))
    for pod in pods:
        world.controller(NAME).enqueue(world, pod.key)


def call_off(world: World, node: str, why: str) -> bool:
    """Cancel the drain of a node. Return whether there was one."""
    drain = world.surroundings.nodes.drains.get(node)
    if drain is None or drain.ended is not None:
        return False
    for pod in drain.pods:
        world.controller(NAME).forget(world, pod.key)
    _keep(world, replace(drain, ended=world.now, outcome=why))
    return True


class DrainController(Controller):
    """Goes on with drains."""

    name = NAME
    component = "kubectl"
    watches = ("Node", "Pod")
    always_on = True

    def on_watch(self, world: World, event: WatchEvent) -> None:
        if not world.surroundings.nodes.drains:
            return
        if event.kind == "Node":
            old, new = event.old_node, event.new_node
            if old is not None and new is not None and old.unschedulable and not new.unschedulable:
                call_off(world, event.name, "the node was uncordoned")
        elif event.old_pod is not None and event.new_pod is None:
            if _going_on(world, event.old_pod.key) is not None:
                self.enqueue(world, event.old_pod.key)

    def sync(self, world: World, key: str) -> str:
        drain = _going_on(world, key)
        if drain is None:
            return ""
        pod = next(pod for pod in drain.pods if pod.key == key)
        new, text = self._turn(world, drain, pod)
        drain = replace(drain, pods=tuple(new if each.key == key else each for each in drain.pods))
        if all(each.done for each in drain.pods):
            errors = [each.refusal for each in drain.pods if each.refusal]
            said = errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]" if errors else ""
            drain = replace(drain, ended=world.now, outcome=said)
            text += f"; {drain.node} is not drained: {said}" if said else f"; {drain.node} is drained"
        _keep(world, drain)
        return text

    def _turn(self, world: World, drain: Drain, pod: DrainedPod) -> tuple[DrainedPod, str]:
        found = world.store.pod_at(pod.key)
        if found is None or found.uid != pod.uid:
            return replace(pod, done=True, refusal=""), f"{pod.key} no longer exists"
        if pod.evicted:
            return pod, ""
        pod = replace(pod, tries=pod.tries + 1)
        try:
            evict(world.api, pod.key, drain.grace)
        except Refused as refused:
            return self._note_refusal(world, pod, refused)
        if world.store.pod_at(pod.key) is None:
            return replace(pod, done=True, refusal=""), f"evicted {pod.key}, which no longer exists"
        return replace(pod, evicted=True, refusal=""), f"evicted {pod.key}; the pod is terminating"

    def _note_refusal(self, world: World, pod: DrainedPod, refused: Refused) -> tuple[DrainedPod, str]:
        answer = refused.answer
        said = "; ".join((answer.message, *answer.causes))
        if answer.code == 429:
            self.enqueue_at(world, pod.key, world.now + AGAIN_AFTER, pod.tries >= WORN_OUT)
            return replace(pod, refusal=said), f"{pod.key} cannot be evicted yet. Next attempt in 5 s: {said}"
        namespace, _, name = pod.key.partition("/")
        error = f'error when evicting pods/"{name}" -n "{namespace}": {said}'
        return replace(pod, done=True, refusal=error), error


def _group_messages(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Return each distinct message with the names of its pods."""
    groups: dict[str, list[str]] = {}
    for message, key in pairs:
        if message:
            groups.setdefault(message, []).append(key)
    return [f"{message}: {', '.join(keys)}" for message, keys in groups.items()]


def _going_on(world: World, pod: str) -> Drain | None:
    """Return the drain in progress that evicts a pod, or None."""
    for drain in world.surroundings.nodes.drains.values():
        if drain.ended is None and any(each.key == pod and not each.done for each in drain.pods):
            return drain
    return None


def _keep(world: World, drain: Drain) -> None:
    world.surroundings.nodes.drains[drain.node] = drain
