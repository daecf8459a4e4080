"""How requests and answers go through a pipe: msgpack, each message behind its length. Nothing is pickled: what either side says is data.

A request travels in an envelope with its number (0: no answer is wanted) and its session; what it says is checked when it is taken out of
it, and so is the answer, by its type.
"""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar, Union

import numpy as np
from msgspec import Raw, Struct, ValidationError
from msgspec.msgpack import Decoder, Encoder

from playground.presenters.words import gettext_noop
from playground.presenters.words import message as words
from playground.sessions.protocol.base import Message, Request, answer_of
from playground.sessions.protocol.errors import CommandRefused, EngineFailed, Failure
from playground.sessions.protocol.frames import frame_message

A = TypeVar("A")
MOST_SAID = 200  # characters of what the encoder says


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


_encoder = Encoder(enc_hook=_plain)
_envelopes = Decoder(Envelope)
_replies = Decoder(Reply)


def encode_message(number: int, session: int, message: Message) -> bytes:
    """A frame with a message to a worker. Raises CommandRefused where it holds a number or a text that can't be written."""
    try:
        data = _encoder.encode(message)
    except (OverflowError, UnicodeError) as error:
        raise CommandRefused(
            words(gettext_noop("The engine can't be asked for this: %(why)s."), why=str(error)[:MOST_SAID])
        ) from None
    return _encode_frame(Envelope(number, session, Raw(data)))


def encode_answer(number: int, answer: Any) -> bytes:
    """A frame with an answer. Raises TypeError where it holds what is no data."""
    return _encode_frame(Reply(number, Raw(_encoder.encode(answer))))


def encode_failure(number: int, failure: Failure) -> bytes:
    return _encode_frame(Reply(number, Raw(_encoder.encode(None)), failure))


def _encode_frame(value: Any) -> bytes:
    return frame_message(_encoder.encode(value))


def read_envelope(frame: bytes) -> Envelope:
    return _envelopes.decode(frame)


def read_message(envelope: Envelope) -> Message:
    """Decode an envelope. Raises EngineFailed with the field at fault."""
    try:
        return _messages(len(Message.kinds)).decode(envelope.message)
    except ValidationError as error:
        raise EngineFailed(f"The engine was asked for what it does not understand: {error}.") from error


def read_reply(frame: bytes) -> Reply:
    return _replies.decode(frame)


def read_answer(request: Request[A], reply: Reply) -> A:
    """The answer to a request. Raises what the worker reports, or EngineFailed with the field at fault."""
    if reply.failure is not None:
        raise reply.failure.error()
    try:
        answer: A = _decoder(type(request)).decode(reply.answer)
    except ValidationError as error:
        raise EngineFailed(f"The engine answered what is not understood: {error}.") from error
    return answer


@cache
def _decoder(request: type[Request[Any]]) -> Decoder[Any]:
    return Decoder(answer_of(request))


@cache
def _messages(known: int) -> Decoder[Message]:
    """The decoder of all kinds of messages that this process has imported so far, which are so many.

    A worker imports every kind together with its handler (worker/registry.py), so no list of kinds has to be kept.
    """
    kinds = [kind for kind in Message.kinds if not kind.__subclasses__()]
    return Decoder(Union[(*kinds,)])
