"""The search for devices that Filter made for a pod on a node, as a tree to walk through."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from playground.features.device_search.query import DeviceSearch
from playground.presenters import Look
from playground.sessions.web.client import SessionClient
from playground.views.access import opens
from playground.views.responses import describe_session, whole_number

FIRST, MOST = 300, 20_000  # rows of the tree
MORE = 4


@opens("GET")
async def device_search(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Show the search as a page, or as a part of the studio's drawer. `most` limits the rows."""
    look = Look.from_query(request.GET)
    asked = whole_number(request.GET.get("most", ""), 8)
    most = FIRST if asked is None else min(asked, MOST)
    found = await client.ask(DeviceSearch(at=look.at, pod=look.pod, node=look.node, most=max(most, 1)))
    context = {
        **describe_session(request, client),
        "deep": False,  # read by the template of a device, which includes itself with True
        "found": found,
        "look": look,
        "at": look.at,
        "more_rows": most * MORE if most < MOST else None,
        "here": reverse("device-search", args=[client.key]),
    }
    return render(request, "device_search/page.html", context)
