"""What is sent is compressed for whoever takes gzip: pages anew each time, files of the site once.

Pages hold keys of sessions, so their length says nothing exact: each has a few random bytes more (the BREACH attack measures lengths).
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Awaitable, Callable
from typing import cast

from asgiref.sync import sync_to_async
from django.conf import settings
from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers
from django.utils.decorators import async_only_middleware
from django.utils.text import compress_string

GetResponse = Callable[[HttpRequest], Awaitable[HttpResponseBase]]

TEXTS = ("text/", "application/json", "application/javascript", "image/svg+xml")
LEAST = 500  # bytes; what is shorter is sent as it is
MOST_RANDOM = 100
OK = 200

_kept: dict[
    str, tuple[tuple[int, int], bytes]
] = {}  # path -> what the file was like, and its bytes compressed


@async_only_middleware
def compressed(get_response: GetResponse) -> GetResponse:
    """Streams, parts of files and what is short are sent as they are."""

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        response = await get_response(request)
        if not _may_be(request, response):
            return response
        patch_vary_headers(response, ("Accept-Encoding",))
        if "gzip" not in request.headers.get("Accept-Encoding", ""):
            return response
        if isinstance(response, FileResponse):
            return await sync_to_async(_file, thread_sensitive=False)(request.path, response)
        return _page(cast(HttpResponse, response))

    return middleware


def _may_be(request: HttpRequest, response: HttpResponseBase) -> bool:
    if request.method != "GET" or response.status_code != OK or response.has_header("Content-Encoding"):
        return False
    if response.streaming and not (
        isinstance(response, FileResponse) and request.path.startswith(settings.STATIC_URL)
    ):
        return False
    return response.headers.get("Content-Type", "").startswith(TEXTS)


def _page(response: HttpResponse) -> HttpResponse:
    if len(response.content) >= LEAST:
        response.content = compress_string(response.content, max_random_bytes=MOST_RANDOM)
        response.headers["Content-Encoding"] = "gzip"
        response.headers["Content-Length"] = str(len(response.content))
    return response


def _file(path: str, response: FileResponse) -> HttpResponseBase:
    """The same answer from memory; read and compressed anew where the file has changed."""
    source = response.file_to_stream
    assert source is not None
    about = os.fstat(source.fileno())
    like = (about.st_mtime_ns, about.st_size)
    if about.st_size < LEAST:
        return response
    if (kept := _kept.get(path)) is None or kept[0] != like:
        kept = _kept[path] = like, gzip.compress(source.read(), mtime=0)
    response.close()
    headers = {**response.headers, "Content-Encoding": "gzip", "Content-Length": str(len(kept[1]))}
    return HttpResponse(kept[1], headers=headers)
