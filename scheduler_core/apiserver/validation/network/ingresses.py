"""Ingresses.

kube: pkg/apis/networking/validation/validation.go (ValidateIngressCreate) @ v1.34.1
"""

from __future__ import annotations

from scheduler_core.apimachinery.objects.errors import build_required_error, invalid, not_supported
from scheduler_core.apimachinery.objects.names import (
    label1035_errors,
    path_segment_errors,
    port_name_errors,
    subdomain_errors,
    wildcard_errors,
)
from scheduler_core.apiserver.validation import checks
from scheduler_core.apiserver.validation.checks import Errors
from scheduler_core.apiserver.validation.network.addresses import parse_ip_address
from scheduler_core.apiserver.validation.rules import Object, Rules, each, inner, need, obey, text, validate_name

_CLASS = "kubernetes.io/ingress.class"
_NOT_IN_PATHS, _NOT_AT_ENDS = ("//", "/./", "/../", "%2f", "%2F"), ("/..", "/.")
_PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")
_RESOURCE: Rules = (
    text("apiGroup", subdomain_errors),
    validate_name("kind", path_segment_errors, needed=True),
    validate_name("name", path_segment_errors, needed=True),
)


def ingress(manifest: Object, errors: Errors) -> None:
    spec = manifest.get("spec") or {}
    rules, name = spec.get("rules"), spec.get("ingressClassName")
    if not rules and spec.get("defaultBackend") is None:
        detail = "either `defaultBackend` or `rules` must be specified"
        errors.append(invalid("spec", None if rules is None else list(rules), detail))
    inner("defaultBackend", _backend)(spec, "spec", errors)
    each("rules", _rule)(spec, "spec", errors)
    for i, tls in enumerate(spec.get("tls") or ()):
        for j, host in enumerate(tls.get("hosts") or ()):
            _host(host, f"spec.tls[{i}].hosts[{j}]", errors)
        validate_name("secretName", subdomain_errors)(tls, f"spec.tls[{i}]", errors)
    text("ingressClassName", subdomain_errors)(spec, "spec", errors)
    given = (manifest["metadata"].get("annotations") or {}).get(_CLASS)
    if given is not None and name is not None and given != name:
        detail = "must match `ingressClassName` when both are specified"
        errors.append(invalid(f"annotations.{_CLASS}", given, detail))


def _host(host: str, path: str, errors: Errors) -> None:
    problems = wildcard_errors(host) if "*" in host else subdomain_errors(host)
    errors += [invalid(path, host, problem) for problem in problems]


def _rule(rule: Object, path: str, errors: Errors) -> None:
    host, http = rule.get("host") or "", rule.get("http")
    if host:
        if parse_ip_address(host) is not None:
            errors.append(invalid(f"{path}.host", host, "must be a DNS name, not an IP address"))
        _host(host, f"{path}.host", errors)
    if http is not None:
        need("paths")(http, f"{path}.http", errors)
        each("paths", _path)(http, f"{path}.http", errors)


def _path(given: Object, path: str, errors: Errors) -> None:
    kind, place, where = given.get("pathType"), given.get("path") or "", f"{path}.path"
    if kind is None:
        errors.append(build_required_error(f"{path}.pathType", "pathType must be specified"))
        return
    if kind not in _PATH_TYPES:
        errors.append(not_supported(f"{path}.pathType", kind, _PATH_TYPES))
    elif not place.startswith("/") and (place or kind != "ImplementationSpecific"):
        errors.append(invalid(where, place, "must be an absolute path"))
    if kind in ("Exact", "Prefix"):
        wrong = [f"must not contain '{part}'" for part in _NOT_IN_PATHS if part in place]
        wrong += [f"cannot end with '{end}'" for end in _NOT_AT_ENDS if place.endswith(end)]
        errors += [invalid(where, place, detail) for detail in wrong]
    _backend(given.get("backend") or {}, f"{path}.backend", errors)


def _backend(backend: Object, path: str, errors: Errors) -> None:
    resource, service = backend.get("resource"), backend.get("service")
    if resource is not None and service is not None:
        errors.append(invalid(path, "", "cannot set both resource and service backends"))
    elif resource is not None:
        obey(_RESOURCE, resource, f"{path}.resource", errors)
    elif service is None:
        errors.append(invalid(path, "", "resource or service backend is required"))
    else:
        validate_name("name", label1035_errors, needed=True)(service, f"{path}.service", errors)
        port = service.get("port") or {}
        if port.get("name") and port.get("number"):
            errors.append(invalid(path, "", "cannot set both port name & port number"))
        elif port.get("name"):
            validate_name("name", port_name_errors)(port, f"{path}.service.port", errors)
        elif port.get("number"):
            checks.port_number(port["number"], f"{path}.service.port.number", errors)
        else:
            errors.append(build_required_error(path, "port name or number is required"))
