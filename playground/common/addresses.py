"""Addresses of clients and proxies, as they are written in headers and connections."""

from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


def is_in(address: Address, networks: Iterable[Network]) -> bool:
    return any(address in network for network in networks)


def read_address(text: str) -> Address | None:
    """An address, with a port or without; None where it is none. IPv4 in IPv6 is the IPv4 that is meant."""
    host = text.strip().strip('"')
    if host.startswith("["):
        host = host[1:].partition("]")[0]
    elif host.count(":") == 1:
        host = host.partition(":")[0]
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


@lru_cache(maxsize=4096)
def client_name(text: str) -> str:
    """The name of the client at an address: the address, or of IPv6 the network of 64 bits that one client has."""
    address = read_address(text)
    if isinstance(address, IPv6Address):
        return str(IPv6Network((address, 64), strict=False))
    return text if address is None else str(address)
