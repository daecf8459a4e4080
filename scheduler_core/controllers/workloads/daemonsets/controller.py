"""DaemonSets: one pod on each eligible node, and rolling updates.

DEVIATION: the annotation deprecated.daemonset.template.generation is not kept; the revision hash identifies new pods.

kube: pkg/controller/daemon @ v1.34.1
"""

from collections.abc import Sequence
from typing import Any

from scheduler_core.apimachinery.objects import Node, Pod
from scheduler_core.apiserver import ADDED, WARNING, Refused, WatchEvent, not_found
from scheduler_core.controllers.contract import World
from scheduler_core.controllers.workloads import history
from scheduler_core.controllers.workloads.daemonsets.daemons import Daemons, Placement
from scheduler_core.controllers.workloads.owners import Owner, claim_pods, resolve_percentage
from scheduler_core.controllers.workloads.watching import WorkloadController

# Missing and surplus pods, node by node.
# kube: pkg/controller/daemon/daemon_controller.go (manage, podsShouldBeOnNode) @ v1.34.1


def manage(daemons: Daemons) -> bool:
    """Create missing pods and delete surplus ones. Return whether anything was done. Raise Refused."""
    lacking: list[str] = []
    gone: list[Pod] = []
    for node in daemons.nodes:
        needs, surplus = _on_node(daemons, node)
        if needs:
            lacking.append(node.name)
        gone += surplus
    # Pods pinned to a missing node are never bound, so the pod garbage collector, which checks spec.nodeName,
    # does not delete them; bound ones are left to it.
    names = {node.name for node in daemons.nodes}
    for name, pods in daemons.pods.items():
        if name not in names:
            gone += [pod for pod in pods if not pod.node_name]
    return daemons.change(gone, lacking, "not needed on their nodes, or terminated")


def _on_node(daemons: Daemons, node: Node) -> tuple[bool, list[Pod]]:
    """Return whether a node needs a new pod, and the pods to delete."""
    should, may_stay = daemons.wanted_on(node)
    pods = daemons.pods.get(node.name)
    # A pod that is still being deleted is in the list, so that its replacement waits until it is gone.
    if should and pods is None:
        return True, []
    if not may_stay:
        return False, [pod for pod in pods or () if not pod.deleting]
    return _plan_node_pods(daemons, node, pods or (), should)


def _plan_node_pods(daemons: Daemons, node: Node, pods: Sequence[Pod], should: bool) -> tuple[bool, list[Pod]]:
    gone: list[Pod] = []
    running: list[Pod] = []
    for pod in pods:
        if pod.deleting:
            continue
        if pod.phase == "Failed":
            gone += [pod] if daemons.may_replace(node.name, pod) else []
        elif pod.phase == "Succeeded":
            daemons.note_success(node.name, pod)
            gone.append(pod)
        else:
            running.append(pod)
    if not allows_surge(daemons.owner):
        return False, gone + running[1:]
    if len(running) <= 1:
        return not running and should, gone
    return False, gone + _surplus(daemons, running)


def _surplus(daemons: Daemons, running: Sequence[Pod]) -> list[Pod]:
    """Return all pods but the oldest old and the oldest new one; include the old one once it is not needed."""
    new = [pod for pod in running if daemons.is_new(pod)]
    old = [pod for pod in running if not daemons.is_new(pod)]
    kept = [*new[:1], *old[:1]]
    gone = [pod for pod in running if pod not in kept]
    if new and old and (not old[0].ready or daemons.is_available(new[0])):
        gone.append(old[0])
    return gone


def surge(owner: Owner, nodes: int) -> int:
    """Return how many nodes may have two pods in a rolling update."""
    return resolve_percentage(_rolling(owner).get("maxSurge"), nodes, up=True)


def unavailable(owner: Owner, nodes: int) -> int:
    """Return how many nodes may lack an available pod in a rolling update."""
    return resolve_percentage(_rolling(owner).get("maxUnavailable"), nodes, up=True)


def allows_surge(owner: Owner) -> bool:
    # One node is enough to ask: percentages are rounded up, so any maxSurge above 0 yields 1.
    return surge(owner, 1) > 0


