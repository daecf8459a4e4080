"""Defaults that the simulation does not use but clients see, and the fields that kube allocates for a Service.

kube: pkg/apis/core/v1/{defaults.go,conversion.go}, pkg/registry/core/service/storage @ v1.34.1
"""

import base64
import hashlib
import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.schema.table import fields, parse_expression

# Defaults of the pod templates of workloads, type by type.
#
# A container's requests do not follow from its limits here, nor host ports from container ports: kube does that only in pods.
#
# DEVIATION: amounts stay as they were written; kube rounds them up to thousandths.
# kube: pkg/apis/core/v1/{defaults,zz_generated.defaults}.go, pkg/apis/apps/v1/conversion.go @ v1.34.1

Change = Callable[[str, Manifest], Manifest]

_CONTAINERS = ("Container", "EphemeralContainer")
_DATA = json.loads(Path(__file__).with_suffix(".json").read_text())
_OF_TYPES: Mapping[str, Manifest] = _DATA["types"]
_UNSET: Mapping[str, tuple[Any, ...]] = {"Probe": (None, 0)}  # of other types: null and ""


def with_template_defaults(spec: Manifest) -> Manifest:
    """Return a workload's spec with the defaults of its pod and claim templates; the same spec if it has them all."""
    return _change_templates(spec, _fill)


def without_template_defaults(spec: Manifest) -> Manifest:
    """Return a workload's spec without template fields that equal the API server's defaults.

    Hashes of templates use this form, so that they equal the hashes of templates that were stored as written.
    """
    return _change_templates(spec, _strip)


def _change_templates(spec: Manifest, change: Change) -> Manifest:
    new: dict[str, Any] = {}
    if spec.get("template"):
        new["template"] = _walk(spec["template"], "PodTemplateSpec", change)
    if spec.get("volumeClaimTemplates"):
        claims = spec["volumeClaimTemplates"]
        new["volumeClaimTemplates"] = [_walk(claim, "PersistentVolumeClaim", change) for claim in claims]
    return spec if all(spec[name] == value for name, value in new.items()) else {**spec, **new}


def _walk(value: Manifest, type_: str, change: Change) -> Manifest:
    """Change an object of a type, after the objects inside it."""
    new = dict(value)
    for name, (is_list, inner) in _ways(type_).items():
        held = value.get(name)
        if held is None and (type_, name) == ("PodTemplateSpec", "spec"):
            held = {}
        if held is not None:
            new[name] = [_walk(each, inner, change) for each in held] if is_list else _walk(held, inner, change)
    return change(type_, new)


@cache
def _ways(type_: str) -> Mapping[str, tuple[bool, str]]:
    """Return the fields of a type that lead to types with defaults: whether each is a list, and its type."""
    found = {}
    for name, field in fields(type_).items():
        inner = parse_expression(field.inner) if field.shape == "list" else field
        if inner.shape == "object" and (inner.inner in _OF_TYPES or _ways(inner.inner)):
            found[name] = (field.shape == "list", inner.inner)
    return found


def _defaults(type_: str, value: Manifest) -> Manifest:
    known = _OF_TYPES.get(type_, {})
    if type_ in _CONTAINERS:
        return {**known, "imagePullPolicy": pull_policy(str(value.get("image") or ""))}
    return known


def _fill(type_: str, value: Manifest) -> Manifest:
    unset = _UNSET.get(type_, (None, ""))
    defaults = _defaults(type_, value)
    if type_ == "Volume" and all(value.get(name) is None for name in fields(type_) if name != "name"):
        defaults = {"emptyDir": {}}
    return {**value, **{name: default for name, default in defaults.items() if value.get(name) in unset}}


def _strip(type_: str, value: Manifest) -> Manifest:
    defaults = _defaults(type_, value)
    return {name: each for name, each in value.items() if name not in defaults or each != defaults[name]}


def pull_policy(image: str) -> str:
    """Return Always for the tag latest (the default tag), else IfNotPresent. An invalid image name has no tag."""
    name, _, digest = image.partition("@")
    path, _, tag = name.rpartition("/")[2].partition(":")
    return "Always" if path and path.islower() and (tag == "latest" or not (tag or digest)) else "IfNotPresent"


Object = dict[str, Any]
_FAMILIES = {"ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack", "internalTrafficPolicy": "Cluster"}

