"""Addresses of clients and proxies in headers and connections."""

from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


def is_in(address: Address, networks: Iterable[Network]) -> bool:
    return any(address in network for network in networks)


def read_address(text: str) -> Address | None:
    """Parse an address with or without a port; None if invalid. An IPv4 address mapped to IPv6 becomes IPv4."""
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
    """Return the name of the client at an address: the address, or for IPv6 the /64 network that one client has."""
    address = read_address(text)
    if isinstance(address, IPv6Address):
        return str(IPv6Network((address, 64), strict=False))
    return text if address is None else str(address)
