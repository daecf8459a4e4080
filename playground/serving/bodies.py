"""Request bodies: their limit for each path, and the limit of all bodies together on the disk while they arrive.

A path accepts a body if a form is sent to it (`_TAKES`; a test compares the table with the views). Large forms of a session or a lesson
require its key, which is looked up before more than `FREE` bytes are accepted.
"""

import shutil
import tempfile
from collections import Counter
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote

from django.conf import settings
from django.urls import Resolver404, ResolverMatch, resolve

from playground.sessions.database import lessons
from playground.sessions.database.asking import in_thread
from playground.sessions.limits import address_owner
from playground.sessions.protocol.errors import LimitReached, SessionError, StorageFull, Unavailable
from playground.sessions.web.client import SessionClient

FREE = 64 << 10  # the largest body that is held in memory, and taken before anybody's key is known
NOTHING = 4 << 10
TOO_LARGE = "The upload{size} is larger than the {limit:,} bytes that this server takes at once here ({setting})."
NO_UPLOAD = "The body of this request{size} is larger than the {limit:,} bytes that this address takes."
BUSY = "This server holds as many uploads as it has room for. Please try again in a moment; nothing is lost."
FULL = "The disk has no room for this upload. Please try again later."
# A form in a URL has up to three bytes for each byte of a text.
ENCODED = 3
COPIES = 4  # a body, Django's copies of it, and room for everybody else

# The forms, by the names of their addresses (urls.py), and the setting that says how large they may be.
_TAKES = {
    "": """
        new-variant lesson own-variant delete-lesson language room-end room-delete join-room lesson-embed framed-lesson assign
        lesson-done room-change gangs
    """,
    "MAX_LESSON_BYTES": "new-lesson own-lesson edit-lesson lesson-files preview-card",
    "MAX_IMPORT_BYTES": "new import",
    "MAX_TRACE_BYTES": "import-trace",
    "MAX_UPLOAD_BYTES": """
        open-room apply-fix step back goto play run search breakpoints breakpoint bookmarks bookmark pause permit undo redo differs
        rename lockstep-go-on rerun duplicate fork fork-weights delete download build build-nodes build-pods preview-nodes
        preview-pods build-devices build-claims preview-devices preview-claims delete-object yaml configuration settings gates
        plugins components calls extenders act import-apply import-cancel view-links story lesson-answer make-lesson lesson-task
        another-variant door door-root door-path live capacity
        upgrade session-gangs second-opinion-begin experiments experiment
    """,
}
DOOR = ("door", "door-root", "door-path")  # which take bodies by every verb
KEYED = {"s": "session", "lesson": "lesson"}  # the beginnings of addresses whose key opens one
TAKES = {name: setting for setting, names in _TAKES.items() for name in names.split()}


class BodyLimit(NamedTuple):
    """The largest body of a path: the limit of uploads by `setting`, and a little for the rest of the form.

    `keyed` is the object that the key must open ("session", "lesson") before more than FREE bytes are accepted, or "".
    """

    setting: str
    most: int
    bytes: int
    keyed: str = ""
    key: str = ""

    def refusal(self, received: int = 0) -> SessionError:
        """Return the error for a body over the limit. `received` is its size, or 0 if unknown."""
        size = f" of {received:,} bytes" if received else ""
        text = TOO_LARGE if self.setting else NO_UPLOAD
        return LimitReached(text.format(size=size, limit=self.most, setting=self.setting))


