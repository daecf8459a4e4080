"""Which servers may be asked: hosts by their names, addresses and networks, each with or without a port.

A name is resolved once, and what it leads to is connected to. An address that is not public (loopback, private, link-local, reserved) is
connected to only where the list has it, or its network, as an address: a name alone never leads there.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_NAT64 = (ip_network("64:ff9b::/96"), ip_network("64:ff9b:1::/48"))
_COMPATIBLE = ip_network("::/96")


class NotAllowedHost(ValueError):
    """A server that must not be asked; the text says why."""


@dataclass(frozen=True, slots=True)
class Host:
    """One entry of the list: a name or a network; port 0 is any."""

    name: str = ""
    network: Network | None = None
    port: int = 0

    def fits_port(self, port: int) -> bool:
        return self.port in (0, port)


@dataclass(frozen=True, slots=True)
class AllowedHosts:
    """The list."""

    hosts: tuple[Host, ...] = ()

    @classmethod
    def read(cls, entries: Iterable[str]) -> "AllowedHosts":
        """Parse `name`, `name:port`, `10.1.2.3:80`, `10.0.0.0/8`, `[::1]:80`. Raises ValueError with any other entry."""
        return cls(tuple(_host(entry) for entry in entries))

    def require_name(self, name: str, port: int) -> None:
        """NotAllowedHost unless the list has this name, or the address that it is."""
        literal = _literal(name)
        for host in self.hosts:
            if not host.fits_port(port):
                continue
            if host.name == name.lower().rstrip("."):
                return
            if literal is not None and host.network is not None and literal in host.network:
                return
        shown = f"[{name}]" if ":" in name else name
        raise NotAllowedHost(f"{shown}:{port} is no extender that this server's operator allows (EXTENDER_HOSTS)")

    def choose(self, name: str, port: int, addresses: Sequence[str]) -> str:
        """The first of a name's addresses that may be connected to. NotAllowedHost where there is none."""
        for text in addresses:
            address = ip_address(text.partition("%")[0])
            if is_public(address) or self._lists(address, port):
                return text
        raise NotAllowedHost(
            f"{name} leads to {', '.join(addresses[:3]) or 'no address'}, which is not public, and not allowed as an address "
            "(EXTENDER_HOSTS)"
        )

    def _lists(self, address: Address, port: int) -> bool:
        return any(
            host.network is not None
            and host.fits_port(port)
            and any(one in host.network for one in _resolve_embedded_addresses(address))
            for host in self.hosts
        )


def is_public(address: Address) -> bool:
    """Return whether an address, and each address that it stands for, is a public one."""
    return all(one.is_global and not one.is_multicast for one in _resolve_embedded_addresses(address))


def _resolve_embedded_addresses(address: Address) -> tuple[Address, ...]:
    """The address, or those of version 4 that an address of version 6 stands for."""
    if isinstance(address, IPv4Address):
        return (address,)
    if address.ipv4_mapped is not None:
        return (address.ipv4_mapped,)
    if address.sixtofour is not None:
        return address, address.sixtofour
    if address.teredo is not None:
        return address, *address.teredo
    if any(address in network for network in _NAT64) or (address in _COMPATIBLE and int(address) > 1):
        return address, IPv4Address(int(address) & 0xFFFFFFFF)
    return (address,)


def _literal(name: str) -> Address | None:
    try:
        return ip_address(name)
    except ValueError:
        return None


def _host(entry: str) -> Host:
    text, port = entry, 0
    if entry.startswith("["):
        inner, _, rest = entry[1:].partition("]")
        text, port = inner, _port(rest.removeprefix(":"), entry) if rest else 0
    elif entry.count(":") == 1:
        text, _, number = entry.partition(":")
        port = _port(number, entry)
    try:
        return Host(network=ip_network(text), port=port)
    except ValueError:
        pass
    if not text or "/" in text or not all(part for part in text.rstrip(".").split(".")):
        raise ValueError(f"{entry!r} is no host, address or network such as extender.example:8080 or 10.0.0.0/8")
    return Host(text.lower().rstrip("."), port=port)


def _port(text: str, entry: str) -> int:
    if not text.isascii() or not text.isdecimal() or not 0 < int(text) < 65536:
        raise ValueError(f"{entry!r} has no port from 1 to 65535")
    return int(text)
