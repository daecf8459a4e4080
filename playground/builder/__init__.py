"""From what a person fills in to Kubernetes manifests: pure functions, no request, no session."""

from playground.builder.clusters import CLUSTERS, Cluster
from playground.builder.nodes import node_manifests
from playground.builder.pods import pod_manifests
from playground.builder.yamltext import to_yaml

__all__ = ["CLUSTERS", "Cluster", "node_manifests", "pod_manifests", "to_yaml"]
