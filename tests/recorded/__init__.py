"""Databases and traces that earlier versions wrote."""

from __future__ import annotations

import io
import lzma
import tarfile
from pathlib import Path

VERSION_0_6 = Path(__file__).resolve().parent / "0.6"


def read_traces() -> dict[int, bytes]:
    """Return the traces that version 0.6 exported, by the number of their session."""
    packed = lzma.decompress((VERSION_0_6 / "traces.tar.xz").read_bytes())
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        found = {int(Path(one.name).stem): archive.extractfile(one) for one in archive}
        return {number: file.read() for number, file in found.items() if file is not None}


def read_database() -> bytes:
    """Return the SQLite database that version 0.6 kept."""
    return lzma.decompress((VERSION_0_6 / "sessions.sqlite3.xz").read_bytes())
