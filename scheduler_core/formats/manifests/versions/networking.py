"""Ingresses, network policies and endpoint slices of older versions.

kube: pkg/apis/networking/v1beta1/conversion.go @ v1.20.15, pkg/apis/extensions/v1beta1/defaults.go @ v1.17.17,
pkg/apis/discovery/v1beta1/conversion.go @ v1.22.17
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.apimachinery.objects.manifest import Manifest

_ZONE = "topology.kubernetes.io/zone"


def ingress(manifest: Manifest) -> Manifest:
    """Backends name their service in an object of its own, and paths say how they match."""
    spec = dict(manifest.get("spec") or {})
    if "backend" in spec:
        spec["defaultBackend"] = _backend(spec.pop("backend"))
    if spec.get("rules"):
        spec["rules"] = [_rule(rule) for rule in spec["rules"]]
    return {**manifest, "spec": spec}


def _rule(rule: Manifest) -> Manifest:
    http = rule.get("http")
    if not http or not http.get("paths"):
        return rule
    paths = [
        {"pathType": "ImplementationSpecific", **path, "backend": _backend(path.get("backend"))}
        for path in http["paths"]
    ]
    return {**rule, "http": {**http, "paths": paths}}


def _backend(backend: Any) -> Any:
    if not isinstance(backend, Mapping):
        return backend
    rest = {name: value for name, value in backend.items() if name not in ("serviceName", "servicePort")}
    name, port = backend.get("serviceName") or "", backend.get("servicePort")
    if not name and not port:
        return rest
    return {
        **rest,
        "service": {"name": name, "port": {"name" if isinstance(port, str) else "number": port or 0}},
    }


def network_policy(manifest: Manifest) -> Manifest:
    """One that does not say which traffic it is about is about what comes in, and what goes out where it has rules for that."""
    spec = manifest.get("spec") or {}
    if spec.get("policyTypes"):
        return manifest
    types = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]
    return {**manifest, "spec": {**spec, "policyTypes": types}}


def endpoint_slice(manifest: Manifest) -> Manifest:
    endpoints = [_endpoint(each) for each in manifest.get("endpoints") or ()]
    return {**manifest, "endpoints": endpoints}


def _endpoint(endpoint: Manifest) -> Manifest:
    topology = endpoint.get("topology") or {}
    rest = {name: value for name, value in endpoint.items() if name != "topology"}
    others = {
        name: value for name, value in topology.items() if name not in (_ZONE, "kubernetes.io/hostname")
    }
    zone = {"zone": topology[_ZONE]} if _ZONE in topology else {}
    return {**rest, **zone, **({"deprecatedTopology": others} if others else {})}