# Of a Service with neither an address nor a selector, whose endpoints other clients write.
_BOTH_FAMILIES = {**_FAMILIES, "ipFamilies": ["IPv4", "IPv6"], "ipFamilyPolicy": "RequireDualStack"}


def _secret(manifest: Manifest) -> Object:
    given = manifest.get("stringData")
    if not given:
        return {**manifest, "type": manifest.get("type") or "Opaque"}
    data = {**(manifest.get("data") or {}), **{k: base64.b64encode(v.encode()).decode() for k, v in given.items()}}
    rest = {name: value for name, value in manifest.items() if name != "stringData"}
    return {**rest, "data": data, "type": manifest.get("type") or "Opaque"}


def _node(manifest: Manifest) -> Object:
    spec = manifest.get("spec") or {}
    if spec.get("podCIDR") and (spec.get("podCIDRs") or [""])[0] != spec["podCIDR"]:
        return {**manifest, "spec": {**spec, "podCIDRs": [spec["podCIDR"]]}}
    if spec.get("podCIDRs") and not spec.get("podCIDR"):
        return {**manifest, "spec": {**spec, "podCIDR": spec["podCIDRs"][0]}}
    return dict(manifest)


def _service(manifest: Manifest) -> Object:
    spec: Object = {"sessionAffinity": "None", "type": "ClusterIP", **(manifest.get("spec") or {})}
    ports = [{"protocol": "TCP", **each} for each in spec.get("ports") or ()]
    if ports:
        spec["ports"] = [{**each, "targetPort": each.get("targetPort") or each.get("port")} for each in ports]
    if spec["sessionAffinity"] == "ClientIP" and not spec.get("sessionAffinityConfig"):
        spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": 10800}}
    if spec["type"] != "ExternalName":
        spec = {**(_FAMILIES if spec.get("clusterIP") != "None" or spec.get("selector") else _BOTH_FAMILIES), **spec}
        if not spec.get("clusterIP"):
            spec["clusterIP"] = _address(manifest["metadata"])
        spec.setdefault("clusterIPs", [spec["clusterIP"]])
    if spec["type"] in ("NodePort", "LoadBalancer"):
        spec = {"externalTrafficPolicy": "Cluster", **spec}
        if spec["type"] == "LoadBalancer":
            spec = {"allocateLoadBalancerNodePorts": True, **spec}
        if spec.get("allocateLoadBalancerNodePorts") is not False:
            spec["ports"] = [_with_node_port(manifest["metadata"], each) for each in spec.get("ports") or ()]
        if spec["type"] == "LoadBalancer" and spec["externalTrafficPolicy"] == "Local":
            spec = {"healthCheckNodePort": _with_node_port(manifest["metadata"], {})["nodePort"], **spec}
    return {**manifest, "spec": spec, "status": manifest.get("status") or {"loadBalancer": {}}}


def without_allocations(given: Manifest, full: Manifest) -> Manifest:
    """Return an object with its defaults, without the fields that are allocated for it."""
    if full.get("kind") == "PersistentVolumeClaim":
        sources, asked = ("dataSource", "dataSourceRef"), given.get("spec") or {}
        return {**full, "spec": {k: v for k, v in full["spec"].items() if k not in sources or k in asked}}
    if full.get("kind") != "Service":
        return full
    names = ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "healthCheckNodePort")
    asked = given.get("spec") or {}
    spec = {name: value for name, value in full["spec"].items() if name not in names or name in asked}
    if "ports" in spec:
        before = asked.get("ports") or ()
        spec["ports"] = [
            {name: value for name, value in each.items() if name != "nodePort" or "nodePort" in old}
            for each, old in zip(spec["ports"], before, strict=True)
        ]
    return {**full, "spec": spec}


def _address(meta: Manifest) -> str:
    """Return an address for a service, one of a million by its name, without checking whether it is free."""
    digest = hashlib.sha256(f"{meta.get('namespace')}/{meta.get('name')}".encode()).digest()
    return f"10.96.{digest[1]}.{digest[2] % 253 + 2}"


