"""The forms of requests and answers in a pipe: msgpack, each message behind its length. Nothing is pickled: what either side says is data.

A request travels in an envelope with its number (0: no answer is wanted) and its session; what it says is checked when it is taken out of
it, and so is the answer, by its type. Each side writes and reads its own half: web/engines.py and worker/process.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Raw, Struct
from msgspec.msgpack import Decoder, Encoder

from playground.sessions.protocol.errors import Failure


class Envelope(Struct, frozen=True, array_like=True):
    """A request or notice on its way to a worker."""

    number: int
    session: int
    message: Raw


class Reply(Struct, frozen=True, array_like=True):
    """An answer on its way back; empty where there is a failure."""

    number: int
    answer: Raw
    failure: Failure | None = None


def _plain(value: Any) -> Any:
    """numpy's numbers and arrays, which presenters may leave in their data."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"an answer holds a {type(value).__name__}, which is no data")


ENCODER = Encoder(enc_hook=_plain)
ENVELOPES = Decoder(Envelope)
REPLIES = Decoder(Reply)
