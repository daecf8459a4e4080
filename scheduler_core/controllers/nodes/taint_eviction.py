"""The taint-eviction-controller: deletes pods that do not tolerate a NoExecute taint of their node, at once or after tolerationSeconds.

A planned eviction keeps its time despite changes of taints or tolerations. It is canceled when the node has no NoExecute taint or the pod
tolerates all of them without limit, and happens at once when the pod does not tolerate a taint.

kube: pkg/controller/tainteviction/{taint_eviction,timed_workers}.go, pkg/apis/core/v1/helper/helpers.go @ v1.34.1
"""

from collections.abc import Sequence
from typing import NamedTuple

from scheduler_core.apimachinery.objects import NO_EXECUTE, Node, Pod, Taint
from scheduler_core.apiserver import ADDED, NORMAL, Refused, WatchEvent
from scheduler_core.apiserver.eviction import DELETION_BY_TAINT_MANAGER, disrupt
from scheduler_core.base.clock.agenda import SECOND
from scheduler_core.controllers.contract import Controller, World
from scheduler_core.controllers.memory.nodes import PlannedEviction

MESSAGE = "Taint manager: deleting due to NoExecute taint"


class Tolerance(NamedTuple):
    """The time (s) that a pod may stay on a node, None for no limit; `why` names the taint that limits it."""

    seconds: int | None
    why: str


def tolerance(taints: Sequence[Taint], pod: Pod) -> Tolerance | None:
    """Return the time that a pod tolerates NoExecute taints; None if it does not tolerate one of them.

    Of several tolerations of one taint the first in the pod's list counts, of several taints the shortest time.
    """
    shortest: int | None = None
    why = "tolerates all NoExecute taints without a time limit"
    for taint in taints:
        used = next((t for t in pod.spec.tolerations if t.tolerates(taint)), None)
        if used is None:
            return None
        if used.seconds is not None and (shortest is None or used.seconds < shortest):
            shortest = used.seconds
            why = f"tolerates {taint} for {used.seconds} s"
    return Tolerance(None if shortest is None else max(0, shortest), why)


def no_execute(node: Node | None) -> tuple[Taint, ...]:
    """Return the NoExecute taints of a node."""
    return () if node is None else tuple(taint for taint in node.taints if taint.effect == NO_EXECUTE)


class TaintEviction(Controller):
    """Evicts from tainted nodes."""

    name = "taint-eviction-controller"
    watches = ("Node", "Pod")

    def on_watch(self, world: World, event: WatchEvent) -> None:
        if event.kind == "Node":
            if no_execute(event.old_node) != no_execute(event.new_node):
                self.enqueue(world, event.name)
            return
        pod, old = event.new_pod, event.old_pod
        if pod is None:
            assert old is not None
            if old.key in world.surroundings.nodes.evictions:
                self.enqueue(world, old.key)
        elif (
            event.type == ADDED
            or old is None
            or (old.node_name, old.spec.tolerations) != (pod.node_name, pod.spec.tolerations)
        ):
            if pod.node_name and no_execute(world.store.node(pod.node_name)):
                self.enqueue(world, pod.key)

    def on_start(self, world: World) -> None:
        for node in world.store.nodes():
            if no_execute(node):
                self.enqueue(world, node.name)

    def sync(self, world: World, key: str) -> str:
        if "/" in key:
            return self._sync_pod(world, key)
        node = world.store.node(key)
        if node is None:
            return ""  # plans remain: only the end of a pod cancels its plan
        taints = no_execute(node)
        texts = [self._process(world, pod, taints) for pod in world.store.pods_on(key)]
        return "; ".join(text for text in texts if text)

    def _sync_pod(self, world: World, key: str) -> str:
        pod = world.store.pod_at(key)
        plans = world.surroundings.nodes.evictions
        plan = plans.get(key)
        if pod is None:
            return self._cancel(world, key, "the pod no longer exists")
        # As in kube, a due eviction does not check the taints again: a removal of taints cancels the plan.
        if plan is not None and plan.at <= world.now:
            del plans[key]
            return self._evict(world, pod, plan.why + ", which have passed")
        text = ""
        taints = no_execute(world.store.node(pod.node_name))
        if taints:
            text = self._process(world, pod, taints)
        if (plan := plans.get(key)) is not None:
            self.enqueue_at(world, key, plan.at)
        return text

    def _process(self, world: World, pod: Pod, taints: tuple[Taint, ...]) -> str:
        if not taints:
            return self._cancel(world, pod.key, "no NoExecute taint is left")
        found = tolerance(taints, pod)
        if found is None:
            # kube cancels the timed eviction first, with its Event, because the pod is deleted right away.
            self._cancel(world, pod.key, "")
            first = next((taint for taint in taints if not pod.spec.tolerates(taint)), None)
            return self._evict(world, pod, f"does not tolerate {first}")
        if found.seconds is None:
            return self._cancel(world, pod.key, f"the pod {found.why}")
        plans = world.surroundings.nodes.evictions
        if pod.key in plans:
            return ""
        if found.seconds == 0:
            return self._evict(world, pod, found.why)
        at = world.now + found.seconds * SECOND
        plans[pod.key] = PlannedEviction(world.now, at, found.why)
        self.enqueue_at(world, pod.key, at)
        return f"planned the eviction of {pod.key} in {found.seconds} s: the pod {found.why}"

    def _cancel(self, world: World, key: str, why: str) -> str:
        if world.surroundings.nodes.evictions.pop(key, None) is None:
            return ""
        self.forget(world, key)
        self.event(world, NORMAL, "TaintManagerEviction", "Pod", key, f"Cancelling deletion of Pod {key}")
        return f"canceled the eviction of {key}: {why}"

    def _evict(self, world: World, pod: Pod, why: str) -> str:
        self.event(world, NORMAL, "TaintManagerEviction", "Pod", pod.key, f"Marking for deletion Pod {pod.key}")
        try:
            disrupt(world.api, pod.key, DELETION_BY_TAINT_MANAGER, MESSAGE)
        except Refused as refused:
            return f"could not evict {pod.key}: {refused}"
        return f"evicted {pod.key}: the pod {why}"
