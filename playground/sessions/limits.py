"""Limits of what clients may take: connections, sockets, uploads; and what that needs of Twisted and Daphne."""

from collections import defaultdict
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from django.conf import settings

from playground.common.addresses import client_name
from playground.common.logs import REFUSED
from playground.common.logs import SOCKETS as COUNTED
from playground.presenters.words import gettext_noop, message
from playground.sessions.protocol.errors import LimitReached

# Shares: connections and sockets by the owner that each counts for, so that nobody takes them all.
#
# An address without a valid key gets a tenth. Whatever proved a session's or a room's key counts for that session or room instead, which
# gets a half: a school behind one address fits.

T = TypeVar("T")

ADDRESS = "address "  # begins the names of owners that have shown no key
LEAST = 8  # a browser opens six connections at once


class Shares(Generic[T]):
    """Things of which there are `most()`. Owners are names; their things stand in the order in which they came."""

    def __init__(self, most: Callable[[], int], least: int = 1) -> None:
        self._most, self._least = most, least
        self._by_owner: dict[str, dict[T, None]] = defaultdict(dict)
        self._owners: dict[T, str] = {}

    def __len__(self) -> int:
        return len(self._owners)

    @property
    def is_full(self) -> bool:
        """True if all are taken."""
        return len(self) >= self._most()

    def share(self, owner: str) -> int:
        """The number of things that an owner may have."""
        return max(self._least, self._most() // (10 if owner.startswith(ADDRESS) else 2))

    def has_room(self, owner: str) -> bool:
        """Return whether an owner may have one more."""
        return len(self._by_owner.get(owner, ())) < self.share(owner)

    def give(self, thing: T, owner: str) -> None:
        """Count a thing for an owner, and for nobody else."""
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
        """The owner that a thing counts for."""
        return self._owners.get(thing)

    def things(self, owner: str | None = None) -> list[T]:
        """The things of an owner, or all, oldest first."""
        return list(self._owners) if owner is None else list(self._by_owner.get(owner, ()))


def address_owner(address: str) -> str:
    """The owner of what a client without a key takes."""
    return ADDRESS + client_name(address)


def vouch(scope: Any, owner: str) -> None:
    """Count the connection of a request for the session or room whose key it has proved."""
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
    """Count a socket that has just opened for its address. Raises LimitReached."""
    if SOCKETS.is_full:
        raise _build_limit_error(ALL_TAKEN, settings.MAX_SOCKETS)
    _count_socket(socket, address_owner((scope.get("client") or [""])[0]))


def prove(socket: Any, scope: Any, owner: str) -> None:
    """Count a socket for the session or room whose key it has. Raises SessionError."""
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
