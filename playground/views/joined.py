"""Style sheets and scripts that are sent as one (playground/templatetags/joined.py)."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.views.decorators.http import require_safe

from playground.templatetags.joined import KINDS, join

FOR_GOOD = 365 * 24 * 3600


@require_safe
def joined(request: HttpRequest, kind: str, name: str, digest: str) -> HttpResponse:
    """The file as it is now; kept by browsers where that is what the address means: a page may be older than this server."""
    try:
        found = join(kind, name)
    except FileNotFoundError as error:
        raise Http404 from error
    packs = "gzip" in request.headers.get("Accept-Encoding", "")
    response = HttpResponse(found.packed if packs else found.text, content_type=f"{KINDS[kind].mime}; charset=utf-8")
    if packs:
        response.headers["Content-Encoding"] = "gzip"
    patch_vary_headers(response, ("Accept-Encoding",))
    if digest == found.digest:
        patch_cache_control(response, public=True, immutable=True, max_age=FOR_GOOD)
    else:
        patch_cache_control(response, no_cache=True)
    return response
