"""The older versions of KubeSchedulerConfiguration: who read them last, and which plugins ran by default then, with their weights.

kube: pkg/scheduler/algorithmprovider/registry.go @ v1.18.20; apis/config/{v1beta1,v1beta2}/default_plugins.go @ v1.22.17, v1.25.16;
apis/config/v1beta3/default_plugins.go @ v1.28.15
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

GROUP = "kubescheduler.config.k8s.io"
Defaults = Mapping[str, tuple[tuple[str, int], ...]]


@dataclass(frozen=True, slots=True)
class Version:
    """An older version. `release` is the last kube-scheduler that read it; `defaults` its plugins by extension point.

    `overrides`: whether a default plugin that is enabled again is configured anew, in its place; before, it stood there twice, and
    kube-scheduler did not start.
    """

    name: str
    release: str
    defaults: Defaults
    overrides: bool = True

    @property
    def api_version(self) -> str:
        return f"{GROUP}/{self.name}"


def _plugins(**points: str) -> Defaults:
    """Return by point the names with an optional weight: "NodeAffinity ImageLocality=1"."""
    return {point: tuple(_entry(each) for each in names.split()) for point, names in points.items()}


def _entry(text: str) -> tuple[str, int]:
    name, _, weight = text.partition("=")
    return name, int(weight or 0)


_ALPHA = _plugins(
    queueSort="PrioritySort",
    preFilter="NodeResourcesFit NodePorts InterPodAffinity PodTopologySpread",
    filter="NodeUnschedulable NodeResourcesFit NodeName NodePorts NodeAffinity VolumeRestrictions TaintToleration EBSLimits GCEPDLimits"
    " NodeVolumeLimits AzureDiskLimits VolumeBinding VolumeZone InterPodAffinity PodTopologySpread",
    postFilter="DefaultPreemption",  # not a plugin yet, but done
    preScore="InterPodAffinity DefaultPodTopologySpread TaintToleration PodTopologySpread",
    score="NodeResourcesBalancedAllocation=1 ImageLocality=1 InterPodAffinity=1 NodeResourcesLeastAllocated=1 NodeAffinity=1"
    " NodePreferAvoidPods=10000 DefaultPodTopologySpread=1 TaintToleration=1 PodTopologySpread=1",
    bind="DefaultBinder",
)
_BETA = _plugins(
    queueSort="PrioritySort",
    preFilter="NodeResourcesFit NodePorts VolumeRestrictions PodTopologySpread InterPodAffinity VolumeBinding NodeAffinity",
    filter="NodeUnschedulable NodeName TaintToleration NodeAffinity NodePorts NodeResourcesFit VolumeRestrictions EBSLimits GCEPDLimits"
    " NodeVolumeLimits AzureDiskLimits VolumeBinding VolumeZone PodTopologySpread InterPodAffinity",
    postFilter="DefaultPreemption",
    preScore="InterPodAffinity PodTopologySpread TaintToleration NodeAffinity",
    reserve="VolumeBinding",
    preBind="VolumeBinding",
    bind="DefaultBinder",
)
_BETA1 = {
    **_BETA,
    **_plugins(
        score="NodeResourcesBalancedAllocation=1 ImageLocality=1 InterPodAffinity=1 NodeResourcesLeastAllocated=1 NodeAffinity=1"
        " NodePreferAvoidPods=10000 PodTopologySpread=2 TaintToleration=1"
    ),
}
_BETA2 = {
    **_BETA,
    **_plugins(
        score="NodeResourcesBalancedAllocation=1 ImageLocality=1 InterPodAffinity=1 NodeResourcesFit=1 NodeAffinity=1"
        " PodTopologySpread=2 TaintToleration=1"
    ),
}
_BETA3 = _plugins(
    multiPoint="PrioritySort NodeUnschedulable NodeName TaintToleration=3 NodeAffinity=2 NodePorts NodeResourcesFit=1 VolumeRestrictions"
    " EBSLimits GCEPDLimits NodeVolumeLimits AzureDiskLimits VolumeBinding VolumeZone PodTopologySpread=2 InterPodAffinity=2"
    " DefaultPreemption NodeResourcesBalancedAllocation=1 ImageLocality=1 DefaultBinder SchedulingGates"
)

VERSIONS: tuple[Version, ...] = (
    Version("v1alpha1", "v1.18", _ALPHA, overrides=False),
    Version("v1alpha2", "v1.18", _ALPHA, overrides=False),
    Version("v1beta1", "v1.22", _BETA1, overrides=False),
    Version("v1beta2", "v1.27", _BETA2),
    Version("v1beta3", "v1.28", _BETA3),
)
BY_API_VERSION = {version.api_version: version for version in VERSIONS}
