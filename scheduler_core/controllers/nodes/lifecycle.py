"""The node-lifecycle-controller: detects lost nodes, and taints nodes according to their conditions.

| key | action | when |
|---|---|---|
| a node | NoSchedule taints for conditions and for a cordon; old names of labels | at once |
| "all nodes" | lost nodes become Unknown, zones change their state, nodes are queued for a NoExecute taint or freed of it | a round |
| "zones" | as many NoExecute taints as the zones' rates allow | when the next waiting node can be tainted |
| "Pod/namespace/name" | a new pod on a lost node becomes not ready | at once |

kube makes a round every --node-monitor-period; here a round happens at the next of these times after a change that it would detect, and
when the grace period of a stopped kubelet is over.

DEVIATION: a pass of kube's node monitor takes time, so the grace period is over at the pass exactly that long after the last heartbeat.

kube: pkg/controller/nodelifecycle/node_lifecycle_controller.go @ v1.34.1
"""

from scheduler_core.apimachinery.objects import Manifest, Node, Pod
from scheduler_core.apiserver import NORMAL, WARNING, Refused, WatchEvent
from scheduler_core.base.clock.agenda import SECOND
from scheduler_core.controllers.contract import Controller, World
from scheduler_core.controllers.kubelet.heartbeats import last_renewal, runs
from scheduler_core.controllers.memory.nodes import Zone
from scheduler_core.controllers.nodes import taints, zones
from scheduler_core.controllers.nodes.taints import NOT_READY, UNREACHABLE, condition_of, swap
from scheduler_core.controllers.nodes.zones import Census, align_to_period
from scheduler_core.controllers.surroundings import Inputs

# The detection of lost nodes, and their conditions.
#
# kube's node monitor checks every --node-monitor-period, and records the last heartbeat (a renewed Lease, a new heartbeat in the
# condition Ready); --node-monitor-grace-period later the conditions become Unknown. Here that time is computed from the kubelet's last
# renewal, so there are no polls while all kubelets run.
# kube: pkg/controller/nodelifecycle/node_lifecycle_controller.go (tryUpdateNodeHealth), pkg/controller/util/node @ v1.34.1

_TYPES = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")
_SILENT = {"reason": "NodeStatusUnknown", "message": "Kubelet stopped posting node status."}
_NEVER = {"reason": "NodeStatusNeverUpdated", "message": "Kubelet never posted node status."}


def silent_since(world: World, node: str) -> int:
    """Return the time (ns) of the last observed heartbeat of a node whose kubelet does not run."""
    heard = world.surroundings.nodes.heard.get(node, world.now)
    renewed = last_renewal(world, node)
    return max(heard, align_to_period(renewed, world.cluster.controller_manager.monitor_period))


def get_lost_time(world: World, node: Node) -> int | None:
    """Return the time (ns) when a silent node becomes Unknown; None if its kubelet runs or it is already Unknown.

    The stand-in for kubelets keeps nodes as their creator reported them.
    """
    if node.ready == "Unknown" or runs(world, node.name) or (world.cluster.stand_in and node.ready):
        return None
    flags = world.cluster.controller_manager
    grace = flags.grace_period if node.ready else flags.startup_grace_period
    return align_to_period(silent_since(world, node.name) + grace, flags.monitor_period)


def with_unknown(world: World, node: Manifest) -> list[Manifest]:
    """Return the conditions of a lost node."""
    now = world.store.timestamp(world.now)
    conditions: list[Manifest] = list((node.get("status") or {}).get("conditions") or ())
    for index, old in enumerate(conditions):
        if old.get("type") in _TYPES and old.get("status") != "Unknown":
            conditions[index] = {**old, "status": "Unknown", **_SILENT, "lastTransitionTime": now}
    created = node["metadata"].get("creationTimestamp")
    conditions += [
        {"type": type_, "status": "Unknown", **_NEVER, "lastHeartbeatTime": created, "lastTransitionTime": now}
        for type_ in _TYPES
        if condition_of(node, type_) is None
    ]
    return conditions


