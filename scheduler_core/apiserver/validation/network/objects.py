"""Validation of NetworkPolicies, Ingresses, EndpointSlices, and Endpoints.

kube: pkg/apis/networking/validation/validation.go (ValidateNetworkPolicy) @ v1.34.1
"""

import ipaddress
from collections.abc import Sequence
from typing import Any

from scheduler_core.apimachinery.objects import names
from scheduler_core.apimachinery.objects.errors import Errors, not_supported
from scheduler_core.apiserver.validation import checks
from scheduler_core.apiserver.validation.network import services
from scheduler_core.apiserver.validation.rules import Object, Rules, each, inner, need, obey, one, text, validate_name

_DIRECTIONS = {"ingress": "from", "egress": "to"}


def network_policy(manifest: Object, errors: Errors) -> None:
    spec = manifest.get("spec") or {}
    checks.label_selector(spec.get("podSelector"), "spec.podSelector", errors)
    for direction, peers in _DIRECTIONS.items():
        each(direction, each("ports", _policy_port), each(peers, _peer))(spec, "spec", errors)
    types = spec.get("policyTypes") or ()
    if len(types) > 2:
        errors.invalid("spec.policyTypes", list(types), "may not specify more than two policyTypes")
        return
    known = ("Ingress", "Egress")
    errors += [
        not_supported(f"spec.policyTypes[{i}]", kind, known) for i, kind in enumerate(types) if kind not in known
    ]


def _policy_port(given: Object, path: str, errors: Errors) -> None:
    one("protocol", "TCP", "UDP", "SCTP", empty=True)(given, path, errors)
    port, end = given.get("port"), given.get("endPort")
    if isinstance(port, int):
        checks.port_number(port, f"{path}.port", errors)
        if end is not None:
            errors.invalid(f"{path}.endPort", port, "must be greater than or equal to `port`", when=end < port)
            checks.port_number(end, f"{path}.endPort", errors)
        return
    if end is not None:
        state = "not specified" if port is None else "non-numeric"
        errors.invalid(f"{path}.endPort", end, f"may not be specified when `port` is {state}")
    text("port", names.port_name_errors)(given, path, errors)


def _peer(peer: Object, path: str, errors: Errors) -> None:
    selectors = [field for field in ("podSelector", "namespaceSelector") if peer.get(field) is not None]
    for field in selectors:
        checks.label_selector(peer[field], f"{path}.{field}", errors)
    block = peer.get("ipBlock")
    if block is not None:
        _block(block, f"{path}.ipBlock", errors)
        errors.forbidden(path, "may not specify both ipBlock and another peer", when=selectors)
    elif not selectors:
        errors.required(path, "must specify a peer")


def _block(block: Object, path: str, errors: Errors) -> None:
    whole = block.get("cidr") or ""
    if errors.required(f"{path}.cidr", when=not whole):
        return
    services.ip_range(whole, f"{path}.cidr", errors)
    found = services.parse_ip_range(whole)
    for i, part in enumerate(block.get("except") or ()) if found is not None else ():
        services.ip_range(part, f"{path}.except[{i}]", errors)
        inside = services.parse_ip_range(part)
        if inside is not None and not _is_within(inside, found):
            errors.invalid(f"{path}.except[{i}]", part, "must be a strict subset of `cidr`")


def _is_within(part: tuple[Any, int], whole: tuple[Any, int] | None) -> bool:
    assert whole is not None
    inner_net, outer = (ipaddress.ip_network(f"{address}/{length}", strict=False) for address, length in (part, whole))
    return part[1] > whole[1] and inner_net.network_address in outer


# Ingresses.
# kube: pkg/apis/networking/validation/validation.go (ValidateIngressCreate) @ v1.34.1

_CLASS = "kubernetes.io/ingress.class"
_NOT_IN_PATHS, _NOT_AT_ENDS = ("//", "/./", "/../", "%2f", "%2F"), ("/..", "/.")
_PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")
_RESOURCE: Rules = (
    text("apiGroup", names.subdomain_errors),
    validate_name("kind", names.path_segment_errors, needed=True),
    validate_name("name", names.path_segment_errors, needed=True),
)