def body_limit(path: str, method: str = "POST") -> BodyLimit:
    """Return the limit of a path's body: almost nothing if the path accepts no form."""
    if method in ("GET", "HEAD") or (match := _resolve(path)) is None:
        return BodyLimit("", NOTHING, NOTHING)
    methods = ("POST", "PUT", "PATCH", "DELETE") if match.url_name in DOOR else ("POST",)
    if method not in methods or match.url_name not in TAKES:
        return BodyLimit("", NOTHING, NOTHING)
    setting = TAKES[match.url_name]
    if not setting:
        return BodyLimit("", FREE, FREE)
    most = {
        "MAX_LESSON_BYTES": settings.MAX_LESSON_BYTES,
        "MAX_IMPORT_BYTES": settings.MAX_IMPORT_BYTES,
        "MAX_TRACE_BYTES": settings.MAX_TRACE_BYTES,
        "MAX_UPLOAD_BYTES": settings.MAX_UPLOAD_BYTES,
    }[setting]
    keyed = KEYED.get(match.route.partition("/<")[0], "")
    encoded = most * ENCODED if setting == "MAX_LESSON_BYTES" else most
    return BodyLimit(setting, most, encoded + FREE, keyed, match.kwargs.get("key", ""))


@lru_cache(maxsize=1024)
def _resolve(path: str) -> ResolverMatch | None:
    try:
        return resolve(path)
    except Resolver404:
        return None


async def owner_of(limit: BodyLimit) -> str:
    """Return the owner of a large body after a lookup of its key. Raise SessionError."""
    if limit.keyed == "lesson":
        return f"lesson {(await in_thread(lessons.find, limit.key)).pk}"
    client = await SessionClient.open(limit.key)
    client.require_edit()
    return f"session {client.session.pk}"


class Spool:
    """The bytes of bodies on the disk: in total, by address, and by session."""

    def __init__(self) -> None:
        self.held: Counter[str] = Counter()

    def take(self, size: int, address: str, owner: str) -> None:
        """Count more bytes of a body. Raise Unavailable if the total or this client's share would be exceeded."""
        free = shutil.disk_usage(tempfile.gettempdir()).free
        room = min(settings.MAX_SPOOLED_BYTES, (free + self.held[""]) // COPIES)
        share = min(settings.MAX_SPOOLED_BYTES_PER_CLIENT, room // 2)
        most = {"": room, address: room // 2 if owner != address else share, owner: share}
        if any(self.held[who] + size > limit for who, limit in most.items()):
            raise Unavailable(BUSY) if room == settings.MAX_SPOOLED_BYTES else StorageFull(FULL)
        self.held.update(dict.fromkeys(most, size))

    def release(self, size: int, address: str, owner: str) -> None:
        """Stop counting the bytes of a body that was answered or whose client is gone."""
        for who in {"", address, owner}:
            self.held[who] -= size
            if not self.held[who]:
                del self.held[who]


SPOOL = Spool()


class Body:
    """The body of one request, counted while it arrives. `said` is its length by the headers, or None if it is chunked."""

    def __init__(self, method: str, target: str, said: int | None, address: str) -> None:
        self.limit = body_limit(unquote(target.partition("?")[0]), method)
        self.said = said
        self.arrived = 0
        self.asked = not self.limit.keyed  # whether its key was looked up, or is being looked up
        self._held = 0
        self._address = self._owner = address_owner(address)
        if said is not None and said > self.limit.bytes:
            raise self.limit.refusal(said)

    @property
    def wants_key(self) -> bool:
        """True if the body's key must be looked up now."""
        return not self.asked and max(self.arrived, self.said or 0) > FREE

    async def admit(self) -> None:
        """Look up the key. From now on, the body counts for the key's session. Raise SessionError."""
        self.asked = True
        owner = await owner_of(self.limit)
        held = self._held
        self.release()
        self._owner = owner
        self._hold(held)

    def take(self, size: int) -> None:
        """Count an arrived part. Raise SessionError if the limit is exceeded."""
        self.arrived += size
        if self.arrived > self.limit.bytes:
            raise self.limit.refusal()
        if self.arrived > FREE:
            self._hold(self.arrived - self._held)

    def release(self) -> None:
        """Stop counting the body."""
        SPOOL.release(self._held, self._address, self._owner)
        self._held = 0

    def _hold(self, size: int) -> None:
        SPOOL.take(size, self._address, self._owner)
        self._held += size
