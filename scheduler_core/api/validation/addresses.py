"""IP addresses and ranges of them, as kube reads those of older fields: zeros may stand before a number.

kube: apimachinery/pkg/util/validation/ip.go, k8s.io/utils/internal/third_party/forked/golang/net @ v1.34.1
"""

from __future__ import annotations

import ipaddress
import re

from scheduler_core.api.validation.checks import Errors
from scheduler_core.objects.errors import invalid

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_ZEROS = re.compile(r"(?<![0-9a-fA-F:])0+(?=[0-9]+(?:\.|\Z))|(?<=\.)0+(?=[0-9])")
_PREFIX = re.compile(r"[0-9]+\Z")


def parsed(text: str) -> Address | None:
    """An address; None where the text is none."""
    try:
        return None if "%" in text else ipaddress.ip_address(_ZEROS.sub("", text))
    except ValueError:
        return None


def ip_address(text: str, path: str, errors: Errors) -> None:
    if parsed(text) is None:
        detail = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
        errors.append(invalid(path, text, detail))


def parsed_range(text: str) -> tuple[Address, int] | None:
    """An address and the length of its prefix; None where the text is none."""
    address, _, length = text.partition("/")
    found = parsed(address)
    if found is None or not _PREFIX.match(length) or int(length) > found.max_prefixlen:
        return None
    return found, int(length)


def ip_range(text: str, path: str, errors: Errors) -> None:
    if parsed_range(text) is None:
        detail = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
        errors.append(invalid(path, text, detail))
