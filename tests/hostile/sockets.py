"""Messages that no page sends, to the sockets of a session, a desk and a student."""

from __future__ import annotations

import os
import random
import types
from collections.abc import Iterator, Mapping
from typing import Any, get_args

import orjson
from msgspec import inspect

from playground.classroom.messages import FromStudent, FromTeacher
from playground.sessions.web.messages import PageMessage
from tests.faults.visitor import Visitor
from tests.hostile.commands import DATA
from tests.hostile.ground import PATIENCE, Ground
from tests.hostile.tally import Tally
from tests.playground.sessions.wire import BINARY, CLOSE, PING, TEXT, Closed, Wire

BATCH = 20
RAW = (
    b"",
    b"{",
    b"null",
    b"[]",
    b"\xff\xfe",
    b"[" * 60_000,
    b'{"type":' * 5_000,
    b'{"type":"look","type":"step"}',
    b'{"type":"step","grain":"plugin"',
    b"x" * 65_536,
    b"x" * 65_537,
)
# Those would end what is to be talked to.
ENDS = ("End", "Pause")


def walk_sockets(ground: Ground, tally: Tally) -> None:
    """Batches of messages, each over a connection of its own; the session is there afterwards."""
    dice = random.Random(11)
    for path, kinds, cookie in _sockets(ground):
        messages = list(_messages(kinds, dice, 1_700 if ground.long else 100))
        for first in range(0, len(messages), BATCH):
            _talk(ground, tally, path, cookie, messages[first : first + BATCH])
        tally.demand(_answers(ground, path, cookie), f"{path}: no answer after that")
    tally.take("the session", ground.visitor.ask, "GET", ground.rich.studio)


def _sockets(ground: Ground) -> Iterator[tuple[str, Any, str]]:
    values = ground.rich.values
    student = Visitor(ground.url, PATIENCE)
    cookie = student.send(f"/join/{values['code']}/", {"name": "x"}).headers["Set-Cookie"].split(";")[0]
    yield f"/ws/s/{values['key']}/", PageMessage, ""
    yield f"/ws/s/{values['view']}/", PageMessage, ""
    yield f"/ws/join/{values['code']}/", FromStudent, cookie
    yield f"/ws/room/{values['room key']}/", FromTeacher, ""  # last: a teacher may remove all students


def _messages(kinds: types.UnionType, dice: random.Random, count: int) -> Iterator[tuple[int, bytes]]:
    """Frames: raw ones, and messages of all kinds that there are with any data in their fields."""
    classes = [kind for kind in get_args(kinds) if kind.__name__ not in ENDS]
    for _number in range(count):
        if dice.random() < 0.2:
            yield dice.choice((TEXT, BINARY, PING, CLOSE, 3, 11)), dice.choice((*RAW, os.urandom(30)))
        else:
            yield TEXT, orjson.dumps(_message(dice.choice(classes), dice), default=str)


def _message(kind: Any, dice: random.Random) -> Mapping[str, Any]:
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)
    data = [each for each in DATA if not isinstance(each, int) or abs(each) < 2**64]
    fields = {each.encode_name: dice.choice(data) for each in info.fields if dice.random() < 0.7}
    return {"type": info.tag, **fields, **({"extra": dice.choice(data)} if dice.random() < 0.1 else {})}


def _talk(ground: Ground, tally: Tally, path: str, cookie: str, batch: list[tuple[int, bytes]]) -> None:
    """A message may close the connection; the next batch has another."""
    wire = _open(ground, path, cookie)
    tally.demand(wire.status == 101, f"{path}: the handshake is answered {wire.status}")
    try:
        for opcode, payload in batch:
            tally.tried += 1
            wire.send_frame(opcode, payload)
        wire.send({"type": "ping"})
        wire.until(lambda message: message["type"] == "pong", PATIENCE)
    except TimeoutError:
        tally.demand(False, f"{path}: hangs after {batch!r}")
    except (Closed, OSError):
        pass  # too large, or no UTF-8
    finally:
        wire.close()


def _answers(ground: Ground, path: str, cookie: str) -> bool:
    wire = _open(ground, path, cookie)
    try:
        wire.send({"type": "ping"})
        return bool(wire.until(lambda message: message["type"] == "pong", PATIENCE))
    except (Closed, OSError):
        return False
    finally:
        wire.close()


def _open(ground: Ground, path: str, cookie: str) -> Wire:
    return Wire(ground.url, "", headers={"Cookie": cookie} if cookie else None, path=path)
