"""What this server needs of Twisted and Daphne beyond their interfaces, here alone: pyproject.toml bounds their versions, and
tests/playground/test_internals.py looks for each of these in the libraries that are installed.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from daphne.http_protocol import HTTPFactory
from daphne.server import Server
from daphne.ws_protocol import WebSocketFactory
from twisted.protocols.policies import ProtocolWrapper


def connection_of(transport: Any) -> Any:
    """The TCP connection below whatever wraps it."""
    while isinstance(transport, ProtocolWrapper):
        transport = transport.transport
    return transport


def takes_at_once(tcp: Any) -> bool:
    """Return whether a connection has no unsent data, so that data written to it now stays in order.

    Twisted keeps unsent data in `dataBuffer`, and before that in a list whose length is only in `_tempDataLen`.
    """
    return bool(tcp.connected and not tcp.dataBuffer and not tcp._tempDataLen)


class ServerWithFactories(Server):
    """Daphne's server with factories of ours. It makes its own when it runs, and has no setting for others; what it assigns is replaced."""

    @abstractmethod
    def http(self, factory: HTTPFactory) -> Any:
        """Return the factory that the server listens with, in place of Daphne's."""

    @abstractmethod
    def sockets(self, factory: WebSocketFactory) -> Any:
        """Return the factory that makes a connection a WebSocket, in place of Daphne's."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "http_factory":
            value = self.http(value)
        elif name == "ws_factory":
            value = self.sockets(value)
        super().__setattr__(name, value)
