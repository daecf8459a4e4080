"""`scheduler-playground kubeconfig LINK`: prints the kubeconfig of a session."""

from argparse import ArgumentParser
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

from django.core.management.base import CommandError

from playground.management.door import read_link
from playground.management.errors import PlainCommand


class Command(PlainCommand):
    """A command that gets the kubeconfig from the session's server."""

    help = "Print a kubeconfig that leads kubectl to a session: kubectl --kubeconfig FILE get pods."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("link", help="the session's link, as the address bar shows it; a view link only reads")

    def handle(self, *args: Any, link: str, **options: Any) -> None:
        base, key = read_link(link)
        try:
            with urlopen(f"{base}/s/{key}/kubeconfig", timeout=30) as answer:  # noqa: S310 - http or https, see read_link
                self.stdout.write(answer.read().decode(), ending="")
        except (URLError, OSError) as wrong:
            raise CommandError(
                f"{link} cannot be read: {wrong}. Give the link of a session of a server that runs."
            ) from wrong
