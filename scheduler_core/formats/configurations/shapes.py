"""The shapes of the older versions, so that an error is said of the document as it was written.

kube: kube-scheduler/config/{v1alpha1,v1alpha2,v1beta1,v1beta2,v1beta3}/types.go @ v0.17.17 to v0.28.15
"""

from __future__ import annotations

from scheduler_core.apimachinery.objects.strict import ANY, BOOL, INTEGER32, INTEGER64, STRING, ListOf, Shape
from scheduler_core.scheduler.config.schema import CONFIGURATION, EXTENDER, FIELDS, MULTI_POINT, PLUGIN_SET

_Fields = dict[str, Shape]
_POINTS = [point for point in FIELDS if point != "preEnqueue"]
_PLUGIN_CONFIG: Shape = ListOf({"name": STRING, "args": ANY})
_ADDRESSES: _Fields = {"healthzBindAddress": STRING, "metricsBindAddress": STRING}
_LOCK: _Fields = {"lockObjectNamespace": STRING, "lockObjectName": STRING}


def _profile(points: list[str]) -> _Fields:
    return {"schedulerName": STRING, "plugins": dict.fromkeys(points, PLUGIN_SET), "pluginConfig": _PLUGIN_CONFIG}


def _of(shape: Shape) -> _Fields:
    """The fields of an object's shape."""
    assert isinstance(shape, dict)
    return shape


def _without(names: tuple[str, ...]) -> _Fields:
    return {name: shape for name, shape in _of(CONFIGURATION).items() if name not in names}


_COMMON = _without(("profiles", "delayCacheUntilActive"))
_ALPHA = {
    **_without(("profiles", "delayCacheUntilActive", "parallelism", "extenders", "leaderElection")),
    **_ADDRESSES,
    "leaderElection": {**_of(_COMMON["leaderElection"]), **_LOCK},
    "disablePreemption": BOOL,
    "bindTimeoutSeconds": INTEGER64,
}
_EXTENDER: Shape = {**_of(EXTENDER), "enableHttps": BOOL, "httpTimeout": ANY}

SHAPES: dict[str, Shape] = {
    "v1alpha1": {
        **_ALPHA,
        "schedulerName": STRING,
        "algorithmSource": {
            "provider": STRING,
            "policy": {"file": {"path": STRING}, "configMap": {"namespace": STRING, "name": STRING}},
        },
        "hardPodAffinitySymmetricWeight": INTEGER32,
        "failureDomains": STRING,
        "plugins": dict.fromkeys([*(p for p in _POINTS if p != "preScore"), "unreserve"], PLUGIN_SET),
        "pluginConfig": _PLUGIN_CONFIG,
    },
    "v1alpha2": {
        **_ALPHA,
        "profiles": ListOf(_profile([*(p for p in _POINTS if p != "postFilter"), "unreserve"])),
        "extenders": ListOf(_EXTENDER),
    },
    "v1beta1": {**_COMMON, **_ADDRESSES, "profiles": ListOf(_profile(_POINTS))},
    "v1beta2": {**_COMMON, **_ADDRESSES, "profiles": ListOf(_profile(_POINTS))},
    "v1beta3": {**_COMMON, "profiles": ListOf(_profile([*FIELDS, MULTI_POINT]))},
}
