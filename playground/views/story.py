"""A story's button: the command that its present chapter offers."""

from __future__ import annotations

import msgspec
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from playground.sessions.database import listing
from playground.sessions.database.asking import in_thread
from playground.sessions.protocol.errors import SessionError
from playground.sessions.web.client import SessionClient
from playground.stories import story
from playground.views.access import edits
from playground.views.responses import by_htmx, position

SOURCE = "story"


@require_POST
@edits
async def story_act(request: HttpRequest, client: SessionClient, chapter: int) -> HttpResponse:
    """Apply the action of a chapter (from 1) of the session's story."""
    own_story = story(client.session.story)
    chapters = own_story.chapters if own_story else ()
    action = chapters[chapter - 1].action if 1 <= chapter <= len(chapters) else None
    if action is None:
        raise SessionError(_("This story has no action there."))
    command, at = msgspec.to_builtins(action.command), position(request)
    await client.refresh()
    head = await client.head()
    if at in (None, head) and await in_thread(listing.last, client.session.pk, head) == (SOURCE, command):
        raise SessionError(_("That is done already. Step on to see what comes of it."))
    await client.apply(command, at=at, source=SOURCE)
    if by_htmx(request):
        return HttpResponse(status=204)
    return HttpResponseRedirect(reverse("studio", args=[client.key]))
