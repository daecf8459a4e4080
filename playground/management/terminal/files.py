"""Files that a command is given."""

from __future__ import annotations

import sys
from pathlib import Path

STDIN = "-"


class BadInput(Exception):
    """What is given can't be used; the text says where."""


def read_file(name: str) -> bytes:
    """A file's bytes, or those of standard input for "-". BadInput where there is no such file."""
    try:
        return sys.stdin.buffer.read() if name == STDIN else Path(name).read_bytes()
    except OSError as error:
        raise BadInput(f"{name}: {error.strerror}") from None
