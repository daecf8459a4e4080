"""Comparison: the same objects under several configurations of the scheduler."""

from collections.abc import Mapping
from dataclasses import dataclass

from scheduler_core.notebook.cluster import Cluster, Configuration
from scheduler_core.notebook.markup import Html, card, element, format_count, number, table

MOST_SHOWN = 60  # pods


@dataclass(frozen=True)
class Comparison:
    """The result of a comparison. `clusters`: the final cluster by the configuration's name."""

    clusters: Mapping[str, Cluster]

    @property
    def nodes_of(self) -> Mapping[str, Mapping[str, str]]:
        """The pod's node by pod and configuration; "" if the pod is pending or missing."""
        pods = dict.fromkeys(pod for cluster in self.clusters.values() for pod in cluster.pods)
        found = {name: cluster.pods for name, cluster in self.clusters.items()}
        return {pod: {name: placed.get(pod, "") for name, placed in found.items()} for pod in sorted(pods)}

    @property
    def differences(self) -> Mapping[str, Mapping[str, str]]:
        """The entries of nodes_of for pods whose node differs between configurations."""
        return {pod: nodes for pod, nodes in self.nodes_of.items() if _differs(nodes)}

    def __repr__(self) -> str:
        names = ", ".join(self.clusters)
        return f"<Comparison of {names}: {len(self.differences)} of {len(self.nodes_of)} pods differ>"

    def _repr_html_(self) -> str:
        nodes_of, different = self.nodes_of, self.differences
        order = [*different, *(pod for pod in nodes_of if pod not in different)]
        rows = [_row(pod, nodes_of[pod]) for pod in order[:MOST_SHOWN]]
        left = len(order) - MOST_SHOWN
        more = element("p", f"{format_count(left, 'more pod')} not shown.") if left > 0 else Html("")
        return card(
            f"{len(different)} of {format_count(len(nodes_of), 'pod')} have different nodes",
            self._summary(),
            table(["Pod", *self.clusters], rows),
            more,
        )

    def _summary(self) -> Html:
        rows = []
        for name, cluster in self.clusters.items():
            placed = [node for node in cluster.pods.values() if node]
            used, pending = len(dict.fromkeys(placed)), len(cluster.pending)
            rows.append([name, number(len(placed)), number(pending), number(used), number(len(cluster.nodes) - used)])
        return table(["Configuration", "Placed", "Pending", "Nodes in use", "Empty nodes"], rows)


def compare(cluster: Cluster, configurations: Mapping[str, Configuration]) -> Comparison:
    """Run a fork of the cluster under each configuration until it is idle. The cluster itself does not change."""
    clusters = {}
    for name, configuration in configurations.items():
        clusters[name] = cluster.fork().configure(configuration)
        clusters[name].schedule_all()
    return Comparison(clusters)


def _differs(nodes: Mapping[str, str]) -> bool:
    return len(dict.fromkeys(nodes.values())) > 1


def _row(pod: str, nodes: Mapping[str, str]) -> list[object]:
    differs = _differs(nodes)
    cells = [element("td", node or "pending", sort="new" if differs else "") for node in nodes.values()]
    return [pod.removeprefix("default/"), *cells]
