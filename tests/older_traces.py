"""Traces that older versions wrote (tests/recorded), by the numbers of their sessions."""

from __future__ import annotations

import io
import lzma
import tarfile
from pathlib import Path

RECORDED = Path(__file__).resolve().parent / "recorded" / "0.1"


def traces() -> dict[int, bytes]:
    """All of them, as `export.jsonl` gave them."""
    packed = lzma.decompress((RECORDED / "traces.tar.xz").read_bytes())
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        found = {int(Path(one.name).stem): archive.extractfile(one) for one in archive}
        return {number: file.read() for number, file in found.items() if file is not None}
