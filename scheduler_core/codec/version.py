"""What tells whether bytes that were written once may still be read: the codec's version and the engine's own sources.

A checkpoint is only a shortcut to what a replay would give, so it is of use to exactly the engine that wrote it.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

from scheduler_core import ENGINE_VERSION

CODEC_VERSION = 1
_ROOT = Path(__file__).resolve().parents[1]


@lru_cache(maxsize=1)
def fingerprint() -> str:
    """Codec version, engine version and a digest of every module of scheduler_core, such as `1/1/5f0c...`.

    Where there are no sources to read the two versions stand alone.
    """
    into = hashlib.blake2b(digest_size=12)
    for file in sorted(_ROOT.rglob("*.py")):
        into.update(file.relative_to(_ROOT).as_posix().encode() + b"\0")
        into.update(file.read_bytes() + b"\0")
    return f"{CODEC_VERSION}/{ENGINE_VERSION}/{into.hexdigest()}"
