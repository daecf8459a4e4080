"""The text of a form: pasted, uploaded, or in a field."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest
from django.utils.translation import gettext as _
from msgspec import structs

from playground.presenters.words import Message, format_message
from playground.sessions.protocol.errors import FieldProblem, LimitReached, SessionError
from playground.sessions.protocol.looking import ReadConfiguration
from playground.sessions.web.client import SessionClient
from playground.templatetags.playground_words import in_words as wrong_field
from playground.templatetags.playground_words import problem_words
from playground.workbench.forms.fields import at_line
from scheduler_core.formats.manifests import NotObjects, is_archive, join_inputs

LONGEST_SOURCE = 200
OF_ARCHIVES = 32  # the largest ratio of an archive's content to its size
START = 1024  # bytes that identify an archive


def read_import_text(request: HttpRequest) -> tuple[bytes, str]:
    """Return the text and its file's name; an uploaded file takes precedence over a pasted text. Raise SessionError if both are empty."""
    files = _files(request)
    if files:
        size, most = sum(each.size or 0 for each in files), settings.MAX_UPLOAD_BYTES
        if size > most:
            raise LimitReached(
                _(
                    "The files have %(size)s bytes together. The limit for several files is %(most)s (MAX_UPLOAD_BYTES). "
                    "Pack them into one archive (tar.gz or zip), which can be larger."
                )
                % {"size": f"{size:,}", "most": f"{most:,}"}
            )
        try:
            return join_inputs([(each.name or "", each.read()) for each in files]), files[0].name or ""
        except NotObjects as error:
            raise SessionError(_(error.note.text) % error.note.values) from None
    text = request.POST.get("text", "")
    if not text.strip():
        raise SessionError(_("Nothing to import: paste a text or choose a file."))
    return text.replace("\r\n", "\n").encode(), ""


def large_file(request: HttpRequest) -> UploadedFile[Any] | None:
    """Return the only uploaded file if it must be read in chunks, or None."""
    files = _files(request)
    if len(files) != 1:
        return None
    size, most = files[0].size or 0, settings.MAX_IMPORT_BYTES
    least = min(settings.LARGE_IMPORT_BYTES, settings.MAX_UPLOAD_BYTES)
    file = files[0]
    file.seek(0)
    start = file.read(START)
    file.seek(0)
    if size <= (least // OF_ARCHIVES if is_archive(start) else least):
        return None
    if size > most:
        raise LimitReached(
            _("The file has %(size)s bytes. The limit is %(most)s (MAX_IMPORT_BYTES).")
            % {"size": f"{size:,}", "most": f"{most:,}"}
        )
    return files[0]


def _files(request: HttpRequest) -> list[UploadedFile[Any]]:
    return [each for each in request.FILES.getlist("file") if each.size]


class ReadYaml(NamedTuple):
    """The object in a text, or its errors."""

    manifest: dict[str, Any] | None
    errors: list[str]


async def read_yaml(client: SessionClient, text: str) -> ReadYaml:
    """Return the only object in a text (None: there is none), and its errors with lines. A value that is not an object is an error."""
    read = await client.check(ReadConfiguration(text=text.replace("\r\n", "\n")))
    errors = [at_line(error.line, problem_words(error)) for error in read.errors]
    if not errors and read.documents > 1:
        errors = [_("The text must contain exactly one document.")]
    if not errors and not isinstance(read.manifest, dict | None):
        problem = FieldProblem(received=repr(read.manifest)[:LONGEST_SOURCE], expected="an object")
        errors = [_("received %(received)s; expected %(expected)s") % wrong_field(problem)]
    return ReadYaml(None if errors else read.manifest, errors)


def with_source(errors: Sequence[FieldProblem], text: str) -> list[FieldProblem]:
    """Return the errors, each with the text of its line."""
    lines = text.split("\n")
    return [
        structs.replace(each, source=lines[each.line - 1].strip()[:LONGEST_SOURCE])
        if each.line and not each.file and each.line <= len(lines)
        else each
        for each in errors
    ]


def in_words(sentences: Sequence[Message]) -> list[str]:
    """Return a worker's sentences in the reader's language."""
    return [format_message(each, _) for each in sentences]
