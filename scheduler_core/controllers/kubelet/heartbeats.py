"""The renewals of a node's Lease by its kubelet.

A running kubelet renews its Lease every 10 s, counted from its start. Nothing is written: the time of a renewal is computed when it is
needed. kube writes a Lease object in kube-node-lease; here there is none, unless a client creates it.

kube: pkg/kubelet/apis/config/v1beta1/defaults.go (nodeLeaseDurationSeconds 40, of which a quarter),
component-helpers/apimachinery/lease/controller.go @ v1.34.1
"""

from scheduler_core.controllers.contract import World


def last_renewal(world: World, node: str) -> int:
    """Return the virtual time (ns) of the last renewal of a node's Lease; -1 if its kubelet has never run."""
    memory = world.surroundings.kubelet
    since = memory.since.get(node)
    if since is None:
        return -1
    until = memory.stopped.get(node, world.now)
    interval = world.cluster.kubelet_of(node).lease_duration // 4
    return since + (until - since) // interval * interval


def runs(world: World, node: str) -> bool:
    """Return whether a node's kubelet runs."""
    memory = world.surroundings.kubelet
    return node in memory.since and node not in memory.stopped


def next_tick(world: World, node: str, interval: int) -> int:
    """Return the virtual time (ns) of the next iteration of a loop of the node's kubelet, from now on."""
    since = world.surroundings.kubelet.since.get(node, 0)
    return since + -(-(world.now - since) // interval) * interval


def report(world: World, node: str) -> None:
    """Schedule a write of a node's status at the kubelet's next status update."""
    interval = world.cluster.kubelet_of(node).status_interval
    world.controller("kubelet").enqueue_at(world, node, next_tick(world, node, interval))
