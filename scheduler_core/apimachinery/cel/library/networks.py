"""IP addresses and CIDRs: net.IP and net.CIDR, parsed as Go's netip does.

kube: apiserver/pkg/cel/library/{ip,cidr}.go @ v1.34.1
"""

import re
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address

from scheduler_core.apimachinery.cel.texts import quote_go
from scheduler_core.apimachinery.cel.values import CidrValue, Failure, IpValue

Address = IPv4Address | IPv6Address
_HEX = re.compile(r"[0-9a-fA-F]*")
_BITS = re.compile(r"(?:0|[1-9][0-9]*)\Z")


class BadAddress(ValueError):
    """A text that is no address, in Go's words."""

    def __init__(self, text: str, message: str, at: str = "") -> None:
        place = f" (at {quote_go(at)})" if at else ""
        super().__init__(f"ParseAddr({quote_go(text)}): {message}{place}")


def parse_address(text: str) -> tuple[Address, str]:
    """The address and its zone."""
    for character in text:
        if character == ".":
            return IPv4Address(_octets(text, text)), ""
        if character == ":":
            return _parse_v6(text)
        if character == "%":
            raise BadAddress(text, "missing IPv6 address")
    raise BadAddress(text, "unable to parse IP")


def _octets(text: str, part: str) -> bytes:
    """The four numbers of `part`, which ends `text`."""
    fields: list[int] = []
    value = digits = 0
    for index, character in enumerate(part):
        if "0" <= character <= "9":
            if digits == 1 and value == 0:
                raise BadAddress(text, "IPv4 field has octet with leading zero")
            value, digits = value * 10 + int(character), digits + 1
            if value > 255:
                raise BadAddress(text, "IPv4 field has value >255")
        elif character == ".":
            if index in (0, len(part) - 1) or part[index - 1] == ".":
                raise BadAddress(text, "IPv4 field must have at least one digit", part[index:])
            if len(fields) == 3:
                raise BadAddress(text, "IPv4 address too long")
            fields.append(value)
            value = digits = 0
        else:
            raise BadAddress(text, "unexpected character", part[index:])
    if len(fields) < 3:
        raise BadAddress(text, "IPv4 address too short")
    return bytes([*fields, value])


def _parse_v6(text: str) -> tuple[Address, str]:
    rest, percent, zone = text.partition("%")
    if percent and not zone:
        raise BadAddress(text, "zone must be a non-empty string")
    parsed, ellipsis = bytearray(), -1
    if rest.startswith("::"):
        ellipsis, rest = 0, rest[2:]
        if not rest:
            return IPv6Address(0), zone
    while len(parsed) < 16:
        match = _HEX.match(rest)
        assert match is not None
        digits = match[0]
        if len(digits) > 4:
            raise BadAddress(text, "each group must have 4 or less digits", rest)
        if not digits:
            raise BadAddress(text, "each colon-separated field must have at least one digit", rest)
        if rest[len(digits) : len(digits) + 1] == ".":
            parsed += _parse_embedded_v4(text, rest, len(parsed), ellipsis)
            rest = ""
            break
        parsed += int(digits, 16).to_bytes(2)
        rest = rest[len(digits) :]
        if not rest:
            break
        rest, ellipsis = _after_group(text, rest, len(parsed), ellipsis)
        if not rest:
            break
    if rest:
        raise BadAddress(text, "trailing garbage after address", rest)
    return IPv6Address(bytes(_expand_ellipsis(text, parsed, ellipsis))), zone


def _parse_embedded_v4(text: str, rest: str, at: int, ellipsis: int) -> bytes:
    if ellipsis < 0 and at != 12:
        problem = "embedded IPv4 address must replace the final 2 fields of the address"
        raise BadAddress(text, problem, rest)
    if at + 4 > 16:
        problem = "too many hex fields to fit an embedded IPv4 at the end of the address"
        raise BadAddress(text, problem, rest)
    return _octets(text, rest)


def _after_group(text: str, rest: str, at: int, ellipsis: int) -> tuple[str, int]:
    """Return the text after the colon, and the position of the double colon."""
    if rest[0] != ":":
        raise BadAddress(text, "unexpected character, want colon", rest)
    if len(rest) == 1:
        raise BadAddress(text, "colon must be followed by more characters", rest)
    rest = rest[1:]
    if rest[0] != ":":
        return rest, ellipsis
    if ellipsis >= 0:
        raise BadAddress(text, "multiple :: in address", rest)
    return rest[1:], at


def _expand_ellipsis(text: str, parsed: bytearray, ellipsis: int) -> bytearray:
    missing = 16 - len(parsed)
    if missing and ellipsis < 0:
        raise BadAddress(text, "address string too short")
    if not missing and ellipsis >= 0:
        raise BadAddress(text, "the :: must expand to at least one field of zeros")
    return parsed[:ellipsis] + bytes(missing) + parsed[ellipsis:] if missing else parsed


def _is_mapped(address: Address) -> bool:
    return isinstance(address, IPv6Address) and address.ipv4_mapped is not None


