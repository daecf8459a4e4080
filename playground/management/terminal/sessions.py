"""Sessions of this server's database, as a command names them."""

from __future__ import annotations

from playground.models import Session
from playground.sessions.database import log
from playground.sessions.protocol.errors import SessionGone
from playground.sessions.protocol.opening import LogRow

DIGITS = 18


def load_session(named: str) -> tuple[Session, list[LogRow]]:
    """The session that a link, a key or a number names, with its log. Raises SessionGone."""
    if named.isascii() and named.isdecimal():
        if len(named) > DIGITS:
            raise SessionGone(f"There is no session {named[:DIGITS]}…")
        return log.read(int(named))
    return log.read(log.find(_key(named)).pk)


def _key(named: str) -> str:
    """The key in a link, or what stands there by itself."""
    _, slash, rest = named.partition("/s/")
    return rest.partition("/")[0] if slash else named
