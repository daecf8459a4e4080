"""IP addresses and ranges of them, as kube reads those of older fields: zeros may stand before a number.

kube: apimachinery/pkg/util/validation/ip.go, k8s.io/utils/internal/third_party/forked/golang/net @ v1.34.1
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence

from scheduler_core.apimachinery.objects.errors import invalid
from scheduler_core.apiserver.validation.checks import Errors

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_ZEROS = re.compile(r"(?<![0-9a-fA-F:])0+(?=[0-9]+(?:\.|\Z))|(?<=\.)0+(?=[0-9])")
_PREFIX = re.compile(r"[0-9]+\Z")


def parse_ip_address(text: str) -> Address | None:
    """An address; None where the text is none."""
    try:
        return None if "%" in text else ipaddress.ip_address(_ZEROS.sub("", text))
    except ValueError:
        return None


def ip_address(text: str, path: str, errors: Errors) -> None:
    if parse_ip_address(text) is None:
        detail = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
        errors.append(invalid(path, text, detail))


def parse_ip_range(text: str) -> tuple[Address, int] | None:
    """An address and the length of its prefix; None where the text is none."""
    address, _, length = text.partition("/")
    found = parse_ip_address(address)
    if found is None or not _PREFIX.match(length) or int(length) > found.max_prefixlen:
        return None
    return found, int(length)


def ip_range(text: str, path: str, errors: Errors) -> None:
    if parse_ip_range(text) is None:
        detail = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
        errors.append(invalid(path, text, detail))


def endpoint_address(text: str, path: str, errors: Errors) -> None:
    """An address that others can reach: no local one."""
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
