"""The page of capacity: the nodes that would help, and the nodes that can go."""

from typing import Any, get_args

from django.http import HttpRequest, HttpResponse

from playground.features.capacity.query import Capacity, Part
from playground.sessions.web.client import SessionClient
from playground.views.access import opens
from playground.views.responses import position, workbench

SECONDS, LONGER = 4.0, 30.0
LONGEST = 100_000  # letters of node types


@opens("GET", "POST")
async def capacity(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Show one part, `help` or `go`, at the step `at`; POST may bring node types. Nothing of the session is changed."""
    asked = request.POST if request.method == "POST" else request.GET
    part: Any = asked.get("part") if asked.get("part") in get_args(Part) else "help"
    types, longer = asked.get("types", "")[:LONGEST], bool(asked.get("longer"))
    at = position(request)
    seconds = LONGER if longer else SECONDS
    answer = await client.ask(Capacity(at=at, part=part, types=types, seconds=seconds))
    context = {"answer": answer, "found": answer.get("found"), "part": part, "typed": types, "longer": longer}
    return workbench(request, client, "capacity/page", context)
