"""The command `scheduler-playground`, as pip installs it: questions about clusters at a terminal, and the server of the pages."""

from __future__ import annotations

import os
import secrets
import sys

from django.core.management import ManagementUtility

PROGRAM = "scheduler-playground"
COMMANDS = {
    "explain": "why pods of a cluster are Pending, and what would help",
    "simulate": "run a cluster and print where its pods go",
    "whatif": "what changes with other nodes, replicas or another configuration, and how many more pods fit",
    "serve": "serve the playground's pages",
    "conformance": "compare with what the real scheduler decided",
    "backup": "keep every session in a file",
    "restore": "bring sessions back from such a file",
}
WITH_DATA = ("serve", "backup", "restore")


def main(arguments: list[str] | None = None) -> None:
    """Runs a command; without one, or with --help, says which there are."""
    given = sys.argv[1:] if arguments is None else arguments
    if not given or given[0] not in COMMANDS:
        asked = not given or given[0] in ("-h", "--help", "help")
        stream = sys.stdout if asked else sys.stderr
        if not asked:
            stream.write(f"{PROGRAM}: there is no command {given[0]!r}.\n")
        stream.write(usage())
        sys.exit(0 if asked else 2)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "playground.settings")
    if given[0] not in WITH_DATA:
        os.environ.setdefault("SECRET_KEY", secrets.token_urlsafe())  # nothing is signed, nothing is kept
    if given[0] == "serve":
        ManagementUtility([PROGRAM, "migrate", "--verbosity", "0"]).execute()
    ManagementUtility([PROGRAM, *given]).execute()


def usage() -> str:
    """The commands, one a line."""
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {what}" for name, what in COMMANDS.items()]
    return "\n".join([f"Usage: {PROGRAM} COMMAND [...]; COMMAND --help says more.", "", *lines, ""])