def ingress(manifest: Object, errors: Errors) -> None:
    spec = manifest.get("spec") or {}
    rules, name = spec.get("rules"), spec.get("ingressClassName")
    if not rules and spec.get("defaultBackend") is None:
        detail = "either `defaultBackend` or `rules` must be specified"
        errors.invalid("spec", None if rules is None else list(rules), detail)
    inner("defaultBackend", _backend)(spec, "spec", errors)
    each("rules", _rule)(spec, "spec", errors)
    for i, tls in enumerate(spec.get("tls") or ()):
        for j, host in enumerate(tls.get("hosts") or ()):
            _host(host, f"spec.tls[{i}].hosts[{j}]", errors)
        validate_name("secretName", names.subdomain_errors)(tls, f"spec.tls[{i}]", errors)
    text("ingressClassName", names.subdomain_errors)(spec, "spec", errors)
    given = (manifest["metadata"].get("annotations") or {}).get(_CLASS)
    if given is not None and name is not None and given != name:
        errors.invalid(f"annotations.{_CLASS}", given, "must match `ingressClassName` when both are specified")


def _host(host: str, path: str, errors: Errors) -> None:
    problems = names.wildcard_errors(host) if "*" in host else names.subdomain_errors(host)
    errors.problems(path, host, problems)


def _rule(rule: Object, path: str, errors: Errors) -> None:
    host, http = rule.get("host") or "", rule.get("http")
    if host:
        if services.parse_ip_address(host) is not None:
            errors.invalid(f"{path}.host", host, "must be a DNS name, not an IP address")
        _host(host, f"{path}.host", errors)
    if http is not None:
        need("paths")(http, f"{path}.http", errors)
        each("paths", _path)(http, f"{path}.http", errors)


def _path(given: Object, path: str, errors: Errors) -> None:
    kind, place, where = given.get("pathType"), given.get("path") or "", f"{path}.path"
    if errors.required(f"{path}.pathType", "pathType must be specified", when=kind is None):
        return
    if kind not in _PATH_TYPES:
        errors.not_supported(f"{path}.pathType", kind, _PATH_TYPES)
    elif not place.startswith("/") and (place or kind != "ImplementationSpecific"):
        errors.invalid(where, place, "must be an absolute path")
    if kind in ("Exact", "Prefix"):
        wrong = [f"must not contain '{part}'" for part in _NOT_IN_PATHS if part in place]
        wrong += [f"cannot end with '{end}'" for end in _NOT_AT_ENDS if place.endswith(end)]
        errors.problems(where, place, wrong)
    _backend(given.get("backend") or {}, f"{path}.backend", errors)


def _backend(backend: Object, path: str, errors: Errors) -> None:
    resource, service = backend.get("resource"), backend.get("service")
    if resource is not None and service is not None:
        errors.invalid(path, "", "cannot set both resource and service backends")
    elif resource is not None:
        obey(_RESOURCE, resource, f"{path}.resource", errors)
    elif service is None:
        errors.invalid(path, "", "resource or service backend is required")
    else:
        validate_name("name", names.label1035_errors, needed=True)(service, f"{path}.service", errors)
        port = service.get("port") or {}
        if port.get("name") and port.get("number"):
            errors.invalid(path, "", "cannot set both port name & port number")
        elif port.get("name"):
            validate_name("name", names.port_name_errors)(port, f"{path}.service.port", errors)
        elif port.get("number"):
            checks.port_number(port["number"], f"{path}.service.port.number", errors)
        else:
            errors.required(path, "port name or number is required")


# EndpointSlices.
# kube: pkg/apis/discovery/validation/validation.go @ v1.34.1

_MOST_ENDPOINTS, _MOST_ADDRESSES, _MOST_PORTS, _MOST_HINTS, _MOST_LABELS = 1000, 100, 20000, 8, 16


def endpoint_slice(manifest: Object, errors: Errors) -> None:
    kind = manifest.get("addressType") or ""
    errors.required("addressType", when=not kind)
    one("addressType", "FQDN", "IPv4", "IPv6")(manifest, "", errors)
    ports, endpoints = manifest.get("ports") or (), manifest.get("endpoints") or ()
    if not errors.too_many("ports", len(ports), _MOST_PORTS):
        _slice_ports(ports, errors)
    if not errors.too_many("endpoints", len(endpoints), _MOST_ENDPOINTS):
        for i, endpoint in enumerate(endpoints):
            _endpoint(endpoint, kind, f"endpoints[{i}]", errors)


