"""EndpointSlices.

kube: pkg/apis/discovery/validation/validation.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scheduler_core.apimachinery.objects.errors import FieldError, build_required_error, invalid
from scheduler_core.apimachinery.objects.names import (
    label_errors,
    label_value_errors,
    list_qualified_name_errors,
    subdomain_errors,
)
from scheduler_core.apiserver.validation import checks
from scheduler_core.apiserver.validation.checks import Errors
from scheduler_core.apiserver.validation.network.addresses import endpoint_address, ip_address, parse_ip_address
from scheduler_core.apiserver.validation.rules import Object, one, text, validate_name

_MOST_ENDPOINTS, _MOST_ADDRESSES, _MOST_PORTS, _MOST_HINTS, _MOST_LABELS = 1000, 100, 20000, 8, 16


def endpoint_slice(manifest: Object, errors: Errors) -> None:
    kind = manifest.get("addressType") or ""
    if not kind:
        errors.append(build_required_error("addressType"))
    one("addressType", "FQDN", "IPv4", "IPv6")(manifest, "", errors)
    ports, endpoints = manifest.get("ports") or (), manifest.get("endpoints") or ()
    if not _too_many(ports, _MOST_PORTS, "ports", errors):
        _slice_ports(ports, errors)
    if not _too_many(endpoints, _MOST_ENDPOINTS, "endpoints", errors):
        for i, endpoint in enumerate(endpoints):
            _endpoint(endpoint, kind, f"endpoints[{i}]", errors)


def _too_many(entries: Sequence[Any] | Object, most: int, path: str, errors: Errors) -> bool:
    if len(entries) <= most:
        return False
    errors.append(FieldError(path, str(len(entries)), f"must have at most {most} items", kind="Too many"))
    return True


def _slice_ports(ports: Sequence[Object], errors: Errors) -> None:
    seen: dict[str, None] = {}
    for i, port in enumerate(ports):
        validate_name("name", label_errors)(port, f"ports[{i}]", errors)
        checks.unique(errors, seen, port.get("name") or "", f"ports[{i}].name")
        one("protocol", "SCTP", "TCP", "UDP", empty=True)(port, f"ports[{i}]", errors)
        text("appProtocol", list_qualified_name_errors)(port, f"ports[{i}]", errors)


def _endpoint(endpoint: Object, kind: str, path: str, errors: Errors) -> None:
    addresses, where = endpoint.get("addresses") or (), f"{path}.addresses"
    if not addresses:
        errors.append(build_required_error(where, "must contain at least 1 address"))
    _too_many(addresses, _MOST_ADDRESSES, where, errors)
    for i, address in enumerate(addresses):
        if kind == "FQDN":
            _domain(address, f"{where}[{i}]", errors)
        elif kind in ("IPv4", "IPv6"):
            _address(address, kind, where, i, errors)
    text("nodeName", subdomain_errors)(endpoint, path, errors)
    topology = endpoint.get("deprecatedTopology") or {}
    _too_many(topology, _MOST_LABELS, f"{path}.deprecatedTopology", errors)
    checks.labels(topology, f"{path}.deprecatedTopology", errors)
    text("hostname", label_errors)(endpoint, path, errors)
    for field, problems in (("forZones", label_value_errors), ("forNodes", subdomain_errors)):
        hints, place = (endpoint.get("hints") or {}).get(field) or (), f"{path}.hints.{field}"
        if _too_many(hints, _MOST_HINTS, place, errors):
            return
        seen: dict[str, None] = {}
        for i, hint in enumerate(hints):
            name = hint.get("name") or ""
            checks.unique(errors, seen, name, f"{place}[{i}].name")
            errors += [invalid(f"{place}[{i}].name", name, problem) for problem in problems(name)]


def _address(address: str, kind: str, path: str, i: int, errors: Errors) -> None:
    where, found = f"{path}[{i}]", parse_ip_address(address)
    if found is None:
        ip_address(address, where, errors)
        return
    if f"IPv{found.version}" != kind:
        errors.append(invalid(path, address, f"must be an {kind} address"))
    endpoint_address(address, where, errors)


def _domain(name: str, path: str, errors: Errors) -> None:
    """A name with a dot at least."""
    full = name.removesuffix(".")
    if not name:
        errors.append(build_required_error(path))
    elif problems := subdomain_errors(full):
        errors.append(invalid(path, full, ",".join(problems)))
    elif "." not in full:
        detail = "should be a domain with at least two segments separated by dots"
        errors.append(invalid(path, full, detail))
    else:
        wrong = next((part for part in full.split(".") if label_errors(part)), None)
        if wrong is not None:
            errors.append(invalid(path, wrong, ",".join(label_errors(wrong))))
