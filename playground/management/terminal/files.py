"""Files that a command is given."""

from __future__ import annotations

import sys
from pathlib import Path

from scheduler_core.formats.manifests import pack_files

STDIN = "-"
SUFFIXES = (".json", ".yaml", ".yml")  # of what is read in a folder


class BadInput(Exception):
    """An unusable input; the text says where."""


def read_file(name: str) -> bytes:
    """A file's bytes, those of standard input for "-", or a folder's files as an archive. BadInput where there is no such file."""
    path = Path(name)
    try:
        if name == STDIN:
            return sys.stdin.buffer.read()
        return _folder(path) if path.is_dir() else path.read_bytes()
    except OSError as error:
        raise BadInput(f"{name}: {error.strerror}") from None


def _folder(folder: Path) -> bytes:
    """All that is in it, and in the folders within, but for what is hidden and what links lead to."""
    found = [
        path
        for path in sorted(folder.rglob("*"))
        if path.suffix in SUFFIXES and path.is_file() and not path.is_symlink()
        if not any(part.startswith(".") for part in path.relative_to(folder).parts)
    ]
    if not found:
        raise BadInput(f"{folder}: no file in this folder ends in {', '.join(SUFFIXES)}")
    return pack_files([(path.relative_to(folder).as_posix(), path.read_bytes()) for path in found])
