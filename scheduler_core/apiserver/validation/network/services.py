"""Validation of Services.

kube: pkg/apis/core/validation/validation.go (validateService, ValidateServiceClusterIPsRelatedFields) @ v1.34.1
"""

import ipaddress
import re
from collections.abc import Sequence

from scheduler_core.apimachinery.objects.errors import Errors, forbidden, invalid
from scheduler_core.apimachinery.objects.names import (
    label_errors,
    list_qualified_name_errors,
    port_name_errors,
    subdomain_errors,
)
from scheduler_core.apiserver.validation import checks
from scheduler_core.apiserver.validation.rules import Object, one, validate_name

# IP addresses and ranges in older fields, where kube allows leading zeros in numbers.
# kube: apimachinery/pkg/util/validation/ip.go, k8s.io/utils/internal/third_party/forked/golang/net @ v1.34.1

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_ZEROS = re.compile(r"(?<![0-9a-fA-F:])0+(?=[0-9]+(?:\.|\Z))|(?<=\.)0+(?=[0-9])")
_PREFIX = re.compile(r"[0-9]+\Z")


def parse_ip_address(text: str) -> Address | None:
    """Parse an address, or return None if it is invalid."""
    try:
        return None if "%" in text else ipaddress.ip_address(_ZEROS.sub("", text))
    except ValueError:
        return None


def ip_address(text: str, path: str, errors: Errors) -> None:
    if parse_ip_address(text) is None:
        errors.invalid(path, text, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)")


def parse_ip_range(text: str) -> tuple[Address, int] | None:
    """Parse an address and the length of its prefix, or return None if they are invalid."""
    address, _, length = text.partition("/")
    found = parse_ip_address(address)
    if found is None or not _PREFIX.match(length) or int(length) > found.max_prefixlen:
        return None
    return found, int(length)


def ip_range(text: str, path: str, errors: Errors) -> None:
    if parse_ip_range(text) is None:
        errors.invalid(path, text, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)")


def endpoint_address(text: str, path: str, errors: Errors) -> None:
    """Validate an address that others can reach, not a local one."""
    found = parse_ip_address(text)
    if found is None:
        return
    four = found.version == 4
    wrong = {
        f"may not be unspecified ({text})": found.is_unspecified,
        "may not be in the loopback range (127.0.0.0/8, ::1/128)": found.is_loopback,
        "may not be in the link-local range (169.254.0.0/16, fe80::/10)": found.is_link_local,
        "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)": found
        in ipaddress.ip_network("224.0.0.0/24" if four else "ff02::/16"),
    }
    errors += [invalid(path, text, detail) for detail, is_so in wrong.items() if is_so]


def two_families(texts: Sequence[str]) -> bool:
    """Return whether addresses, or ranges of addresses, include both IP versions."""
    found = [parse_ip_address(text.partition("/")[0]) for text in texts]
    return {address.version for address in found if address is not None} == {4, 6}


_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_BALANCER = "may only be used when `type` is 'LoadBalancer'"
_RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges"
_HINTS, _MODE = "service.kubernetes.io/topology-aware-hints", "service.kubernetes.io/topology-mode"
_LONGEST_AFFINITY = 86400  # seconds
_EXTERNAL = ("clusterIPs", "ipFamilies", "ipFamilyPolicy")


