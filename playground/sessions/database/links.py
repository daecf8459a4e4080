"""View links: further keys of a session that only show it, for a day, for a week, or until they are revoked.

All functions are synchronous; they run in database threads.
"""

from datetime import timedelta

from django.utils import timezone

from playground.models import Session, ViewLink
from playground.presenters.words import gettext_noop, message
from playground.sessions.database.asking import repeatable
from playground.sessions.protocol.errors import LimitReached, LinkEnded, SessionGone

TERMS = {"day": timedelta(days=1), "week": timedelta(weeks=1), "never": None}
MOST = 50  # valid links of a session
SHOWN = 20  # ended links that are shown
ENDED = gettext_noop(
    "This view link has expired, but the session still exists. Ask the person who shared the link for another one."
)
TAKEN_BACK = gettext_noop(
    "This view link was revoked, but the session still exists. Ask the person who shared the link for another one."
)


def find(key: str) -> ViewLink | None:
    """Return the link with this key, of a session that exists, or None. Raise LinkEnded if the link has expired or was revoked."""
    links = ViewLink.objects.select_related("session", "session__origin")
    link = links.filter(key=key, session__deleted=None).first()
    if link is not None and not link.stands:
        raise LinkEnded(message(TAKEN_BACK if link.revoked else ENDED))
    return link


@repeatable
def all_of(session_id: int) -> list[ViewLink]:
    """Return the valid view links, the newest first, then at most SHOWN that have ended."""
    links = list(ViewLink.objects.filter(session_id=session_id).order_by("-pk"))
    return [*(each for each in links if each.stands), *[each for each in links if not each.stands][:SHOWN]]


def make(session_id: int, term: str) -> ViewLink:
    """Create a view link. Raise LimitReached if the session has too many."""
    lasts = TERMS[term]
    if sum(link.stands for link in ViewLink.objects.filter(session_id=session_id)) >= MOST:
        raise LimitReached(
            message("This session already has %(most)s view links. Revoke some of them first.", most=MOST)
        )
    until = None if lasts is None else timezone.now() + lasts
    return ViewLink.objects.create(session=Session(pk=session_id), until=until)


@repeatable
def revoke(session_id: int, number: int) -> None:
    """Revoke a view link. Raise SessionGone if the session has no such link."""
    links = ViewLink.objects.filter(session_id=session_id, pk=number)
    if not links.exists():
        raise SessionGone(message("This session has no such view link."))
    links.filter(revoked=None).update(revoked=timezone.now())


@repeatable
def stands(key: str) -> bool:
    """Return whether a key is a view link that is still valid."""
    link = ViewLink.objects.filter(key=key).first()
    return link is not None and link.stands