def _rolling(owner: Owner) -> dict[str, int | str]:
    strategy = owner.spec.get("updateStrategy") or {}
    return strategy.get("rollingUpdate") or {} if strategy.get("type") == "RollingUpdate" else {}


# The rolling update of a DaemonSet: delete old pods first within maxUnavailable, or create new ones first within maxSurge.
# kube: pkg/controller/daemon/update.go @ v1.34.1

_WHY = "of an old revision"


def roll(daemons: Daemons) -> None:
    """Make one step of a rolling update. Raise Refused."""
    wanted = [node.name for node in daemons.nodes if daemons.wanted_on(node)[0]]
    nodes = {**daemons.pods, **{name: [] for name in wanted if name not in daemons.pods}}
    extra = surge(daemons.owner, len(wanted))
    if extra == 0:
        # With both limits at 0 the update could never progress; kube then uses the default, maxUnavailable 1.
        most = unavailable(daemons.owner, len(wanted)) or (1 if wanted else 0)
        _old_first(daemons, nodes, most)
    else:
        _new_first(daemons, nodes, extra, len(wanted))


def _pair(daemons: Daemons, pods: Sequence[Pod]) -> tuple[Pod | None, Pod | None] | None:
    """Return the new and the old pod of a node, or None if there are several of one kind."""
    staying = [pod for pod in pods if not pod.deleting]
    new = [pod for pod in staying if daemons.is_new(pod)]
    old = [pod for pod in staying if not daemons.is_new(pod)]
    if len(new) > 1 or len(old) > 1:
        return None
    return (new[0] if new else None), (old[0] if old else None)


def _old_first(daemons: Daemons, nodes: dict[str, list[Pod]], most: int) -> None:
    lacking = 0
    at_once: list[Pod] = []
    candidates: list[Pod] = []
    for name in sorted(nodes):
        pair = _pair(daemons, nodes[name])
        new, old = pair or (None, None)
        if old is not None and new is None:
            if daemons.is_available(old):
                candidates.append(old)
            else:
                # No room is needed: the node lacks an available pod already, and deleting this one makes that no worse.
                at_once.append(old)
                lacking += 1
        elif new is None or old is not None or not daemons.is_available(new):
            lacking += 1
    room = max(0, most - lacking)
    gone = at_once + candidates[:room]
    daemons.change(gone, [], f"{_WHY}; at most {most} of {len(nodes)} nodes may lack a pod")


def _new_first(daemons: Daemons, nodes: dict[str, list[Pod]], most: int, wanted: int) -> None:
    surging = available = 0
    gone: list[Pod] = []
    leaving: list[Pod] = []  # available ones on nodes that are to have none any more
    at_once: list[str] = []
    candidates: list[str] = []
    for name in sorted(nodes):
        pair = _pair(daemons, nodes[name])
        if pair is None:
            surging += 1
            continue
        new, old = pair
        present = old or new
        available += present is not None and daemons.is_available(present)
        if old is None:
            continue
        if new is not None:
            if daemons.is_available(new):
                gone.append(old)
            else:
                surging += 1
        elif not _stays(daemons, name):
            (leaving if daemons.is_available(old) else gone).append(old)
        else:
            (candidates if daemons.is_available(old) else at_once).append(name)
    gone += leaving[: max(0, available - wanted)]
    lacking = at_once + candidates[: max(0, most - surging)]
    daemons.change(gone, lacking, f"{_WHY}, and a new pod exists")


def _stays(daemons: Daemons, name: str) -> bool:
    """Return whether a node still needs a pod. Raise Refused if the node does not exist."""
    node = daemons.world.store.node(name)
    if node is None:
        raise Refused.because(not_found("nodes", name))
    return daemons.wanted_on(node)[0]


_SELECTS_ALL = "SelectingAll"


