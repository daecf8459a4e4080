"""The page of capacity: nodes whose addition helps, and nodes that can be removed."""

from typing import Any, get_args

from django.http import HttpRequest, HttpResponse

from playground.features.capacity.query import Capacity, Part
from playground.sessions.web.client import SessionClient
from playground.views.access import opens
from playground.views.responses import position, workbench

SECONDS, LONGER = 4.0, 30.0
LONGEST, LONGEST_NAME = 100_000, 600  # letters of node types, and of KIND/NAMESPACE/NAME


@opens("GET", "POST")
async def capacity(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Show one part, `help` or `go`, at the step `at`. The session does not change.

    `of` names a pod or a workload; a POST may have node types.
    """
    asked = request.POST if request.method == "POST" else request.GET
    part: Any = asked.get("part") if asked.get("part") in get_args(Part) else "help"
    types, longer, of = asked.get("types", "")[:LONGEST], bool(asked.get("longer")), asked.get("of", "")[:LONGEST_NAME]
    at = position(request)
    seconds = LONGER if longer else SECONDS
    answer = await client.ask(Capacity(at=at, part=part, types=types, of=of, seconds=seconds))
    context = {"answer": answer, "found": answer.get("found"), "part": part, "typed": types}
    context |= {"longer": longer, "of": of}
    return workbench(request, client, "capacity/page", context)
