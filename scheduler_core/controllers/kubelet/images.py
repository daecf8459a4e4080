"""Images: those present on a node, the duration of pulls, and the report of pulled images.

Only images whose size a node reports count: the size of others is unknown, and ImageLocality ignores them.

kube: pkg/kubelet/images/image_manager.go, pkg/kubelet/nodestatus/setters.go (Images) @ v1.34.1
"""

from collections.abc import Iterable, Mapping
from typing import Any

from scheduler_core.apimachinery.objects import SECOND, Node, Pod
from scheduler_core.apimachinery.objects.spec import normalize_image_name
from scheduler_core.apiserver.watch import WatchEvent
from scheduler_core.controllers.contract import World
from scheduler_core.controllers.kubelet import heartbeats

PULLED = "Pulled"
MOST_REPORTED = 50  # nodeStatusMaxImages


def learn(world: World, event: WatchEvent) -> None:
    """Record the sizes of images that a node reports."""
    node, old = event.new_node, event.old_node
    if node is not None and (old is None or old.images != node.images):
        learn_of(world, node)


def learn_of(world: World, node: Node) -> None:
    """Record the image sizes of an existing node."""
    sizes = world.surroundings.kubelet.image_sizes
    for names, size in node.images:
        for name in names:
            sizes.setdefault(normalize_image_name(name), size)


def missing(world: World, pod: Pod, node: Node) -> list[str]:
    """Return the pod's images that the node must pull, each once."""
    sizes = world.surroundings.kubelet.image_sizes
    if not sizes:
        return []
    reported = (normalize_image_name(name) for names, _ in node.images for name in names)
    there = frozenset((*reported, *world.surroundings.kubelet.pulled.get(node.name, ())))
    return [name for name in dict.fromkeys(pod.spec.images) if name in sizes and name not in there]


def pull_time(world: World, names: Iterable[str]) -> int:
    """Return the time to pull images (ns)."""
    rate = world.cluster.image_pull_rate
    sizes = world.surroundings.kubelet.image_sizes
    return sum(sizes[name] * SECOND // rate for name in names) if rate else 0


def mark_pulled(world: World, pod: Pod) -> list[str]:
    """Record that a pod's images are on its node. Return those that were not there before."""
    node = world.store.node(pod.node_name)
    names = [] if node is None else missing(world, pod, node)
    if names:
        memory = world.surroundings.kubelet
        memory.pulled[pod.node_name] = (*memory.pulled.get(pod.node_name, ()), *names)
        heartbeats.report(world, pod.node_name)
    return names


def to_report(world: World, node: Node) -> list[Mapping[str, Any]] | None:
    """Return the node's images for its status, the largest first, or None if nothing has changed."""
    memory = world.surroundings.kubelet
    names = memory.pulled.pop(node.name, ())
    if not names:
        return None
    old = (node.manifest.get("status") or {}).get("images") or []
    new = [*old, *({"names": [name], "sizeBytes": memory.image_sizes[name]} for name in names)]
    return sorted(new, key=lambda image: -int(image.get("sizeBytes") or 0))[:MOST_REPORTED]
