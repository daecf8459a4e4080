"""From what a person fills in to Kubernetes manifests: pure functions, no request, no session."""

from playground.workbench.builder.claims import claim_manifests
from playground.workbench.builder.clusters import CLUSTERS, Cluster, clusters_of_differences
from playground.workbench.builder.devices import PRESETS, Preset, device_manifests
from playground.workbench.builder.nodes import node_manifests
from playground.workbench.builder.pods import pod_manifests
from playground.workbench.builder.yamltext import fragment, to_yaml

__all__ = ["CLUSTERS", "PRESETS", "Cluster", "Preset", "claim_manifests", "clusters_of_differences"]
__all__ += ["device_manifests", "fragment", "node_manifests", "pod_manifests", "to_yaml"]
