"""Why a pod is not on a node: what the plugins say of it there now."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from playground.sessions.protocol.errors import SessionGone
from playground.sessions.protocol.looking import WhyNot
from playground.sessions.web.client import SessionClient
from playground.views.access import opens
from playground.views.responses import position, workbench

MOST_NAME = 253


@require_GET
@opens
async def why(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Every Filter plugin's verdict on the pod `pod` on the node `node`, tried where the viewer stands; nothing is changed."""
    pod = request.GET.get("pod", "")[: 2 * MOST_NAME + 1]
    node = request.GET.get("node", "").strip()[:MOST_NAME]
    answer = await client.ask(WhyNot(at=position(request), pod=pod, node=node))
    if answer is None:
        raise SessionGone(_("There is no pod %(name)s at this step.") % {"name": pod})
    namespace, _slash, name = pod.partition("/")
    return workbench(request, client, "fixes/why_not", {**answer, "namespace": namespace, "name": name})
