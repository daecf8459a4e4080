"""Validation of a claim's status: its allocation, its reservations, and the reports of drivers.

kube: pkg/apis/resource/validation/validation.go (validateResourceClaimStatusUpdate and what it calls),
apimachinery/pkg/apis/meta/v1/validation/validation.go (ValidateConditions) @ v1.34.1
"""

import ipaddress
import re
from typing import Any

from scheduler_core.apimachinery.objects import Errors, Manifest
from scheduler_core.apiserver.validation.checks import IMMUTABLE, alike, node_selector
from scheduler_core.apiserver.validation.devices import claims, names
from scheduler_core.apiserver.validation.devices.device import bindings
from scheduler_core.apiserver.validation.devices.names import each, each_once, longer
from scheduler_core.apiserver.validation.devices.slices import as_go_writes

MOST_RESERVED = 256
MOST_RESULTS = 32
MOST_CONDITIONS = 8
LONGEST_DATA = 10 * 1024
MOST_ADDRESSES, LONGEST_INTERFACE, LONGEST_HARDWARE = 16, 256, 128
_NO_NEW = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"
_REASON = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?"
_is_reason = re.compile(_REASON + r"\Z").match
_REASON_WORDS = (
    "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters "
    f"or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or "
    f"'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '{_REASON}')"
)

DeviceKey = tuple[str, str, str, str | None]
"""Driver, pool, device, and share."""


def device_key(entry: Manifest) -> DeviceKey:
    """Return the key of the device, or share of a device, in a status entry."""
    share = entry.get("shareID")
    return (
        str(entry.get("driver") or ""),
        str(entry.get("pool") or ""),
        str(entry.get("device") or ""),
        None if share is None else str(share),
    )


def status_update(old: Manifest, new: Manifest) -> Errors:
    """Return the errors in a claim's new status."""
    errors = Errors()
    status, before = new.get("status") or {}, old.get("status") or {}
    allocation = status.get("allocation")
    reserved = status.get("reservedFor") or ()
    each_once(reserved, MOST_RESERVED, _consumer, "uid", "status.reservedFor", errors)
    results = ((allocation or {}).get("devices") or {}).get("results") or ()
    allocated = {device_key(result) for result in results}
    devices, show = status.get("devices"), _format_device
    each_once(devices, -1, _device, "deviceID", "status.devices", errors, allocated, key=device_key, show=show)
    if reserved and allocation is None:
        errors.forbidden("status.reservedFor", "may not be specified when `allocated` is not set")
    elif reserved and new["metadata"].get("deletionTimestamp") is not None:
        known = [_plain(ref) for ref in before.get("reservedFor") or ()]
        errors.forbidden("status.reservedFor", _NO_NEW, when=any(_plain(ref) not in known for ref in reserved))
    if allocation is not None:
        if before.get("allocation") is None:
            requests = claims.request_names((new.get("spec") or {}).get("devices") or {})
            _allocation(allocation, requests, "status.allocation", errors)
        elif not alike(allocation, before["allocation"]):
            errors.invalid_text("status.allocation", as_go_writes(allocation, "AllocationResult"), IMMUTABLE)
    return errors


def _plain(ref: Manifest) -> tuple[str, ...]:
    return tuple(str(ref.get(field) or "") for field in ("apiGroup", "resource", "name", "uid"))


def _format_device(entry: Manifest) -> dict[str, Any]:
    """Return a device in the format of kube's errors, which omit its names."""
    return {"Driver": {}, "Pool": {}, "Device": {}, "ShareID": {}}


def _consumer(ref: Manifest, path: str, errors: Errors) -> None:
    for field in ("resource", "name", "uid"):
        errors.required(f"{path}.{field}", when=not ref.get(field))


def _allocation(allocation: Manifest, known: claims.RequestNames, path: str, errors: Errors) -> None:
    devices, where = allocation.get("devices") or {}, f"{path}.devices"
    each(devices.get("results"), MOST_RESULTS, _result, f"{where}.results", errors, known)
    each(devices.get("config"), 2 * claims.MOST_CONFIGURATIONS, _configuration, f"{where}.config", errors, known)
    if allocation.get("nodeSelector") is not None:
        node_selector(allocation["nodeSelector"], f"{path}.nodeSelector", errors)


