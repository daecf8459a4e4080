"""Worlds as bytes: what a checkpoint that outlives its process is made of (docs/time-travel.md).

`encode` writes a world, `decode` reads it again; what many checkpoints of one session have in common (manifests, and lists that only
grow) is in their Archive, once. Nothing is executed while decoding beyond setting the declared fields of classes that a world may hold
(shapes.py).
"""

from scheduler_core.world.checkpoint.archive import Archive, CodecError
from scheduler_core.world.checkpoint.decoder import decode
from scheduler_core.world.checkpoint.encoder import encode, encoding
from scheduler_core.world.checkpoint.shapes import fingerprint

__all__ = ["Archive", "CodecError", "decode", "encode", "encoding", "fingerprint"]
