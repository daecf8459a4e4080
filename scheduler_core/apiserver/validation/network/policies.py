"""NetworkPolicies.

kube: pkg/apis/networking/validation/validation.go (ValidateNetworkPolicy) @ v1.34.1
"""

from __future__ import annotations

import ipaddress
from typing import Any

from scheduler_core.apimachinery.objects.errors import build_required_error, forbidden, invalid, not_supported
from scheduler_core.apimachinery.objects.names import port_name_errors
from scheduler_core.apiserver.validation import checks
from scheduler_core.apiserver.validation.checks import Errors
from scheduler_core.apiserver.validation.network.addresses import ip_range, parse_ip_range
from scheduler_core.apiserver.validation.rules import Object, each, one, text

_DIRECTIONS = {"ingress": "from", "egress": "to"}


def network_policy(manifest: Object, errors: Errors) -> None:
    spec = manifest.get("spec") or {}
    checks.label_selector(spec.get("podSelector"), "spec.podSelector", errors)
    for direction, peers in _DIRECTIONS.items():
        each(direction, each("ports", _policy_port), each(peers, _peer))(spec, "spec", errors)
    types = spec.get("policyTypes") or ()
    if len(types) > 2:
        detail = "may not specify more than two policyTypes"
        errors.append(invalid("spec.policyTypes", list(types), detail))
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
            if end < port:
                errors.append(invalid(f"{path}.endPort", port, "must be greater than or equal to `port`"))
            checks.port_number(end, f"{path}.endPort", errors)
        return
    if end is not None:
        state = "not specified" if port is None else "non-numeric"
        errors.append(invalid(f"{path}.endPort", end, f"may not be specified when `port` is {state}"))
    text("port", port_name_errors)(given, path, errors)


def _peer(peer: Object, path: str, errors: Errors) -> None:
    selectors = [field for field in ("podSelector", "namespaceSelector") if peer.get(field) is not None]
    for field in selectors:
        checks.label_selector(peer[field], f"{path}.{field}", errors)
    block = peer.get("ipBlock")
    if block is not None:
        _block(block, f"{path}.ipBlock", errors)
        if selectors:
            errors.append(forbidden(path, "may not specify both ipBlock and another peer"))
    elif not selectors:
        errors.append(build_required_error(path, "must specify a peer"))


def _block(block: Object, path: str, errors: Errors) -> None:
    whole = block.get("cidr") or ""
    if not whole:
        errors.append(build_required_error(f"{path}.cidr"))
        return
    ip_range(whole, f"{path}.cidr", errors)
    found = parse_ip_range(whole)
    for i, part in enumerate(block.get("except") or ()) if found is not None else ():
        ip_range(part, f"{path}.except[{i}]", errors)
        inside = parse_ip_range(part)
        if inside is not None and not _is_within(inside, found):
            errors.append(invalid(f"{path}.except[{i}]", part, "must be a strict subset of `cidr`"))


def _is_within(part: tuple[Any, int], whole: tuple[Any, int] | None) -> bool:
    assert whole is not None
    inner_net, outer = (ipaddress.ip_network(f"{address}/{length}", strict=False) for address, length in (part, whole))
    return part[1] > whole[1] and inner_net.network_address in outer
