"""Texts that a command is given."""

from __future__ import annotations

import sys
from pathlib import Path

STDIN = "-"


class BadInput(Exception):
    """What is given can't be used; the text says where."""


def read_file(name: str) -> str:
    """A file's text, or that of standard input for "-". BadInput where there is no such text."""
    try:
        data = sys.stdin.buffer.read() if name == STDIN else Path(name).read_bytes()
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"{name}: not text in UTF-8: byte {error.start + 1:,} cannot be read") from None
    except OSError as error:
        raise BadInput(f"{name}: {error.strerror}") from None