def heartbeat(node: Manifest | None) -> tuple[str, str] | None:
    """Return status and heartbeat time of a node's condition Ready, or None."""
    condition = None if node is None else condition_of(node, "Ready")
    return None if condition is None else (str(condition.get("status")), str(condition.get("lastHeartbeatTime")))


def with_ready_false(status: Manifest, timestamp: str) -> list[Manifest] | None:
    """Return the conditions of a pod on a lost node with Ready False, or None if Ready is False or missing already."""
    conditions: list[Manifest] = list(status.get("conditions") or ())
    for index, old in enumerate(conditions):
        if old.get("type") == "Ready":
            if old.get("status") == "False":
                return None
            conditions[index] = {**old, "status": "False", "lastTransitionTime": timestamp}
            return conditions
    return None


MONITOR, ZONES, _POD = "all nodes", "zones", "Pod/"
EXCLUDED = "node.kubernetes.io/exclude-disruption"  # a label that excludes nodes from their zone's counts
_OF_STATUS = {"False": (NOT_READY, UNREACHABLE), "Unknown": (UNREACHABLE, NOT_READY)}


class NodeLifecycle(Controller):
    """Taints nodes; which pods go for it is the taint-eviction-controller's."""

    name = "node-lifecycle-controller"
    component = "node-controller"
    watches = ("Node", "Pod")

    def on_watch(self, world: World, event: WatchEvent) -> None:
        if event.kind == "Pod":
            old, new = event.old_pod, event.new_pod
            if new is not None and new.node_name and (old is None or old.node_name != new.node_name):
                node = world.store.node(new.node_name)
                if node is not None and node.ready not in ("", "True"):
                    self.enqueue(world, _POD + new.key)
            return
        if event.new is not None and _is_untidy(event.new):
            self.enqueue(world, event.name)
        before, after = heartbeat(event.old), heartbeat(event.new)
        if event.old is None or event.new is None or before != after or _other(event):
            if before is not None and after is not None and before[1] != after[1]:
                world.surroundings.nodes.heard[event.name] = self._next_round(world)
            self.enqueue_at(world, MONITOR, self._next_round(world))

    def on_start(self, world: World) -> None:
        if world.store.nodes():
            self.enqueue_at(world, MONITOR, self._next_round(world))
        for node in world.store.nodes():
            if _is_untidy(node.manifest):
                self.enqueue(world, node.name)

    def on_inputs(self, world: World, before: Inputs) -> None:
        if before.stopped != world.surroundings.inputs.stopped:
            self.enqueue_at(world, MONITOR, self._next_round(world))

    def sync(self, world: World, key: str) -> str:
        if key == MONITOR:
            nodes = world.store.nodes()
            texts = self._classify(world, nodes)
            counts: dict[str, Census] = {}
            turns: list[int] = []
            for node in nodes:
                texts += self._look_at(world, node)
                now = world.store.node(node.name) or node
                if EXCLUDED not in node.labels:
                    ready, lost = counts.get(node.zone_key, Census(0, 0))
                    alive = now.ready == "True"
                    counts[node.zone_key] = Census(ready + alive, lost + (not alive))
                turn = get_lost_time(world, now)
                if turn is not None:
                    turns.append(turn)
            texts += self._follow_zones(world, nodes, counts)
            if turns:
                # Never at this time again: a due time in the past would repeat the round without advancing time.
                self.enqueue_at(world, MONITOR, max(min(turns), world.now + 1))
            self._plan_tainting(world)
            return "; ".join(texts)
        if key == ZONES:
            return self._taint_waiting(world)
        if key.startswith(_POD):
            return self._sync_pod(world, key.removeprefix(_POD))
        return self._tidy(world, key)

    # NoSchedule taints and labels

    def _tidy(self, world: World, name: str) -> str:
        manifest = world.store.get("Node", "", name)
        if manifest is None:
            return ""
        texts = []
        add, remove = taints.no_schedule_changes(manifest)
        if add or remove:
            swap(world, name, add, remove)
            texts += [f"tainted {name} {key}:{effect} because of its conditions" for key, effect in add]
            texts += [f"removed the taint {key}:{effect} from {name}" for key, effect in remove]
        labels = taints.label_changes(manifest)
        if labels:
            world.api.patch(("Node", "", name), {"metadata": {"labels": labels}})
            texts.append(f"labeled {name} {', '.join(labels)} from the old label names")
        return "; ".join(texts)

    # the node monitor

    def _classify(self, world: World, nodes: list[Node]) -> list[str]:
        """Detect new nodes, deleted nodes, and new zones."""
        memory = world.surroundings.nodes
        texts = []
        for node in nodes:
            new = node.name not in memory.heard
            zone = memory.zones.get(node.zone_key)
            if zone is None or not zone.state:
                memory.zones[node.zone_key] = zones.new_zone(world.cluster.controller_manager)
            if new:
                memory.heard[node.name] = (
                    world.now if node.ready or node.creation_time is None else node.creation_time - world.store.epoch
                )
                said = f"Node {node.name} event: Registered Node {node.name} in Controller"
                self.event(world, NORMAL, "RegisteredNode", "Node", node.name, said)
                self._free(world, node)
                texts.append(f"noticed the new node {node.name}")
        if len(memory.heard) > len(nodes):
            there = {node.name for node in nodes}
            for name in [name for name in memory.heard if name not in there]:
                del memory.heard[name]
                said = f"Node {name} event: Removing Node {name} from Controller"
                self.event(world, NORMAL, "RemovingNode", "Node", name, said)
                texts.append(f"noticed that node {name} no longer exists")
        return texts

    def _look_at(self, world: World, node: Node) -> list[str]:
        """Check one node in a round."""
        texts = []
        turn = get_lost_time(world, node)
        if turn is not None and turn <= world.now:
            texts.append(self._lose(world, node))
            node = world.store.node(node.name) or node
        if node.ready == "True":
            if (node.taints or node.name in self._zone(world, node).seen) and self._free(world, node):
                texts.append(f"{node.name} is ready: its NoExecute taint is removed")
        elif node.ready in _OF_STATUS:
            texts += self._queue_for_taint(world, node)
        return texts

    def _lose(self, world: World, node: Node) -> str:
        seconds = (world.now - silent_since(world, node.name)) // SECOND
        world.api.patch_status(("Node", "", node.name), {"conditions": with_unknown(world, node.manifest)})
        text = f"{node.name} is Unknown: its kubelet has not reported for {seconds} s"
        if node.ready != "True":
            return text
        self.event(world, NORMAL, "NodeNotReady", "Node", node.name, f"Node {node.name} status is now: NodeNotReady")
        count = sum(self._mark_not_ready(world, pod) for pod in world.store.pods_on(node.name))
        return f"{text}; {count} of its pods are not ready" if count else text

    def _queue_for_taint(self, world: World, node: Node) -> list[str]:
        """Replace one NoExecute taint by the other at once, or queue the node for its first one, subject to the zone's rate."""
        wanted, other = _OF_STATUS[node.ready]
        if taints.has(node.manifest, other):
            swap(world, node.name, [wanted], [other])
            return [f"tainted {node.name} {wanted[0]}:{wanted[1]} in place of {other[0]}"]
        zone = self._zone(world, node)
        waits = node.name in zone.waiting
        if not taints.has(node.manifest, wanted) and not waits:
            zones.let_go(zone, node.name)
        zones.take_on(zone, node.name, world.now)
        return [f"{node.name} waits for its NoExecute taint"] if node.name in zone.waiting and not waits else []

    def _free(self, world: World, node: Node) -> bool:
        """Remove the NoExecute taints from a node, and the node from the queue for them."""
        swap(world, node.name, (), (UNREACHABLE, NOT_READY))
        return zones.let_go(self._zone(world, node), node.name)

    def _follow_zones(self, world: World, nodes: list[Node], counts: dict[str, Census]) -> list[str]:
        memory = world.surroundings.nodes
        before = {key: zone.state for key, zone in memory.zones.items()}
        happened = zones.follow(memory.zones, counts, world.cluster.controller_manager, world.now)
        texts = [
            f"{zone_name(key)}: {before[key]} to {zone.state} ({counts[key].lost} of {counts[key].size} nodes are not ready)"
            for key, zone in memory.zones.items()
            if zone.state not in ("", before[key]) and before[key] != zones.INITIAL
        ]
        if happened == "entered":
            for node in nodes:
                self._free(world, node)
            return [*texts, "no node is ready in any zone, so no pod is evicted"]
        if happened == "left":
            # As in kube, missed heartbeats during the disruption are ignored; otherwise all silent nodes would be lost at once.
            memory.heard.update({node.name: world.now for node in nodes})
            return [*texts, "some nodes are ready again: evictions continue"]
        return texts

    # NoExecute taints

    def _taint_waiting(self, world: World) -> str:
        texts: list[str] = []

        def taint(name: str) -> bool:
            node = world.store.node(name)
            if node is None:
                return True
            if node.ready not in _OF_STATUS:
                return bool(node.ready)  # ready again; without any condition it is retried
            wanted, other = _OF_STATUS[node.ready]
            try:
                swap(world, name, [wanted], [other])
            except Refused:
                return False
            texts.append(f"tainted {name} {wanted[0]}:{wanted[1]}")
            return True

        # kube ranges over a Go map, in any order; here the order of the writes must be the same in every run.
        for key in sorted(world.surroundings.nodes.zones):
            zones.serve(world.surroundings.nodes.zones[key], world.now, taint)
        self._plan_tainting(world)
        return "; ".join(texts)

    def _plan_tainting(self, world: World) -> None:
        turns = [zones.next_turn(zone, world.now) for zone in world.surroundings.nodes.zones.values()]
        soonest = min((turn for turn in turns if turn is not None), default=None)
        self.forget(world, ZONES)
        if soonest is not None:
            self.enqueue_at(world, ZONES, soonest)

    # pods

    def _sync_pod(self, world: World, key: str) -> str:
        pod = world.store.pod_at(key)
        node = None if pod is None else world.store.node(pod.node_name)
        if pod is None or node is None or node.ready in ("", "True"):
            return ""
        marked = self._mark_not_ready(world, pod)
        return f"{key} is not ready, because its node {node.name} is not ready" if marked else ""

    def _mark_not_ready(self, world: World, pod: Pod) -> bool:
        conditions = with_ready_false(pod.manifest.get("status") or {}, world.store.timestamp(world.now))
        if conditions is None:
            return False
        world.api.patch_status(("Pod", pod.namespace, pod.name), {"conditions": conditions})
        self.event(world, WARNING, "NodeNotReady", "Pod", pod.key, "Node is not ready")
        return True

    def _zone(self, world: World, node: Node) -> Zone:
        return world.surroundings.nodes.zones[node.zone_key]

    def _next_round(self, world: World) -> int:
        return align_to_period(world.now, world.cluster.controller_manager.monitor_period)


def zone_name(key: str) -> str:
    """Return the name of a zone for messages."""
    region, _, zone = key.partition(":\x00:")
    return f"zone {'/'.join(part for part in (region, zone) if part)}" if key else "nodes without a zone label"


def _is_untidy(manifest: Manifest) -> bool:
    add, remove = taints.no_schedule_changes(manifest)
    return bool(add or remove or taints.label_changes(manifest))


def _other(event: WatchEvent) -> bool:
    """Return whether an update of a node changes its NoExecute taints or its zone."""
    old, new = event.old_node, event.new_node
    assert old is not None and new is not None and event.old is not None and event.new is not None
    return (
        old.zone_key != new.zone_key
        or (EXCLUDED in old.labels) != (EXCLUDED in new.labels)
        or any(taints.has(event.old, key) != taints.has(event.new, key) for key in (NOT_READY, UNREACHABLE))
    )
