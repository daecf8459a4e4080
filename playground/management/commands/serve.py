"""`python manage.py serve`: the playground's web server."""

from argparse import ArgumentParser
from typing import Any

from daphne.endpoints import build_endpoint_description_strings
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from playground import VERSION


class Command(BaseCommand):
    """Serves pages and WebSockets in one process until it is interrupted."""

    help = "Serve the playground (HTTP and WebSocket) with Daphne."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Where to listen."""
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
        parser.add_argument("--port", type=int, default=8000, help="port to listen on (default: %(default)s)")

    def handle(self, *args: Any, host: str, port: int, **options: Any) -> None:
        """Print the URL once the port is open, start the first worker, then serve."""
        from playground.asgi import application
        from playground.connections import make_room
        from playground.server import LimitedServer
        from playground.sessions.web.runtime import runtime

        make_room()

        def ready() -> None:
            self.stdout.write(f"Scheduler Playground {VERSION}: http://{host}:{port}/")
            runtime().warm()

        server = LimitedServer(
            application=application,
            endpoints=build_endpoint_description_strings(host=host, port=port),
            ready_callable=ready,
            websocket_max_message_size=settings.WEBSOCKET_MAX_MESSAGE,
            websocket_max_frame_size=settings.WEBSOCKET_MAX_MESSAGE,
            server_name="scheduler-playground",
        )
        server.run()
        if server.abort_start:
            raise CommandError(
                f"Nothing is served: port {port} of {host} cannot be listened on. Try PORT=9000."
            )