def endpoints(manifest: Object, errors: Errors) -> None:
    """Validate Endpoints. kube: ValidateEndpoints of pkg/apis/core/validation/validation.go @ v1.34.1"""
    for i, subset in enumerate(manifest.get("subsets") or ()):
        path, lists = f"subsets[{i}]", [(name, subset.get(name) or ()) for name in ("addresses", "notReadyAddresses")]
        errors.required(
            path, "must specify `addresses` or `notReadyAddresses`", when=not any(each for _, each in lists)
        )
        for name, addresses in lists:
            for j, address in enumerate(addresses):
                where, ip = f"{path}.{name}[{j}]", address.get("ip") or ""
                services.ip_address(ip, f"{where}.ip", errors)
                text("hostname", names.label_errors)(address, where, errors)
                text("nodeName", names.subdomain_errors)(address, where, errors)
                services.ip_address(ip, f"{where}.ip", errors)
                services.endpoint_address(ip, f"{where}.ip", errors)
        ports = subset.get("ports") or ()
        for j, port in enumerate(ports):
            validate_name("name", names.label_errors, needed=len(ports) > 1)(port, f"{path}.ports[{j}]", errors)
            checks.port_number(port.get("port") or 0, f"{path}.ports[{j}].port", errors)
            one("protocol", "SCTP", "TCP", "UDP", empty=True)(port, f"{path}.ports[{j}]", errors)
            text("appProtocol", names.list_qualified_name_errors)(port, f"{path}.ports[{j}]", errors)


def _slice_ports(ports: Sequence[Object], errors: Errors) -> None:
    seen: dict[str, None] = {}
    for i, port in enumerate(ports):
        validate_name("name", names.label_errors)(port, f"ports[{i}]", errors)
        errors.unique(seen, port.get("name") or "", f"ports[{i}].name")
        one("protocol", "SCTP", "TCP", "UDP", empty=True)(port, f"ports[{i}]", errors)
        text("appProtocol", names.list_qualified_name_errors)(port, f"ports[{i}]", errors)


def _endpoint(endpoint: Object, kind: str, path: str, errors: Errors) -> None:
    addresses, where = endpoint.get("addresses") or (), f"{path}.addresses"
    errors.required(where, "must contain at least 1 address", when=not addresses)
    errors.too_many(where, len(addresses), _MOST_ADDRESSES)
    for i, address in enumerate(addresses):
        if kind == "FQDN":
            _domain(address, f"{where}[{i}]", errors)
        elif kind in ("IPv4", "IPv6"):
            _address(address, kind, where, i, errors)
    text("nodeName", names.subdomain_errors)(endpoint, path, errors)
    topology = endpoint.get("deprecatedTopology") or {}
    errors.too_many(f"{path}.deprecatedTopology", len(topology), _MOST_LABELS)
    checks.labels(topology, f"{path}.deprecatedTopology", errors)
    text("hostname", names.label_errors)(endpoint, path, errors)
    for field, problems in (("forZones", names.label_value_errors), ("forNodes", names.subdomain_errors)):
        hints, place = (endpoint.get("hints") or {}).get(field) or (), f"{path}.hints.{field}"
        if errors.too_many(place, len(hints), _MOST_HINTS):
            return
        seen: dict[str, None] = {}
        for i, hint in enumerate(hints):
            name = hint.get("name") or ""
            errors.unique(seen, name, f"{place}[{i}].name")
            errors.problems(f"{place}[{i}].name", name, problems(name))


def _address(address: str, kind: str, path: str, i: int, errors: Errors) -> None:
    where, found = f"{path}[{i}]", services.parse_ip_address(address)
    if found is None:
        services.ip_address(address, where, errors)
        return
    errors.invalid(path, address, f"must be an {kind} address", when=f"IPv{found.version}" != kind)
    services.endpoint_address(address, where, errors)


def _domain(name: str, path: str, errors: Errors) -> None:
    """Validate a name that contains at least one dot."""
    full = name.removesuffix(".")
    if not name:
        errors.required(path)
    elif problems := names.subdomain_errors(full):
        errors.invalid(path, full, ",".join(problems))
    elif "." not in full:
        errors.invalid(path, full, "should be a domain with at least two segments separated by dots")
    else:
        wrong = next((part for part in full.split(".") if names.label_errors(part)), None)
        if wrong is not None:
            errors.invalid(path, wrong, ",".join(names.label_errors(wrong)))