class DaemonSetController(WorkloadController):
    """Keeps a DaemonSet's pods."""

    name = "daemonset-controller"
    kind = "DaemonSet"
    counts = "desiredNumberScheduled"
    watches = ("DaemonSet", "Pod", "Node")

    def on_watch(self, world: World, event: WatchEvent) -> None:
        if event.kind == "Node":
            self._hear_of_node(world, event)
        else:
            super().on_watch(world, event)

    def _hear_of_node(self, world: World, event: WatchEvent) -> None:
        """Enqueue the DaemonSets whose placement on a changed node differs.

        kube: syncNodeUpdate; a deleted node concerns all, because their status counts it
        """
        old, new = event.old_node, event.new_node
        if old is not None and new is not None and old.labels == new.labels and old.taints == new.taints:
            return
        for manifest in world.store.list(self.kind):
            owner = Owner.of(manifest)
            if event.type == ADDED or old is None or new is None:
                self.enqueue(world, owner.key)
                continue
            placement = Placement.of(owner)
            if placement.on(old) != placement.on(new):
                self.enqueue(world, owner.key)

    def sync(self, world: World, key: str) -> str:
        owner = Owner.found(world, self.kind, key)
        if owner is None or owner.selector.errors or owner.deleting:
            return ""
        if owner.selector.empty:
            text = "This daemon set is selecting all pods. A non-empty selector is required."
            self.event(world, WARNING, _SELECTS_ALL, self.kind, key, text)
            return ""
        pods = claim_pods(world, owner, lambda pod: True)
        newest = max(pods, key=lambda pod: (pod.creation_time or 0, pod.name), default=None)
        revisions = history.sync_revisions(
            world, owner, history.POD_HASH, "" if newest is None else newest.labels.get(history.POD_HASH, "")
        )
        code = history.hash_of(revisions.update)
        daemons = Daemons(self, world, owner, pods, code)
        refused = None
        try:
            self._update(daemons, revisions, pods)
        except Refused as problem:
            refused = problem
        # Claimed again, as _update() may have created and deleted pods, and even a refused sync writes the status.
        found = claim_pods(world, owner, lambda pod: True)
        self._write(Daemons(self, world, owner, found, code), revisions.collisions)
        if refused is not None:
            raise refused
        return "; ".join(daemons.said)

    def _update(self, daemons: Daemons, revisions: history.Revisions, pods: Sequence[Pod]) -> None:
        """Create or delete pods; once these are observed, make a rolling step. Delete old revisions. kube: updateDaemonSet"""
        owner = daemons.owner
        done = manage(daemons)
        if not done and owner.spec["updateStrategy"]["type"] == "RollingUpdate":
            roll(daemons)
        hashes = {pod.labels.get(history.POD_HASH, "") for pod in pods} | {daemons.hash}
        live = {history.name_of(one) for one in revisions.all if history.hash_of(one) in hashes}
        old = [one for one in revisions.all if one is not revisions.update]
        idle = [one for one in old if history.name_of(one) not in live]
        limit = max(0, owner.number("revisionHistoryLimit") - (len(old) - len(idle)))
        history.truncate(daemons.world, old, live, limit)

    def _write(self, daemons: Daemons, collisions: int) -> None:
        """Write the status. kube: updateDaemonSetStatus"""
        owner, counted = daemons.owner, dict.fromkeys(_COUNTS, 0)
        ready = []
        for node in daemons.nodes:
            should, _ = daemons.wanted_on(node)
            pods = daemons.pods.get(node.name)
            if not should:
                counted["numberMisscheduled"] += bool(pods)
                continue
            counted["desiredNumberScheduled"] += 1
            if not pods:
                continue
            counted["currentNumberScheduled"] += 1
            counted["updatedNumberScheduled"] += daemons.is_new(pods[0])
            if pods[0].ready:
                ready.append(pods[0])
        counted["numberReady"] = len(ready)
        counted["numberAvailable"] = sum(daemons.is_available(pod) for pod in ready)
        counted["numberUnavailable"] = counted["desiredNumberScheduled"] - counted["numberAvailable"]
        fields: dict[str, Any] = {
            name: number if name in _ALWAYS_SHOWN else number or None for name, number in counted.items()
        }
        fields |= {"observedGeneration": owner.generation or None, "collisionCount": collisions or None}
        daemons.world.api.patch_status(owner.target, fields)
        self.look_when_available(daemons.world, owner, ready)


_ALWAYS_SHOWN = ("currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady")
_COUNTS = (*_ALWAYS_SHOWN, "updatedNumberScheduled", "numberAvailable", "numberUnavailable")