def _parse_ip(text: str) -> Address:
    try:
        address, zone = parse_address(text)
    except BadAddress as error:
        raise ValueError(f"IP Address {quote_go(text)} parse error during conversion from string: {error}") from None
    if zone:
        raise ValueError(f"IP address {quote_go(text)} with zone value is not allowed")
    if _is_mapped(address):
        raise ValueError(f"IPv4-mapped IPv6 address {quote_go(text)} is not allowed")
    return address


def _ip(text: str) -> object:
    try:
        return IpValue(_parse_ip(text))
    except ValueError as error:
        return Failure(str(error))


def _is_canonical(text: str) -> object:
    address = _ip(text)
    return address if not isinstance(address, IpValue) else address_text(address.address) == text


def address_text(address: Address) -> str:
    """Return the address as Go writes it. Go, too, writes 4in6 addresses that are not mapped in full hexadecimal."""
    return str(address)


def _prefix_error(text: str, message: str) -> ValueError:
    words = "network address parse error during conversion from string"
    return ValueError(f"{words}: netip.ParsePrefix({quote_go(text)}): {message}")


def _cidr(text: str) -> object:
    try:
        before, slash, bits = text.rpartition("/")
        if not slash:
            raise _prefix_error(text, "no '/'")
        try:
            address, zone = parse_address(before)
        except BadAddress as error:
            raise _prefix_error(text, str(error)) from None
        if zone:
            raise _prefix_error(text, "IPv6 zones cannot be present in a prefix")
        if not _BITS.match(bits) or len(bits) > 18:
            raise _prefix_error(text, f"bad bits after slash: {quote_go(bits)}")
        if int(bits) > address.max_prefixlen:
            raise _prefix_error(text, "prefix length out of range")
        if _is_mapped(address):
            raise ValueError(f"IPv4-mapped IPv6 address {quote_go(text)} is not allowed")
        return CidrValue(address, int(bits))
    except ValueError as error:
        return Failure(f"network address parse error during conversion from string: {error}")


def _network(cidr: CidrValue, bits: int) -> int:
    return int(cidr.address) >> (cidr.address.max_prefixlen - bits)


def _contains_ip(cidr: CidrValue, ip: IpValue) -> bool:
    if cidr.address.version != ip.address.version:
        return False
    return _network(cidr, cidr.bits) == _network(CidrValue(ip.address, 0), cidr.bits)


def _contains_ip_text(cidr: CidrValue, text: str) -> object:
    """Return whether a CIDR contains the address in a text. In kube, an invalid address fails as a missing overload."""
    ip = _ip(text)
    return _contains_ip(cidr, ip) if isinstance(ip, IpValue) else Failure("no such overload")


def _contains_cidr(cidr: CidrValue, other: CidrValue) -> bool:
    if cidr.address.version != other.address.version or cidr.bits > other.bits:
        return False
    return _network(cidr, cidr.bits) == _network(other, cidr.bits)


def _contains_cidr_text(cidr: CidrValue, text: str) -> object:
    other = _cidr(text)
    return _contains_cidr(cidr, other) if isinstance(other, CidrValue) else other


def _mask_cidr(cidr: CidrValue) -> CidrValue:
    host = cidr.address.max_prefixlen - cidr.bits
    number = (int(cidr.address) >> host) << host
    kind = IPv4Address if cidr.address.version == 4 else IPv6Address
    return CidrValue(kind(number), cidr.bits)


def _of(test: Callable[[Address], bool]) -> Callable[..., object]:
    return lambda ip: test(ip.address)


def _is_global_unicast(address: Address) -> bool:
    if isinstance(address, IPv4Address) and (not int(address) or int(address) == (1 << 32) - 1):
        return False
    unspecified = not int(address)
    return not (unspecified or address.is_loopback or address.is_multicast or address.is_link_local)


def _is_link_local_multicast(address: Address) -> bool:
    if isinstance(address, IPv4Address):
        return int(address) >> 8 == 0xE00000
    return int(address) >> 112 & 0xFF0F == 0xFF02


NETWORKS: dict[str, Callable[..., object]] = {
    "string_to_ip": _ip,
    "is_ip": lambda text: isinstance(_ip(text), IpValue),
    "ip_is_canonical": _is_canonical,
    "ip_to_string": lambda ip: address_text(ip.address),
    "ip_family": lambda ip: ip.address.version,
    "ip_is_unspecified": _of(lambda address: not int(address)),
    "ip_is_loopback": _of(lambda address: address.is_loopback),
    "ip_is_link_local_multicast": _of(_is_link_local_multicast),
    "ip_is_link_local_unicast": _of(lambda address: address.is_link_local),
    "ip_is_global_unicast": _of(_is_global_unicast),
    "string_to_cidr": _cidr,
    "is_cidr": lambda text: isinstance(_cidr(text), CidrValue),
    "cidr_to_string": lambda cidr: f"{address_text(cidr.address)}/{cidr.bits}",
    "cidr_contains_ip_string": _contains_ip_text,
    "cidr_contains_ip_ip": _contains_ip,
    "cidr_contains_cidr_string": _contains_cidr_text,
    "cidr_contains_cidr": _contains_cidr,
    "cidr_ip": lambda cidr: IpValue(cidr.address),
    "cidr_prefix_length": lambda cidr: cidr.bits,
    "cidr_masked": _mask_cidr,
}
