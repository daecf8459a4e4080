"""Compression of responses for clients that accept gzip: pages each time, static files once.

Pages contain keys of sessions, so a few random bytes hide their exact length (the BREACH attack measures lengths).
"""

import gzip
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
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

CONDITIONS = ("Range", "If-None-Match", "If-Modified-Since")


@dataclass(frozen=True, slots=True)
class CachedFile:
    """A file of the site, compressed. `like` is the file on the disk: when it changed last, and its size."""

    name: str
    like: tuple[int, int]
    content: bytes
    headers: dict[str, str]

    def response(self) -> HttpResponse:
        return HttpResponse(self.content, headers=self.headers)


_cache: dict[str, CachedFile] = {}  # by path of the address


@async_only_middleware
def compress_responses(get_response: GetResponse) -> GetResponse:
    """Compress responses, except streams, parts of files, and short ones."""

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        if (kept := _find_cached_file(request)) is not None:
            return kept.response()
        response = await get_response(request)
        if not _may_be(request, response):
            return response
        # Also on the answer that stays plain, or a cache would hand it to all clients.
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
    if response.streaming and not (isinstance(response, FileResponse) and request.path.startswith(settings.STATIC_URL)):
        return False
    return response.headers.get("Content-Type", "").startswith(TEXTS)


def _page(response: HttpResponse) -> HttpResponse:
    if len(response.content) >= LEAST:
        response.content = compress_string(response.content, max_random_bytes=MOST_RANDOM)
        response.headers["Content-Encoding"] = "gzip"
        response.headers["Content-Length"] = str(len(response.content))
    return response


def _find_cached_file(request: HttpRequest) -> CachedFile | None:
    """Return a whole file that was sent before and is unchanged. A page loads a hundred of them."""
    kept = _cache.get(request.path)
    if kept is None or request.method != "GET" or "gzip" not in request.headers.get("Accept-Encoding", ""):
        return None
    if any(name in request.headers for name in CONDITIONS):
        return None
    try:
        return kept if _like(os.stat(kept.name)) == kept.like else None
    except OSError:
        return None


def _like(about: os.stat_result) -> tuple[int, int]:
    return about.st_mtime_ns, about.st_size


def _file(path: str, response: FileResponse) -> HttpResponseBase:
    """Return the response from the cache. Compresses the file again if it has changed."""
    source = response.file_to_stream
    assert source is not None
    like = _like(os.fstat(source.fileno()))
    if like[1] < LEAST:
        return response
    kept = _cache.get(path)
    if kept is None or kept.like != like:
        # Without a time: the same bytes for the same file, whichever server compresses it.
        content = gzip.compress(source.read(), mtime=0)
        headers = {**response.headers, "Content-Encoding": "gzip", "Content-Length": str(len(content))}
        kept = _cache[path] = CachedFile(source.name, like, content, headers)
    response.close()
    return kept.response()
