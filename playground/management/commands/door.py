"""`scheduler-playground door LINK`: a local TLS listener that forwards to a session, for tools that need a root path."""

import os
from argparse import ArgumentParser
from pathlib import Path
from threading import Event
from typing import Any

from playground.management.door import Door
from playground.management.errors import PlainCommand


class Command(PlainCommand):
    """A command that listens until interrupted."""

    help = "Listen on this machine with https, a root path, and a token, and forward to a session; writes a kubeconfig."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("link", help="the session's link, as the address bar shows it; a view link only reads")
        parser.add_argument("--port", type=int, default=0, help="the port on 127.0.0.1 (0: a free one)")
        parser.add_argument("--kubeconfig", type=Path, default=Path("door.yaml"), help="the file to write (door.yaml)")

    def handle(self, *args: Any, link: str, port: int, kubeconfig: Path, **options: Any) -> None:
        door = Door(link, port)
        config = door.start()
        with os.fdopen(os.open(kubeconfig, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(config)
        self.stdout.write(f"{door.address} leads to the session. export KUBECONFIG={kubeconfig}")
        try:
            Event().wait()
        except KeyboardInterrupt:
            door.stop()
