"""Signatures: pods of one signature get the same answers from Filter and Score on the same nodes.

A profile with a plugin that is not in the table, or with extenders, signs no pod.

kube: framework/runtime/framework.go (SignPod), each plugin's SignPod, kube-scheduler/framework/signers.go @ v1.37.2
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple
from typing import Any

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apimachinery.objects.spec import canonical
from scheduler_core.scheduler.framework.plugin import Plugin, Point
from scheduler_core.scheduler.framework.runtime.framework import Framework

_LOOKED_AT = (Point.PRE_FILTER, Point.FILTER, Point.PRE_SCORE, Point.SCORE)
_CLASS_PREFIX = "deviceclass.resource.kubernetes.io/"
Sign = Callable[[Any, Pod], Any]


def sign(framework: Framework, pod: Pod) -> str:
    """Return a pod's signature in a profile; "" where the pod cannot be compared with others."""
    plugins = framework.signers
    if plugins is None:
        plugins = framework.signers = _signing_plugins(framework)
    if (
        framework.extended
        or not plugins
        or any(refuses(plugin, pod) for plugin in plugins if (refuses := _REFUSES.get(plugin.name)))
    ):
        return ""
    fragments = (signer(plugin, pod) for plugin in plugins if (signer := _SIGNS[plugin.name]))
    return canonical([pod.spec.scheduler_name, *dict.fromkeys(map(canonical, fragments))])


def _signing_plugins(framework: Framework) -> tuple[Plugin, ...]:
    """Return the plugins that look at nodes; none if one of them has no signature."""
    found = {plugin.name: plugin for point in _LOOKED_AT for plugin in framework.at(point)}
    refusing_first = sorted(found.values(), key=lambda plugin: plugin.name not in _REFUSES)
    return tuple(refusing_first) if found.keys() <= _SIGNS.keys() else ()


def _sorted(parts: Any) -> list[str]:
    return sorted(map(canonical, parts))


def _tolerations(plugin: Plugin, pod: Pod) -> Any:
    return sorted((astuple(each) for each in pod.spec.tolerations), key=lambda each: (each[0], each[2]))


def _volumes(plugin: Plugin, pod: Pod) -> Any:
    volumes = pod.manifest["spec"].get("volumes") or ()
    local = ("configMap", "secret")
    return _sorted(
        {name: value for name, value in each.items() if name != "name"}
        for each in volumes
        if not any(kind in each for kind in local)
    )


def _affinity(plugin: Plugin, pod: Pod) -> Any:
    affinity = (pod.manifest["spec"].get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    return [
        _sorted(map(_sort_term, required.get("nodeSelectorTerms") or ())),
        _sorted(
            [each.get("weight"), _sort_term(each.get("preference") or {})]
            for each in affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        ),
        pod.spec.node_selector,
    ]


def _sort_term(term: Any) -> Any:
    """Return a node selector term whose requirements and values are in order."""
    return [
        _sorted({**each, "values": sorted(each.get("values") or ())} for each in term.get(name) or ())
        for name in ("matchExpressions", "matchFields")
    ]


def _requests(plugin: Plugin, pod: Pod) -> Any:
    return astuple(pod.spec.requests)


def _labels(plugin: Plugin, pod: Pod) -> Any:
    return None if plugin.args.get("ignorePreferredTermsOfExistingPods") else dict(pod.labels)


_SIGNS: dict[str, Sign | None] = {
    "NodeUnschedulable": _tolerations,
    "TaintToleration": _tolerations,
    "NodeName": None,
    "NodeAffinity": _affinity,
    "NodePorts": lambda plugin, pod: sorted({each.port for each in pod.spec.host_ports}),
    "NodeResourcesFit": _requests,
    "NodeResourcesBalancedAllocation": _requests,
    "VolumeRestrictions": _volumes,
    "NodeVolumeLimits": _volumes,
    "VolumeBinding": _volumes,
    "VolumeZone": _volumes,
    "PodTopologySpread": None,
    "InterPodAffinity": _labels,
    "DynamicResources": None,
    "ImageLocality": lambda plugin, pod: sorted(set(pod.spec.images)),
    "NodeDeclaredFeatures": lambda plugin, pod: plugin.needs_of(pod),
}


def _is_spread(plugin: Plugin, pod: Pod) -> bool:
    defaults = plugin.args.get("defaultingType") != "List" or plugin.args.get("defaultConstraints")
    return bool(pod.spec.topology_spread or defaults)


def _has_devices(plugin: Plugin, pod: Pod) -> bool:
    """Return whether devices serve one of the extended resources that a pod asks for."""
    names = {name for name, amount in pod.spec.requests.scalar if amount}
    if not names or not plugin.handle.features.dra_extended_resource:
        return False
    served = {(each.get("spec") or {}).get("extendedResourceName") for each in plugin.handle.list("DeviceClass")}
    return any(name in served or name.startswith(_CLASS_PREFIX) for name in names)


_REFUSES: dict[str, Callable[[Plugin, Pod], bool]] = {
    "PodTopologySpread": _is_spread,
    "InterPodAffinity": lambda plugin, pod: bool(pod.spec.pod_affinity or pod.spec.pod_anti_affinity),
    "DynamicResources": lambda plugin, pod: bool(pod.spec.resource_claims),
    "NodeResourcesFit": _has_devices,
    "NodeResourcesBalancedAllocation": _has_devices,
}