def service(manifest: Object, errors: Errors) -> None:
    spec = manifest.get("spec") or {}
    annotations = manifest["metadata"].get("annotations") or {}
    addresses = list(spec.get("clusterIPs") or ([spec["clusterIP"]] if spec.get("clusterIP") else ()))
    kind, headless = spec.get("type") or "ClusterIP", addresses[:1] == ["None"]
    if _HINTS in annotations and annotations.get(_MODE, annotations[_HINTS]) != annotations[_HINTS]:
        detail = f"must match annotations[{_HINTS}] when both are specified"
        errors.invalid(f"metadata.annotations[{_MODE}]", annotations[_MODE], detail)
    _type(spec, kind, addresses, headless, errors)
    _ports(spec, errors)
    checks.labels(spec.get("selector"), "spec.selector", errors)
    _affinity(spec, errors)
    if kind != "ExternalName":
        _addresses(spec, addresses, errors)
    for i, address in enumerate(spec.get("externalIPs") or ()):
        ip_address(address, f"spec.externalIPs[{i}]", errors)
        endpoint_address(address, f"spec.externalIPs[{i}]", errors)
    one("type", *_TYPES)(spec, "spec", errors)
    _node_ports(spec, kind, errors)
    _ranges(spec, kind, annotations, errors)
    if spec.get("allocateLoadBalancerNodePorts") is not None and kind != "LoadBalancer":
        errors.forbidden("spec.allocateLoadBalancerNodePorts", _BALANCER)
    name = spec.get("loadBalancerClass")
    if name is not None and kind != "LoadBalancer":
        errors.forbidden("spec.loadBalancerClass", _BALANCER)
    elif name is not None:
        errors.problems("spec.loadBalancerClass", name, list_qualified_name_errors(name))
    _traffic(spec, kind, errors)


def _type(spec: Object, kind: str, addresses: list[str], headless: bool, errors: Errors) -> None:
    errors.required("spec.ports", when=not spec.get("ports") and not headless and kind != "ExternalName")
    if headless and kind in ("LoadBalancer", "NodePort"):
        errors.invalid("spec.clusterIPs[0]", addresses[0], f"may not be set to 'None' for {kind} services")
    if kind != "ExternalName":
        return
    given = {**spec, "clusterIPs": addresses}
    for field in _EXTERNAL:
        if given.get(field) or (field == "ipFamilyPolicy" and given.get(field) is not None):
            errors.forbidden(f"spec.{field}", "may not be set for ExternalName services")
    name = (spec.get("externalName") or "").removesuffix(".")
    validate_name("externalName", subdomain_errors, needed=True)({"externalName": name}, "spec", errors)


def _ports(spec: Object, errors: Errors) -> None:
    ports = spec.get("ports") or ()
    names: dict[str, None] = {}
    for i, port in enumerate(ports):
        where, name, number = f"spec.ports[{i}]", port.get("name") or "", port.get("port") or 0
        if name:
            validate_name("name", label_errors)(port, where, errors)
            errors.unique(names, name, f"{where}.name")
        elif len(ports) > 1:
            errors.required(f"{where}.name")
        checks.port_number(number, f"{where}.port", errors)
        one("protocol", "SCTP", "TCP", "UDP")(port, where, errors)
        target = port.get("targetPort") or number
        if isinstance(target, str):
            errors.problems(f"{where}.targetPort", target, port_name_errors(target))
        else:
            checks.port_number(target, f"{where}.targetPort", errors)
        protocol = port.get("appProtocol")
        if protocol is not None:
            problems = list_qualified_name_errors(protocol)
            errors.problems(f"{where}.appProtocol", protocol, problems)


def _affinity(spec: Object, errors: Errors) -> None:
    one("sessionAffinity", "ClientIP", "None")(spec, "spec", errors)
    seconds = ((spec.get("sessionAffinityConfig") or {}).get("clientIP") or {}).get("timeoutSeconds")
    if spec.get("sessionAffinity") == "ClientIP" and seconds is not None:
        if not 0 < seconds <= _LONGEST_AFFINITY:
            detail = f"must be greater than 0 and less than {_LONGEST_AFFINITY}"
            errors.invalid("spec.sessionAffinityConfig.clientIP.timeoutSeconds", seconds, detail)


