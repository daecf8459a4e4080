"""A text that was pasted or uploaded with a form."""

from __future__ import annotations

from django.http import HttpRequest
from django.utils.translation import gettext as _

from playground.sessions.errors import SessionError


def received(request: HttpRequest) -> tuple[bytes, str]:
    """The text and its file's name: an uploaded file goes before a pasted text. SessionError where both are empty."""
    files = [each for each in request.FILES.getlist("file") if each.size]
    if files:
        return joined([each.read() for each in files]), files[0].name or ""
    text = request.POST.get("text", "")
    if not text.strip():
        raise SessionError(_("There is nothing to import yet: paste a text or choose a file."))
    return text.replace("\r\n", "\n").encode(), ""


def joined(parts: list[bytes]) -> bytes:
    """Several files as one text: JSON values may follow one another, anything else is documents of YAML."""
    if len(parts) == 1 or all(part.lstrip()[:1] in (b"{", b"[") for part in parts):
        return b"\n".join(parts)
    return b"---\n" + b"\n---\n".join(parts)