def _with_node_port(meta: Manifest, port: Manifest) -> Object:
    """Return the port with a nodePort, without checking whether it is free."""
    place = f"{meta.get('namespace')}/{meta.get('name')}/{port.get('protocol')}/{port.get('port')}"
    number = 30086 + int.from_bytes(hashlib.sha256(place.encode()).digest()[:4], "big") % 2682
    return {**port, "nodePort": port.get("nodePort") or number}


def _bindings(manifest: Manifest) -> Object:
    """Return a binding with the default groups of its role and subjects."""
    if "roleRef" not in manifest:
        return dict(manifest)
    group = "rbac.authorization.k8s.io"
    subjects = [
        {**each, "apiGroup": each.get("apiGroup") or group} if each.get("kind") in ("User", "Group") else each
        for each in manifest.get("subjects") or ()
    ]
    ref = {**manifest["roleRef"], "apiGroup": manifest["roleRef"].get("apiGroup") or group}
    return {**manifest, "roleRef": ref, **({"subjects": subjects} if subjects else {})}


def _pod(manifest: Manifest) -> Object:
    spec = manifest.get("spec") or {}
    filled: Object = dict(with_template_defaults({"template": {"spec": spec}})["template"]["spec"])
    filled.setdefault("enableServiceLinks", True)
    filled = convert_pod_spec(filled)
    for part in ("containers", "initContainers"):
        if part in filled:
            filled[part] = [_container(each, bool(filled.get("hostNetwork"))) for each in filled[part]]
    return {**manifest, "spec": filled}


def convert_pod_spec(spec: Object) -> Object:
    """Fill in both names of the service account, and replace a negative grace period by 1."""
    if account := spec.get("serviceAccountName") or spec.get("serviceAccount"):
        spec |= {"serviceAccountName": account, "serviceAccount": account}
    if (spec.get("terminationGracePeriodSeconds") or 0) < 0:
        spec["terminationGracePeriodSeconds"] = 1
    return spec


def _container(container: Manifest, on_host: bool) -> Object:
    """Return a container with default requests equal to its limits and, on the host's network, with default host ports."""
    new = dict(container)
    resources = container.get("resources") or {}
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    if any(name not in requests for name in limits):
        new["resources"] = {**resources, "requests": {**limits, **requests}}
    if on_host and container.get("ports"):
        new["ports"] = [
            {**each, "hostPort": each.get("hostPort") or each["containerPort"]} for each in container["ports"]
        ]
    return new


def _volume(manifest: Manifest) -> Object:
    spec = manifest.get("spec") or {}
    if isinstance(spec.get("hostPath"), Mapping) and "type" not in spec["hostPath"]:
        return {**manifest, "spec": {**spec, "hostPath": {**spec["hostPath"], "type": ""}}}
    return dict(manifest)


TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"


def _daemon_set(manifest: Manifest) -> Object:
    meta = manifest["metadata"]
    notes = meta.get("annotations") or {}
    if TEMPLATE_GENERATION in notes:
        return dict(manifest)
    return {**manifest, "metadata": {**meta, "annotations": {**notes, TEMPLATE_GENERATION: "1"}}}


_SCALING: Mapping[str, Object] = _DATA["behavior"]


def _autoscaler(manifest: Manifest) -> Object:
    spec = dict(manifest.get("spec") or {})
    if spec.get("minReplicas") is None:
        spec["minReplicas"] = 1
    spec["metrics"] = spec.get("metrics") or _DATA["metrics"]
    if (given := spec.get("behavior")) is not None:
        spec["behavior"] = {name: {**rules, **(given.get(name) or {})} for name, rules in _SCALING.items()}
    return {**manifest, "spec": spec}


def _with_protocols(rules: Any, field: str = "ports") -> list[Object]:
    """Return rules or subsets with the default protocol of ports."""
    return [
        {**rule, field: [{"protocol": "TCP", **each} for each in rule[field]]} if rule.get(field) else dict(rule)
        for rule in rules
    ]


def _policy(manifest: Manifest) -> Object:
    spec = manifest.get("spec") or {}
    ruled = {name: _with_protocols(spec[name]) for name in ("ingress", "egress") if spec.get(name)}
    types = {"policyTypes": ["Ingress", *(["Egress"] if spec.get("egress") else [])]}
    return {**manifest, "spec": {**types, **spec, **ruled}}


