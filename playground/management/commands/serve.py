"""`python manage.py serve`: the playground's web server."""

import contextlib
import gc
import os
import signal
import sys
import threading
from argparse import ArgumentParser
from functools import partial
from typing import Any

from daphne.endpoints import build_endpoint_description_strings
from django.conf import settings
from django.core.checks import Tags
from django.core.management import call_command
from django.core.management.base import CommandError, OutputWrapper
from django.db import DEFAULT_DB_ALIAS, OperationalError

from playground import VERSION
from playground.management.errors import PlainCommand
from playground.serving.supervisor import Supervisor

# Bytes of a body per chunk: memory of this size is returned to the system after the chunk is read.
BUFFER = 1 << 20
# Seconds that a thread runs while another waits: a step passes through three threads, and one is busy with requests.
SWITCH = 0.001


class Command(PlainCommand):
    """A command that serves pages and WebSockets until interrupted."""

    help = "Serve the playground (HTTP and WebSocket) with Daphne."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
        parser.add_argument("--port", type=int, default=8000, help="port to listen on (default: %(default)s)")
        parser.add_argument(
            "--processes",
            type=int,
            default=1,
            help="server processes that share the port; more than one need REDIS_URL (default: %(default)s)",
        )
        parser.add_argument("--descriptor", type=int, help="a socket that a supervisor listens on already")

    def handle(self, *args: Any, host: str, port: int, processes: int, descriptor: int | None, **options: Any) -> None:
        if processes < 1:
            raise CommandError(f"--processes is {processes}; it must be at least 1.")
        if descriptor is None:
            self._prepare_database()
        if processes > 1:
            if not settings.REDIS_URL:
                raise CommandError(
                    "Several server processes tell each other through Redis what happens in a session: "
                    "set REDIS_URL, such as redis://127.0.0.1:6379/0, or serve with one process."
                )
            try:
                supervisor = Supervisor(host, port, processes, partial(say, self.stderr))
            except OSError as error:
                raise CommandError(_describe_port_conflict(host, port)) from error
            say(self.stdout, f"Scheduler Playground {VERSION}: http://{host}:{port}/ ({processes} processes)")
            supervisor.work()
        else:
            self._serve(host, port, descriptor)

    def _prepare_database(self) -> None:
        """Create or update the tables. If the database is not available, the pages wait for it."""
        try:
            self.check(tags=[Tags.database], databases=[DEFAULT_DB_ALIAS])  # call_command skips checks
            call_command("migrate", verbosity=0)
        except OperationalError as error:
            say(self.stderr, f"The tables of the database were not checked, as it does not answer: {error}".rstrip())

    def _serve(self, host: str, port: int, descriptor: int | None) -> None:
        """Print the URL once the port is open, start the first worker, then serve."""
        from playground.asgi import application
        from playground.serving.connections import make_room
        from playground.serving.server import LimitedServer
        from playground.sessions.web.runtime import runtime

        make_room()
        sys.setswitchinterval(SWITCH)

        def ready() -> None:
            if descriptor is None:
                say(self.stdout, f"Scheduler Playground {VERSION}: http://{host}:{port}/")
            else:
                threading.Thread(target=_end_with_supervisor, daemon=True).start()
            runtime().warm()
            tune_garbage_collection()

        where = {"host": host, "port": port} if descriptor is None else {"file_descriptor": descriptor}
        server = LimitedServer(
            application=application,
            endpoints=build_endpoint_description_strings(**where),
            ready_callable=ready,
            websocket_max_message_size=settings.WEBSOCKET_MAX_MESSAGE,
            websocket_max_frame_size=settings.WEBSOCKET_MAX_MESSAGE,
            server_name="scheduler-playground",
            request_buffer_size=BUFFER,
        )
        server.drain_on_signal()
        server.run()
        if server.abort_start:
            raise CommandError(_describe_port_conflict(host, port))


def say(stream: OutputWrapper, text: str) -> None:
    """Print a line for the operator. A closed stream, or one on a full disk, does not block the server, now or at the end."""
    try:
        stream.write(text)
        stream.flush()
    except (OSError, ValueError, AttributeError):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def tune_garbage_collection() -> None:
    """Exclude the objects loaded so far from garbage collection: each full collection delayed all requests by a tenth of a second."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)


def _describe_port_conflict(host: str, port: int) -> str:
    return f"Nothing is served: port {port} of {host} cannot be listened on. Try PORT=9000."


def _end_with_supervisor() -> None:
    """Terminate when the supervisor closes the standard input."""
    sys.stdin.buffer.read()
    os.kill(os.getpid(), signal.SIGTERM)
