"""A text that was pasted or uploaded with a form."""

from __future__ import annotations

from django.http import HttpRequest
from django.utils.translation import gettext as _

from playground.sessions.errors import SessionError


def received(request: HttpRequest) -> tuple[bytes, str]:
    """The text and its file's name: an uploaded file goes before a pasted text. SessionError where both are empty."""
    files = [each for each in request.FILES.getlist("file") if each.size]
    if files:
        parts = [each.read() for each in files]
        return b"\n---\n".join(parts) if len(parts) > 1 else parts[0], files[0].name or ""
    text = request.POST.get("text", "")
    if not text.strip():
        raise SessionError(_("There is nothing to import yet: paste a text or choose a file."))
    return text.replace("\r\n", "\n").encode(), ""
