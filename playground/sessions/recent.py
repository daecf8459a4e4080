"""The sessions that this browser opened last, stored in the browser's own server-side session, so that no account is needed."""

from typing import Any

from django.db.models import Q
from django.http import HttpRequest

from playground.models import Session, ViewLink
from playground.sessions.database.asking import in_thread

KEPT = 12
_NAME = "recent"


async def remember(request: HttpRequest, key: str) -> None:
    """Put a key, of either kind, at the head of the list."""
    before = await request.session.aget(_NAME, [])
    after = [key, *(each for each in before if each != key)][:KEPT]
    if after != before:
        await request.session.aset(_NAME, after)


async def forget(request: HttpRequest, key: str) -> None:
    """Remove a key from the list."""
    before = await request.session.aget(_NAME, [])
    if key in before:
        await request.session.aset(_NAME, [each for each in before if each != key])


async def list_recent_keys(request: HttpRequest) -> list[str]:
    """Return the keys that this browser opened last."""
    return list(await request.session.aget(_NAME, []))


async def recent(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the name, key, access, and time of last use of each session that still exists, the last one first."""
    keys = await request.session.aget(_NAME, [])
    return await in_thread(_rows, keys) if keys else []


def _rows(keys: list[str]) -> list[dict[str, Any]]:
    sessions = Session.objects.filter(Q(edit_key__in=keys) | Q(view_key__in=keys), deleted=None)
    links = ViewLink.objects.select_related("session").filter(key__in=keys, session__deleted=None)
    by_key: dict[str, tuple[Session, str]] = {}
    for session in sessions:
        by_key[session.edit_key] = (session, "edit")
        by_key[session.view_key] = (session, "view")
    by_key |= {link.key: (link.session, "view") for link in links if link.stands}
    rows = [(key, *by_key[key]) for key in keys if key in by_key]
    # A lesson has one row, for its last session. Forks have rows of their own, as they are the user's own work.
    lessons = {each.story: key for key, each, _access in reversed(rows) if each.story and each.origin_id is None}
    return [
        {"key": key, "name": each.name, "access": access, "used": each.used, "head": each.head,
         "fork": each.origin_id is not None}
        for key, each, access in rows
        if each.origin_id is not None or lessons.get(each.story, key) == key
    ]  # fmt: skip
