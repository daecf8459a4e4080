"""Errors of commands in the format of other tools: one line, without a class name, and an exit status."""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import BaseCommand, CommandError

CLOSED = 141  # a shell's exit status of a program after SIGPIPE
UNUSABLE = 2  # the exit status for unusable input


class PlainCommand(BaseCommand):
    """A command that ends with `error: ...` at a terminal. `bad_input`: the exceptions that mean unusable input."""

    at_terminal = False
    bad_input: tuple[type[Exception], ...] = ()

    def run_from_argv(self, argv: list[str]) -> None:
        """Run the command for manage.py and the installed program."""
        self.at_terminal = True
        super().run_from_argv(argv)

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Execute the command as Django does. Raise its CommandError only if code called the command."""
        try:
            with _end_with_reader():
                return super().execute(*args, **options)
        except self.bad_input as bad:
            wrong = CommandError(str(bad), returncode=UNUSABLE)
        except CommandError as error:
            wrong = error
        if not self.at_terminal or options["traceback"]:
            raise wrong
        self.stderr.write("error: " + re.sub(r"\[Errno -?\d+\] ", "", str(wrong)))
        sys.exit(wrong.returncode)


@contextmanager
def _end_with_reader() -> Iterator[None]:
    """End without an error if the reader of the output stops reading, as `head` does."""
    try:
        try:
            yield
        finally:
            if sys.stdout is not None:  # a server may be started without one
                sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(CLOSED)