def _result(result: Manifest, path: str, known: claims.RequestNames, errors: Errors) -> None:
    claims.reference(result.get("request"), f"{path}.request", known, errors)
    _names(result, path, errors)
    bindings(result, path, errors)
    if result.get("shareID") is not None:
        names.uid(result["shareID"], f"{path}.shareID", errors)


def _names(entry: Manifest, path: str, errors: Errors) -> None:
    names.driver(entry.get("driver"), f"{path}.driver", errors)
    names.pool(entry.get("pool"), f"{path}.pool", errors)
    names.label(entry.get("device"), f"{path}.device", errors)


def _configuration(config: Manifest, path: str, known: claims.RequestNames, errors: Errors) -> None:
    source, sources = config.get("source"), ("FromClaim", "FromClass")
    if not errors.required(f"{path}.source", when=not source):
        errors.not_supported(f"{path}.source", source, sources, when=source not in sources)
    claims.validate_request_config(config, path, known, False, errors)


def _device(device: Manifest, path: str, allocated: set[DeviceKey], errors: Errors) -> None:
    _names(device, path, errors)
    if device.get("shareID") is not None:
        names.uid(device["shareID"], f"{path}.shareID", errors)
    if device_key(device) not in allocated:
        errors.invalid(path, _format_device(device), "must be an allocated device in the claim")
    conditions = device.get("conditions") or ()
    errors.too_many(f"{path}.conditions", len(conditions), MOST_CONDITIONS)
    seen: dict[str, None] = {}
    for i, condition in enumerate(conditions):
        where, type_ = f"{path}.conditions[{i}]", str(condition.get("type") or "")
        errors.unique(seen, type_, f"{where}.type")
        _condition(condition, where, errors)
    if device.get("data") is not None:
        claims.raw(device["data"], f"{path}.data", False, LONGEST_DATA, errors)
    if device.get("networkData") is not None:
        _network(device["networkData"], f"{path}.networkData", errors)


def _condition(condition: Manifest, path: str, errors: Errors) -> None:
    names.label_name(condition.get("type"), f"{path}.type", errors)
    statuses = ("False", "True", "Unknown")
    if condition.get("status") not in statuses:
        errors.not_supported(f"{path}.status", condition.get("status") or "", statuses)
    generation = condition.get("observedGeneration") or 0
    if generation < 0:
        errors.invalid(f"{path}.observedGeneration", generation, "must be greater than or equal to zero")
    errors.required(f"{path}.lastTransitionTime", when=condition.get("lastTransitionTime") is None)
    reason, message = condition.get("reason") or "", condition.get("message") or ""
    if not errors.required(f"{path}.reason", when=not reason):
        errors.invalid(f"{path}.reason", reason, _REASON_WORDS, when=not _is_reason(reason))
    for field, text, most in (("reason", reason, 1024), ("message", message, 32 * 1024)):
        errors.too_long(f"{path}.{field}", most, when=longer(text, most))


def _network(data: Manifest, path: str, errors: Errors) -> None:
    for field, most in (("interfaceName", LONGEST_INTERFACE), ("hardwareAddress", LONGEST_HARDWARE)):
        errors.too_long(f"{path}.{field}", most, when=longer(data.get(field) or "", most))
    each_once(data.get("ips"), MOST_ADDRESSES, _address, "", f"{path}.ips", errors)


def _address(text: str, path: str, errors: Errors) -> None:
    """Validate an address with a prefix length, in its shortest form."""
    address, slash, length = text.partition("/")
    try:
        if not slash or not length.isdecimal() or "%" in address:
            raise ValueError
        network = ipaddress.ip_interface(f"{_without_zeros(address)}/{int(length)}")
    except ValueError:
        errors.invalid(path, text, "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)")
        return
    canonical = _canonical(network)
    errors.invalid(path, text, f'must be in canonical form ("{canonical}")', when=text != canonical)


def _canonical(interface: ipaddress.IPv4Interface | ipaddress.IPv6Interface) -> str:
    length = interface.network.prefixlen
    mapped = interface.ip.ipv4_mapped if isinstance(interface.ip, ipaddress.IPv6Address) else None
    if mapped is not None:
        return f"{mapped}/{length - 96 if length > 32 else length}"
    return f"{interface.ip}/{length}"


def _without_zeros(address: str) -> str:
    """Return an IPv4 address without leading zeros, because kube reads its numbers as decimal."""
    parts = address.split(".")
    if ":" in address or not all(part.isdecimal() for part in parts):
        return address
    return ".".join(str(int(part)) for part in parts)