def _ingress_class(manifest: Manifest) -> Object:
    spec = manifest.get("spec") or {}
    if not spec.get("parameters"):
        return dict(manifest)
    return {**manifest, "spec": {**spec, "parameters": {"scope": "Cluster", **spec["parameters"]}}}


_SOURCES = (("", "PersistentVolumeClaim"), ("snapshot.storage.k8s.io", "VolumeSnapshot"))


def _claim(manifest: Manifest) -> Object:
    spec = dict(manifest.get("spec") or {})
    source, ref = spec.get("dataSource"), spec.get("dataSourceRef")
    if ref and ref.get("namespace"):  # the gate CrossNamespaceVolumeDataSource is off
        ref = spec.pop("dataSourceRef") and None
    if source and not ref and (source.get("apiGroup") or "", source.get("kind")) not in _SOURCES:
        del spec["dataSource"]  # kube has dropped others since before it had dataSourceRef
    elif source and not ref:
        spec["dataSourceRef"] = source
    elif ref and not source:
        spec["dataSource"] = {name: value for name, value in ref.items() if name != "namespace"}
    return {**manifest, "spec": spec}


def _endpoints(manifest: Manifest) -> Object:
    given = manifest.get("subsets")
    return {**manifest, "subsets": _with_protocols(given)} if given else dict(manifest)


def _slice(manifest: Manifest) -> Object:
    ports = [{"name": "", "protocol": "TCP", **each} for each in manifest.get("ports") or ()]
    return {**manifest, **({"ports": ports} if ports else {})}


# kube: pkg/apis/admissionregistration/v1/defaults.go @ v1.34.1
_MATCHING = {"matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {}}
_WEBHOOK = {"failurePolicy": "Fail", **_MATCHING}
_RULES = ("resourceRules", "excludeResourceRules")


def _webhooks(manifest: Manifest) -> Object:
    more = {"reinvocationPolicy": "Never"} if manifest["kind"].startswith("Mutating") else {}
    found = []
    for each in manifest.get("webhooks") or ():
        client = each.get("clientConfig") or {}
        if client.get("service") is not None:
            client = {**client, "service": {"port": 443, **client["service"]}}
        rules = [{"scope": "*", **rule} for rule in each.get("rules") or ()]
        found.append({**_WEBHOOK, "timeoutSeconds": 10, **more, **each, "clientConfig": client, "rules": rules})
    return {**manifest, "webhooks": found} if found else dict(manifest)


def _admission_policy(manifest: Manifest) -> Object:
    spec = dict(manifest.get("spec") or {})
    if manifest["kind"] == "ValidatingAdmissionPolicy":
        spec["failurePolicy"] = spec.get("failurePolicy") or "Fail"
    for field in ("matchConstraints", "matchResources"):
        if (given := spec.get(field)) is not None:
            rules = {part: [{"scope": "*", **rule} for rule in given[part]] for part in _RULES if given.get(part)}
            spec[field] = {**_MATCHING, **given, **rules}
    return {**manifest, "spec": spec}


_DEFAULTS: Mapping[str, Callable[[Manifest], Object]] = {
    "DaemonSet": _daemon_set,
    "PersistentVolume": _volume,
    "PersistentVolumeClaim": _claim,
    "EndpointSlice": _slice,
    "IngressClass": _ingress_class,
    "Pod": _pod,
    "Secret": _secret,
    "Node": _node,
    "Service": _service,
    "CSIDriver": lambda manifest: {**manifest, "spec": {**_DATA["CSIDriverSpec"], **(manifest.get("spec") or {})}},
    "HorizontalPodAutoscaler": _autoscaler,
    "NetworkPolicy": _policy,
    "Endpoints": _endpoints,
    "PodTemplate": lambda manifest: {**manifest, **with_template_defaults({"template": manifest.get("template")})},
    **dict.fromkeys(("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"), _webhooks),
    **dict.fromkeys(("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"), _admission_policy),
    "RoleBinding": _bindings,
    "ClusterRoleBinding": _bindings,
}


def with_object_defaults(kind: str, manifest: Manifest, old: Manifest | None = None) -> Object:
    """Return the object with its defaults. An update adds none if the `old` object was stored without them."""
    default = _DEFAULTS.get(kind)
    if default is None or (old is not None and default(old) != old):
        return dict(manifest)
    return default(manifest)
