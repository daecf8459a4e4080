"""HTTP and WebSocket come in here."""

import os
from typing import Any, cast

import msgspec
from channels.routing import ProtocolTypeRouter, URLRouter
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.core.handlers.asgi import ASGIHandler
from django.urls import re_path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "playground.settings")

pages = get_asgi_application()
of_pages, settings.MIDDLEWARE = settings.MIDDLEWARE, settings.DOOR_MIDDLEWARE  # a handler reads them once
door = ASGIHandler()
settings.MIDDLEWARE = of_pages

from playground.serving.gate import BehindProxies, Identified, LimitedBody, ReadableType, SameOrigin  # noqa: E402 - Django must be set up first
from playground.sessions.database.asking import BRIEF  # noqa: E402
from playground.storage.postgresql.outage import Limits  # noqa: E402
from playground.urls import websocket_urlpatterns  # noqa: E402

# A server for pages waits for its database no longer than it says; commands such as migrate take what they need.
Limits.statement = settings.DATABASE_ANSWER_SECONDS
if "timeout" in (options := settings.DATABASES["default"].get("OPTIONS", {})):
    options["timeout"] = BRIEF


def prepare_structs() -> None:
    """Build what msgspec keeps for each Struct, before there are threads.

    msgspec builds it at the first use of a Struct, and a second thread that uses it meanwhile ends the process: a crash at the start of
    a server that has several first requests at once.
    """
    waiting = list(msgspec.Struct.__subclasses__())
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        msgspec.json.Decoder(kind)


prepare_structs()

http = URLRouter([re_path(r"^s/[^/]+/k8s(?:/|$)", cast(Any, door)), re_path("", cast(Any, pages))])
application = BehindProxies(
    Identified(
        ProtocolTypeRouter(
            {"http": LimitedBody(ReadableType(http)), "websocket": SameOrigin(URLRouter(websocket_urlpatterns))}
        )
    )
)