def _addresses(spec: Object, addresses: list[str], errors: Errors) -> None:
    where, single, families = "spec.clusterIPs", spec.get("clusterIP") or "", spec.get("ipFamilies") or ()
    errors.invalid(where, addresses, "first value must match `clusterIP`", when=single and addresses[0] != single)
    errors.invalid(where, addresses, "must be empty when `clusterIP` is not specified", when=not single and addresses)
    seen: dict[str, None] = {}
    for i, family in enumerate(families):
        place = f"spec.ipFamilies[{i}]"
        errors.not_supported(place, family, ("IPv4", "IPv6"), when=family not in ("IPv4", "IPv6"))
        errors.unique(seen, family, place)
    policies = ("PreferDualStack", "RequireDualStack", "SingleStack")
    one("ipFamilyPolicy", *policies, empty=True)(spec, "spec", errors)
    before = len(errors)
    for i, address in enumerate(addresses):
        if i or address != "None":
            ip_address(address, f"{where}[{i}]", errors)
        elif len(addresses) > 1:
            errors.invalid(where, addresses, "'None' must be the first and only value")
    wrong = len(errors) > before
    errors.invalid(where, addresses, "may only hold up to 2 values", when=len(addresses) > 2)
    if wrong:
        return
    if len(addresses) > 1 and not two_families(addresses):
        errors.invalid(where, addresses, "may specify no more than one IP for each IP family")
    for i, (address, family) in enumerate(zip(addresses, families, strict=False)):
        found_ip = parse_ip_address(address)
        if found_ip is not None and family in ("IPv4", "IPv6") and f"IPv{found_ip.version}" != family:
            errors.invalid(f"{where}[{i}]", address, f"expected an {family} value as indicated by `ipFamilies[{i}]`")


def _node_ports(spec: Object, kind: str, errors: Errors) -> None:
    ports = [(i, port, port.get("protocol") or "TCP") for i, port in enumerate(spec.get("ports") or ())]
    taken = [(i, port["nodePort"], protocol) for i, port, protocol in ports if port.get("nodePort")]
    if kind == "ClusterIP":
        detail = "may not be used when `type` is 'ClusterIP'"
        errors += [forbidden(f"spec.ports[{i}].nodePort", detail) for i, _, _ in taken]
    seen: dict[tuple[int, str], None] = {}
    for i, number, protocol in taken:
        errors.unique(seen, (number, protocol), f"spec.ports[{i}].nodePort", shown=number)
    seen = {}
    for i, port, protocol in ports:
        key = port.get("port") or 0, protocol
        if key in seen:
            shown = {"Name": "", "Protocol": protocol, "AppProtocol": None, "Port": key[0]}
            errors.duplicate(f"spec.ports[{i}]", {**shown, "TargetPort": 0, "NodePort": 0})
        seen[key] = None


def _ranges(spec: Object, kind: str, annotations: Object, errors: Errors) -> None:
    ranges, where = spec.get("loadBalancerSourceRanges") or (), "spec.LoadBalancerSourceRanges"
    if ranges:
        places = [(text, f"{where}[{i}]") for i, text in enumerate(ranges)]
    elif _RANGES in annotations:
        where = f"metadata.annotations[{_RANGES}]"
        listed = annotations[_RANGES].strip()
        places = [(text, where) for text in listed.split(",")] if listed else []
    else:
        return
    errors.forbidden(where, _BALANCER, when=kind != "LoadBalancer")
    for text, place in places:
        ip_range(text.strip(), place, errors)


def _traffic(spec: Object, kind: str, errors: Errors) -> None:
    policy, number = spec.get("externalTrafficPolicy") or "", spec.get("healthCheckNodePort") or 0
    if kind in ("LoadBalancer", "NodePort") or (kind == "ClusterIP" and spec.get("externalIPs")):
        one("externalTrafficPolicy", "Cluster", "Local")(spec, "spec", errors)
    elif policy:
        errors.invalid("spec.externalTrafficPolicy", policy, "may only be set for externally-accessible services")
    if number and kind == "LoadBalancer" and policy == "Local":
        checks.port_number(number, "spec.healthCheckNodePort", errors)
    elif number:
        detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
        errors.invalid("spec.healthCheckNodePort", number, detail)
    one("internalTrafficPolicy", "Cluster", "Local", empty=True)(spec, "spec", errors)
    near = ("PreferClose", "PreferSameZone", "PreferSameNode")
    one("trafficDistribution", *near, empty=True)(spec, "spec", errors)
