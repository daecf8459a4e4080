"""Whether bytes that were written once may still be read: the codec's version, what is declared, and the engine's sources.

A checkpoint is only a shortcut to what a replay would give, so it is of use to exactly the engine that wrote it: one that behaves otherwise
with the same classes must not read it. That is what the sources are for; what is declared covers installed plugins, whose sources are
elsewhere, and is all there is where there are no sources to read.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

from scheduler_core import ENGINE_VERSION
from scheduler_core.world.checkpoint.shapes import classes

CODEC_VERSION = 2
_ROOT = Path(__file__).resolve().parents[2]


def fingerprint() -> str:
    """Versions of codec and engine, a digest of what is declared, one of every module of scheduler_core: `2/1/5f0c.../91ab...`."""
    return f"{CODEC_VERSION}/{ENGINE_VERSION}/{classes().digest}/{_sources()}"


@lru_cache(maxsize=1)
def _sources() -> str:
    into = hashlib.blake2b(digest_size=12)
    for file in sorted(_ROOT.rglob("*.py")):
        into.update(file.relative_to(_ROOT).as_posix().encode() + b"\0")
        into.update(file.read_bytes() + b"\0")
    return into.hexdigest()
