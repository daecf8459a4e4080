"""The text behind an import's preview, kept until it is applied: another process, or a restarted one, may be asked to apply it."""

import secrets
import zlib

from playground.models import ImportText
from playground.sessions.protocol.errors import SessionError


def keep(session_id: int, data: bytes, filename: str) -> str:
    """Keep the text; a session has one preview at a time. Returns its token."""
    token = secrets.token_urlsafe(12)
    ImportText.objects.update_or_create(
        session_id=session_id,
        defaults={"token": token, "filename": filename[:200], "text": zlib.compress(data, 1)},
    )
    return token


def find(session_id: int, token: str) -> tuple[bytes, str]:
    """The text and its file's name."""
    wanted = token.replace("\0", " ")  # not every database takes that character
    one = ImportText.objects.filter(session_id=session_id, token=wanted).first()
    if one is None:
        raise SessionError("This preview is no longer kept. Please paste or upload the text again.")
    return zlib.decompress(bytes(one.text)), one.filename


def drop(session_id: int) -> None:
    ImportText.objects.filter(session_id=session_id).delete()
