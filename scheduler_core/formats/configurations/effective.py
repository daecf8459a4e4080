"""The plugins that a profile of an older version ran at each extension point, as kube-scheduler computed them then.

kube: apis/config/{v1beta1,v1beta2}/default_plugins.go @ v1.22.17, v1.25.16
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from scheduler_core.scheduler.config.schema import FIELDS
from scheduler_core.scheduler.framework.arguments import present

# The older versions of KubeSchedulerConfiguration: who read them last, and which plugins ran by default then, with their weights.
# kube: pkg/scheduler/algorithmprovider/registry.go @ v1.18.20; apis/config/{v1beta1,v1beta2}/default_plugins.go @ v1.22.17, v1.25.16;
# apis/config/v1beta3/default_plugins.go @ v1.28.15

GROUP = "kubescheduler.config.k8s.io"
Defaults = Mapping[str, tuple[tuple[str, int], ...]]


@dataclass(frozen=True, slots=True)
class Version:
    """An older version. `release` is the last kube-scheduler that read it; `defaults` are its plugins by extension point.

    `overrides`: enabling a default plugin reconfigures it in place. Earlier, the plugin was then listed twice, and kube-scheduler did not
    start.
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

# What differs between a configuration of an older version and what it becomes, told to the person who wrote it.

Kind = Literal["moved", "kept", "dropped", "lost"]


@dataclass(frozen=True, slots=True)
class Change:
    """One difference. `path` is a field of the original document, or "" if the document does not have it.

    moved: v1 expresses the setting in another place or form; kept: written out because today's default differs; dropped: without meaning
    today; lost: v1 can't express the setting, and `effect` describes the difference.
    """

    kind: Kind
    path: str
    text: str
    effect: str = ""


@dataclass(frozen=True, slots=True)
class Migration:
    """A configuration as v1, its original `version`, the release that read it, and all differences."""

    manifest: Mapping[str, Any]
    version: str
    release: str
    changes: tuple[Change, ...]

    @property
    def lossy(self) -> bool:
        """True if the result makes some decisions differently."""
        return any(change.kind == "lost" for change in self.changes)


SCORE = "score"


@dataclass(slots=True)
class ProfilePlugin:
    """A plugin that ran at a point. `weight` counts at score; `path` is where the user enabled it, "" where it was a default."""

    name: str
    weight: int = 0
    path: str = ""


@dataclass(slots=True)
class Profile:
    """The plugins of a profile by point, in order. `starred` are the points where the user disabled "*" and listed the plugins.

    `disabled` are the places, by point and name, where the user disabled a plugin. `enabled_first` are the points whose enabled list
    comes first.
    """

    ran: dict[str, list[ProfilePlugin]] = field(default_factory=dict)
    starred: dict[str, str] = field(default_factory=dict)
    disabled: dict[str, dict[str, str]] = field(default_factory=dict)
    enabled_first: list[str] = field(default_factory=list)

    def names(self, point: str) -> list[str]:
        return [each.name for each in self.ran.get(point, ())]

    def find(self, point: str, name: str) -> ProfilePlugin | None:
        return next((each for each in self.ran.get(point, ()) if each.name == name), None)

    def anywhere(self, name: str) -> bool:
        return any(name in self.names(point) for point in self.ran)

    def drop(self, name: str, *points: str) -> None:
        """Remove a plugin from points, by default from all."""
        for point in points or tuple(self.ran):
            self.ran[point] = [each for each in self.ran.get(point, ()) if each.name != name]


def effective(plugins: Mapping[str, Any] | None, path: str, version: Version) -> tuple[Profile, list[Change]]:
    """Return the plugins that a profile's `plugins` at `path` ran, and the changes for settings with which kube-scheduler did not start."""
    profile, changes = Profile(), []
    for point in FIELDS:
        custom = (plugins or {}).get(point) or {}
        where = f"{path}.{point}"
        ran, doubled = _merge_plugins(version, point, custom, where)
        profile.ran[point] = ran
        profile.disabled[point] = {
            each.get("name") or "": f"{where}.disabled[{i}]" for i, each in enumerate(custom.get("disabled") or ())
        }
        if next(iter(custom), "") == "enabled":
            profile.enabled_first.append(point)
        if "*" in profile.disabled[point]:
            profile.starred[point] = profile.disabled[point]["*"]
        changes += doubled
    return profile, changes


def _merge_plugins(
    version: Version, point: str, custom: Mapping[str, Any], path: str
) -> tuple[list[ProfilePlugin], list[Change]]:
    """Return the default plugins without the disabled ones, followed by the enabled ones. A reconfigured plugin keeps its place."""
    off = {each.get("name") for each in custom.get("disabled") or ()}
    enabled = [present(each) for each in custom.get("enabled") or ()]
    ran = [
        ProfilePlugin(name, weight)
        for name, weight in version.defaults.get(point, ())
        if "*" not in off and name not in off
    ]
    at = {each.name: i for i, each in enumerate(ran)}
    changes = []
    for i, entry in enumerate(enabled):
        own = ProfilePlugin(
            entry.get("name") or "", (entry.get("weight") or 1) if point == SCORE else 0, f"{path}.enabled[{i}]"
        )
        if own.name not in at:
            at[own.name] = len(ran)
            ran.append(own)
            continue
        again = bool(ran[at[own.name]].path)
        ran[at[own.name]] = own
        if again or not version.overrides:
            text = f'"{own.name}" was listed twice at {point}, which kube-scheduler {version.release} refused. It is now listed once'
            changes.append(Change("moved", own.path, text))
    return ran, changes
