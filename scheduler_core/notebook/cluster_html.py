"""A cluster as HTML: its nodes with their usage and pods, and the pending pods."""

from collections import defaultdict
from collections.abc import Mapping

from scheduler_core.notebook import markup
from scheduler_core.notebook.markup import Html, bar, card, chip, element, format_count, join_html, table
from scheduler_core.scheduler.cache.table import CPU, MEMORY
from scheduler_core.world.readonly import NodeTable, Pod, WorldView

MOST_NODES, MOST_PODS, MOST_WAITING = 40, 12, 20
ZONE = "topology.kubernetes.io/zone"


def cluster_html(world: WorldView, messages: Mapping[str, str]) -> str:
    """Return a world as HTML. `messages` are the messages of the pods' last attempts."""
    nodes = world.schedulers[0].cache.table() if world.schedulers else NodeTable()
    pods = _pods(world)
    waiting = [pod for pod in pods if not pod.node_name]
    by_node: defaultdict[str, list[Pod]] = defaultdict(list)
    for pod in pods:
        by_node[pod.node_name].append(pod)
    facts = (
        format_count(len(nodes), "node"),
        format_count(len(pods), "pod"),
        f"{len(waiting):,} pending",
        f"t = {markup.seconds(world.now)}",
        f"step {world.position:,}",
        f"kube {world.settings.release}",
    )
    return card("Cluster: " + " · ".join(facts), _nodes(nodes, by_node), _waiting(world, waiting, messages))


def _pods(world: WorldView) -> list[Pod]:
    keys = (f"{pod['metadata']['namespace']}/{pod['metadata']['name']}" for pod in world.store.list("Pod"))
    return [pod for key in keys if (pod := world.store.pod_at(key)) is not None]


def _nodes(nodes: NodeTable, by_node: Mapping[str, list[Pod]]) -> Html:
    if not len(nodes):
        return element("p", "The cluster has no nodes.")
    order = sorted(range(len(nodes)), key=lambda row: nodes.names[row])
    zoned = any(ZONE in node.labels for node in nodes.nodes)
    headings = ["Node", *(["Zone"] if zoned else []), "CPU", "Memory", "Pod slots", "Pods"]
    rows = [_node(nodes, row, by_node, zoned) for row in order[:MOST_NODES]]
    left = len(order) - MOST_NODES
    more = element("p", f"{format_count(left, 'more node')} not shown.") if left > 0 else Html("")
    return join_html((table(headings, rows), more))


def _node(nodes: NodeTable, row: int, by_node: Mapping[str, list[Pod]], zoned: bool) -> list[object]:
    name, node = nodes.names[row], nodes.nodes[row]
    requested, allocatable = nodes.requested[row].tolist(), nodes.allocatable[row].tolist()
    pods = by_node.get(name, [])
    chips = [chip(_short(pod), title=f"priority {pod.priority}") for pod in pods[:MOST_PODS]]
    if len(pods) > MOST_PODS:
        chips.append(chip(f"{len(pods) - MOST_PODS:,} more", sort="quiet"))
    cordoned = chip("cordoned", sort="new") if nodes.unschedulable[row] else Html("")
    return [
        join_html((name, " ", cordoned)) if cordoned else name,
        *([node.labels.get(ZONE, "")] if zoned else []),
        _use(requested[CPU], allocatable[CPU], markup.cpu),
        _use(requested[MEMORY], allocatable[MEMORY], markup.memory),
        _use(len(pods), int(nodes.allowed_pods[row]), str),
        join_html(chips),
    ]


def _use(requested: int, allocatable: int, written: markup.Written) -> Html:
    share = requested / allocatable if allocatable else 0
    return join_html((f"{written(requested)} of {written(allocatable)}", bar(share)))


def _waiting(world: WorldView, waiting: list[Pod], messages: Mapping[str, str]) -> Html:
    if not waiting:
        return Html("")
    rows = [[_short(pod), world.journal.place(pod.key), messages.get(pod.key, "")] for pod in waiting[:MOST_WAITING]]
    left = len(waiting) - MOST_WAITING
    more = element("p", f"{format_count(left, 'more pod')} waiting.") if left > 0 else Html("")
    return join_html((table(["Pending pod", "Where", "Its last attempt"], rows), more))


def _short(pod: Pod) -> str:
    """Return the pod's key, without the namespace `default`."""
    return pod.key.removeprefix("default/")
