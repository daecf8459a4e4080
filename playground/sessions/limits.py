"""Limits for clients: on connections, sockets, and uploads; with the parts of Twisted and Daphne that these need."""

from collections import defaultdict
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from django.conf import settings

from playground.common.addresses import client_name
from playground.common.logs import REFUSED
from playground.common.logs import SOCKETS as COUNTED
from playground.presenters.words import gettext_noop, message
from playground.sessions.protocol.errors import LimitReached

# Shares: connections and sockets are counted by owner, so that no client uses them all.
#
# An address without a valid key gets a tenth. A connection that has shown a session's or a room's key counts for that session or room
# instead, which gets a half: enough for a school behind one address.

T = TypeVar("T")

ADDRESS = "address "  # prefix of owners that have shown no key
LEAST = 8  # a browser opens six connections at once


class Shares(Generic[T]):
    """Shares of at most `most()` things by owner. Owners are names; the things of an owner are in the order of their arrival."""

    def __init__(self, most: Callable[[], int], least: int = 1) -> None:
        self._most, self._least = most, least
        self._by_owner: dict[str, dict[T, None]] = defaultdict(dict)
        self._owners: dict[T, str] = {}

    def __len__(self) -> int:
        return len(self._owners)

    @property
    def is_full(self) -> bool:
        """True if the maximum is reached."""
        return len(self) >= self._most()

    def share(self, owner: str) -> int:
        """Return the maximum of things for an owner."""
        return max(self._least, self._most() // (10 if owner.startswith(ADDRESS) else 2))

    def has_room(self, owner: str) -> bool:
        """Return whether an owner may have one more thing."""
        return len(self._by_owner.get(owner, ())) < self.share(owner)

    def give(self, thing: T, owner: str) -> None:
        """Count a thing for an owner, and for no other."""
        self.remove(thing)
        self._owners[thing] = owner
        self._by_owner[owner][thing] = None

    def remove(self, thing: T) -> None:
        owner = self._owners.pop(thing, None)
        if owner is not None:
            del self._by_owner[owner][thing]
            if not self._by_owner[owner]:
                del self._by_owner[owner]

    def owner_of(self, thing: T) -> str | None:
        """Return the owner that a thing counts for, or None."""
        return self._owners.get(thing)

    def things(self, owner: str | None = None) -> list[T]:
        """Return the things of an owner, or all things, oldest first."""
        return list(self._owners) if owner is None else list(self._by_owner.get(owner, ()))


def address_owner(address: str) -> str:
    """Return the owner that the connections of a client without a key count for."""
    return ADDRESS + client_name(address)


def vouch(scope: Any, owner: str) -> None:
    """Count a request's connection for the session or room whose key the request has shown."""
    visit = scope.get("visit")
    if visit is not None:
        visit.belong(owner)


CONNECTIONS: Shares[Any] = Shares(lambda: settings.MAX_CONNECTIONS, LEAST)
SOCKETS: Shares[Any] = Shares(lambda: settings.MAX_SOCKETS)
COUNTED.set_function(lambda: len(SOCKETS))

ALL_TAKEN = gettext_noop("The server already has %(most)s open pages, which is its limit. Try again later.")
SHARE_TAKEN = gettext_noop(
    "%(most)s pages are already open for this client or session, which is the limit. Try again later."
)


def admit_socket(socket: Any, scope: Any) -> None:
    """Count a new socket for its client's address. Raise LimitReached."""
    if SOCKETS.is_full:
        raise _build_limit_error(ALL_TAKEN, settings.MAX_SOCKETS)
    _count_socket(socket, address_owner((scope.get("client") or [""])[0]))


def prove(socket: Any, scope: Any, owner: str) -> None:
    """Count a socket for the session or room whose key it has. Raise SessionError."""
    if SOCKETS.owner_of(socket) not in (owner, None):
        _count_socket(socket, owner)
        vouch(scope, owner)


def _count_socket(socket: Any, owner: str) -> None:
    if not SOCKETS.has_room(owner):
        raise _build_limit_error(SHARE_TAKEN, SOCKETS.share(owner))
    SOCKETS.give(socket, owner)


def _build_limit_error(said: str, most: int) -> LimitReached:
    REFUSED.labels("too many sockets").inc()
    return LimitReached(message(said, most=f"{most:,}"))
