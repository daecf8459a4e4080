"""From what a person fills in to Kubernetes manifests: pure functions, no request, no session."""

from playground.builder.claims import claim_manifests
from playground.builder.clusters import CLUSTERS, Cluster
from playground.builder.devices import PRESETS, Preset, device_manifests
from playground.builder.nodes import node_manifests
from playground.builder.pods import pod_manifests
from playground.builder.yamltext import fragment, to_yaml

__all__ = [
    "CLUSTERS",
    "PRESETS",
    "Cluster",
    "Preset",
    "claim_manifests",
    "device_manifests",
    "fragment",
    "node_manifests",
    "pod_manifests",
    "to_yaml",
]
