"""The files that a command is given, and its standard input."""

import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scheduler_core.formats.manifests import NotObjects, decode_text, is_archive, pack_files, read
from scheduler_core.world.readonly import InvalidObject, join_files

STDIN = "-"
SUFFIXES = (".json", ".yaml", ".yml")  # of what is read in a folder
_OTHERS = (".md", ".txt", ".jsonl", ".ndjson", ".tar", ".tgz", ".gz", ".zip")


class BadInput(Exception):
    """An unusable input; the text says where."""


def is_file(word: str) -> bool:
    """Return True if a word of the command line is a file or a folder, whether or not it exists, and not the name of an object."""
    return (
        word == STDIN
        or word.startswith(("/", "./", "../", "~"))
        or word.endswith((*SUFFIXES, *_OTHERS))
        or os.path.exists(word)
    )


def list_inputs(files: Sequence[str], elsewhere: bool) -> list[tuple[str, bytes]]:
    """Return the files with their contents; without files, standard input if it is a pipe or a file and holds anything.

    `elsewhere`: the cluster is said to be elsewhere, so that standard input is not meant.
    """
    if files or elsewhere:
        return [(file, read_file(file)) for file in files]
    data = read_file(STDIN) if _is_piped() else b""
    return [(STDIN, data)] if data else []


def _is_piped() -> bool:
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError, AttributeError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode)


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
    """All files in it, and in the folders within, without hidden ones and links."""
    found = [
        path
        for path in sorted(folder.rglob("*"))
        if path.suffix in SUFFIXES and path.is_file() and not path.is_symlink()
        if not any(part.startswith(".") for part in path.relative_to(folder).parts)
    ]
    if not found:
        raise BadInput(f"{folder}: no file in this folder ends in {', '.join(SUFFIXES)}")
    return pack_files([(path.relative_to(folder).as_posix(), path.read_bytes()) for path in found])


def read_objects(name: str) -> list[dict[str, Any]]:
    """The manifests of a file, of a folder, or of standard input. BadInput where it can't be read."""
    try:
        objects = read(join_inputs([(name, read_file(name))])).objects
    except (InvalidObject, NotObjects) as error:
        raise BadInput(f"{name}: {error}") from None
    return [each.manifest for each in objects if isinstance(each.manifest, dict)]


def join_inputs(inputs: Sequence[tuple[str, bytes]]) -> bytes:
    """Several inputs as one that knows which lines are whose; one stays as it is, and archives are packed together."""
    if len(inputs) == 1:
        return inputs[0][1]
    if any(is_archive(data) for _, data in inputs):
        return pack_files(inputs)
    try:
        return join_files([(name, decode_text(data, name)) for name, data in inputs]).encode()
    except InvalidObject as error:
        raise BadInput(str(error)) from None
