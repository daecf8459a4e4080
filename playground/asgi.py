"""The ASGI entry point for HTTP and WebSocket."""

import os
from typing import Any, cast

import msgspec
from channels.routing import ProtocolTypeRouter, URLRouter
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.core.handlers.exception import convert_exception_to_response
from django.urls import re_path, set_script_prefix
from django.utils.module_loading import import_string

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "playground.settings")


class DoorHandler(ASGIHandler):
    """Django's handler for the API servers of sessions, with the middleware in DOOR_MIDDLEWARE.

    Django gives every handler of a process the same middleware. All of the door's is asynchronous functions without hooks for views,
    templates, or exceptions, so the chain needs no adapters between them. Nor does it need Django's signals, each of which starts a
    thread for a request: who asks the database looks after its connections (sessions/database/asking.py).
    """

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request. A write is carried out although its client does not wait for the answer."""
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        with body:
            set_script_prefix(get_script_prefix(scope))
            request, refused = self.create_request(scope, body)
            response = refused if request is None else await self.run_get_response(request)
            assert response is not None
            if isinstance(response, Stream):
                head = [(name.encode(), value.encode("latin-1")) for name, value in response.items()]
                await send({"type": "http.response.start", "status": response.status_code, "headers": head})
                await response.serve(receive(), send)
            else:
                try:
                    await self.send_response(response, send)
                finally:
                    if response.streaming:
                        response.close()

    def load_middleware(self, is_async: bool = False) -> None:
        """Build the chain, as BaseHandler does of MIDDLEWARE."""
        own: Any = self  # django-stubs do not know these attributes
        own._view_middleware = own._template_response_middleware = own._exception_middleware = ()
        chain = convert_exception_to_response(own._get_response_async)
        for name in reversed(settings.DOOR_MIDDLEWARE):
            chain = convert_exception_to_response(import_string(name)(chain))
        own._middleware_chain = chain


pages, door = get_asgi_application(), DoorHandler()

from playground.features.door.views import Stream  # noqa: E402 - Django must be set up first
from playground.serving.gate import BehindProxies, LimitedBody, ReadableType, RequestIds, SameOrigin  # noqa: E402
from playground.sessions.database.asking import BRIEF  # noqa: E402
from playground.storage.postgresql.outage import Limits  # noqa: E402
from playground.urls import websocket_urlpatterns  # noqa: E402

# A server for pages waits for its database no longer than it says; commands such as migrate take what they need.
Limits.statement = settings.DATABASE_ANSWER_SECONDS
if "timeout" in (options := settings.DATABASES["default"].get("OPTIONS", {})):
    options["timeout"] = BRIEF


def prepare_structs() -> None:
    """Build msgspec's data of each Struct before threads start.

    msgspec builds it at the first use of a Struct, and a second thread that uses the Struct meanwhile crashes the process. This would
    happen when a server receives several first requests at once.
    """
    waiting = list(msgspec.Struct.__subclasses__())
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        msgspec.json.Decoder(kind)


prepare_structs()

http = URLRouter([re_path(r"^s/[^/]+/k8s(?:/|$)", cast(Any, door)), re_path("", cast(Any, pages))])
application = BehindProxies(
    RequestIds(
        ProtocolTypeRouter(
            {"http": LimitedBody(ReadableType(http)), "websocket": SameOrigin(URLRouter(websocket_urlpatterns))}
        )
    )
)
