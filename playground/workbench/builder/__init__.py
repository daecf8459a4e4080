"""From what a person fills in to Kubernetes manifests: pure functions, no request, no session."""

from playground.workbench.builder.clusters import CLUSTERS, begin_difference, clusters_of_differences, inputs_of_gangs
from playground.workbench.builder.devices import PRESETS, Preset, claim_manifests, device_manifests
from playground.workbench.builder.manifests import fragment, node_manifests, pod_manifests, to_yaml

__all__ = ["CLUSTERS", "PRESETS", "Preset", "claim_manifests", "clusters_of_differences"]
__all__ += ["device_manifests", "fragment", "node_manifests", "pod_manifests", "to_yaml"]
__all__ += ["begin_difference", "inputs_of_gangs"]
