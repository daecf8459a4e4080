"""What the commands about clusters have in common at a terminal: options of one's own alone, and errors as other tools say them."""

from __future__ import annotations

import os
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError

NO_COLOR = "NO_COLOR"  # https://no-color.org


class TerminalCommand(BaseCommand):
    """A command that needs neither settings nor a database."""

    requires_system_checks: list[str] = []
    suppressed_base_arguments = {"--settings", "--pythonpath", "--traceback", "--version", "--verbosity"}

    at_terminal = False

    def run_from_argv(self, argv: list[str]) -> None:
        """Run the command for manage.py and the installed program."""
        self.at_terminal = True
        super().run_from_argv(argv)

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Execute the command as Django does; at a terminal, print errors without a class name, and respect NO_COLOR."""
        if os.environ.get(NO_COLOR) and not options["force_color"]:
            options["no_color"] = True
        try:
            return super().execute(*args, **options)
        except CommandError as wrong:
            if not self.at_terminal or options["traceback"]:
                raise
            self.stderr.write(f"error: {wrong}")
            sys.exit(wrong.returncode)
