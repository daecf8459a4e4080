"""Fields of pods that gates of v1.34 keep off: they are dropped before anything looks at them.

kube: pkg/api/pod/util.go (dropDisabledFields), pkg/features/kube_features.go @ v1.34.1
"""

from __future__ import annotations

from typing import Any

from scheduler_core.apimachinery.objects.manifest import Manifest

Drops = dict[str, Any]
_PROJECTIONS = ("clusterTrustBundle", "podCertificate")  # ClusterTrustBundleProjection, PodCertificateRequest


_TEMPLATES = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "ReplicationController")
_SPECS = {
    "Pod": ("spec",),
    **dict.fromkeys(_TEMPLATES, ("spec", "template", "spec")),
    "CronJob": ("spec", "jobTemplate", "spec", "template", "spec"),
}


def without_gated_fields(manifest: Manifest, kind: str) -> Manifest:
    """A pod, or an object with a template for pods, without these fields."""
    return _within(manifest, _SPECS[kind]) if kind in _SPECS else manifest


def _within(value: Manifest, path: tuple[str, ...]) -> Manifest:
    if not path:
        return _drop_gated_fields(value)
    old = value.get(path[0])
    new = _within(old, path[1:]) if old else old
    return value if new is old else {**value, path[0]: new}


def _drop_gated_fields(spec: Manifest) -> Manifest:
    """A pod's spec without these fields; one that has none is returned as it is."""
    changed: Drops = {}
    if "hostnameOverride" in spec:  # HostnameOverride
        changed["hostnameOverride"] = None
    gone = [each.get("name") for each in spec.get("volumes") or () if each.get("image") is not None]
    volumes = [
        _volume(each) for each in spec.get("volumes") or () if each.get("image") is None
    ]  # ImageVolume
    if volumes != list(spec.get("volumes") or ()):
        changed["volumes"] = volumes
    for field in ("containers", "initContainers", "ephemeralContainers"):
        kept = [_container(each, field, gone) for each in spec.get(field) or ()]
        if kept != list(spec.get(field) or ()):
            changed[field] = kept
    return _with(spec, changed)


def _with(value: Manifest, changed: Drops) -> Manifest:
    """Return the value with changed fields; None removes a field."""
    if not changed:
        return value
    return {
        name: each for name, each in {**value, **changed}.items() if name not in changed or each is not None
    }


def _volume(volume: Manifest) -> Manifest:
    sources = (volume.get("projected") or {}).get("sources") or ()
    if not any(name in source for source in sources for name in _PROJECTIONS):
        return volume
    kept = [_with(source, dict.fromkeys(_PROJECTIONS)) for source in sources]
    return {**volume, "projected": {**volume["projected"], "sources": kept}}


def _container(raw: Manifest, field: str, gone: list[Any]) -> Manifest:
    changed: Drops = {}
    if "restartPolicyRules" in raw:  # ContainerRestartRules
        changed["restartPolicyRules"] = None
    if "restartPolicy" in raw and (field != "initContainers" or raw["restartPolicy"] != "Always"):
        changed["restartPolicy"] = None
    if "stopSignal" in (raw.get("lifecycle") or {}):  # ContainerStopSignals
        changed["lifecycle"] = _with(raw["lifecycle"], {"stopSignal": None}) or None
    if any("fileKeyRef" in (each.get("valueFrom") or {}) for each in raw.get("env") or ()):  # EnvFiles
        changed["env"] = [
            {**each, "valueFrom": _with(each["valueFrom"], {"fileKeyRef": None})}
            if each.get("valueFrom")
            else each
            for each in raw["env"]
        ]
    mounts = raw.get("volumeMounts") or ()
    if gone and any(each.get("name") in gone for each in mounts):
        changed["volumeMounts"] = [each for each in mounts if each.get("name") not in gone]
    return _with(raw, changed)
