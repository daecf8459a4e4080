"""What a session's API server is asked, and what it answers."""

from __future__ import annotations

from msgspec import Struct

from playground.sessions.protocol.base import Query, Request
from playground.sessions.protocol.looking import Follower
from playground.sessions.protocol.moving import Applied, Moved
from scheduler_core.apiserver.door import Call


class Answered(Struct, frozen=True):
    """An answer of the API server; `live`: the session's time passes as on the wall."""

    status: int
    body: bytes
    content_type: str
    headers: list[tuple[str, str]] = []
    live: bool = False
    applied: Applied | None = None


class Read(Query[Answered], frozen=True, kw_only=True):
    """A request that changes nothing, at a position."""

    call: Call


class Write(Request[Answered], frozen=True, kw_only=True):
    """A request that may change something, at the head. `wall`: the time on the wall (ns since 1970). Limits are as of Apply."""

    call: Call
    body: bytes
    content_type: str
    agent: str
    manager: str
    wall: int
    max_objects: int
    followers: list[Follower] = []


class GoLive(Request[Moved], frozen=True, kw_only=True):
    """All that is due in a live world at a time on the wall."""

    wall: int
    followers: list[Follower] = []


class Watched(Struct, frozen=True):
    """A watch that began: its number, what it sees first, and the head of its bookmarks; or the answer where it did not begin."""

    number: int
    first: bytes
    kind: str
    api_version: str
    refusal: Answered | None = None
    live: bool = False


class BeginWatch(Request[Watched], frozen=True, kw_only=True):
    """Watch a collection or an object."""

    call: Call


class Seen(Struct, frozen=True):
    """What watches see since they were asked last, by number, which watches go on, and the newest resourceVersion."""

    parts: list[tuple[int, bytes]]
    alive: list[int]
    version: int


class NextSeen(Request[Seen], frozen=True):
    """What happened since."""


class EndWatch(Request[None], frozen=True, kw_only=True):
    """A client went."""

    number: int
