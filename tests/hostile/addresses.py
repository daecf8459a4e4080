"""Every address of the site, in every situation, with what no address has in its parameters and its query, by every method."""

from __future__ import annotations

from urllib.parse import quote, urlencode

from tests.hostile.ground import Ground
from tests.hostile.places import Place, places
from tests.hostile.tally import Tally
from tests.hostile.values import PARTS, TEXTS, Value, some

METHODS = ("GET", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "TRACE", "BREW")
# Headers that differ from one answer to the next.
OWN = ("date", "x-request-id", "set-cookie", "content-length")
LONGEST = 8_000  # bytes of a query: what is longer no server takes


# Files that a process of their own makes of the whole history: a short walk asks for each in one situation.
HISTORY = ("export.jsonl", "otlp.json", "chrome.json", "tables.zip", "table.csv", "replay.html")


def walk_addresses(ground: Ground, tally: Tally) -> None:
    """Each place as it is meant in every situation; hostile values where there is an object of every kind.

    A short walk goes to each place in that situation and in one other in turn, to a file of the whole history in one alone.
    """
    for number, situation in enumerate(ground.situations):
        for turn, place in enumerate(places()):
            there = turn % len(ground.situations) == number or (number == 0 and not place.route.endswith(HISTORY))
            if not there and not ground.long:
                continue
            tally.take(f"{situation.name}: GET {place.route}", ground.visitor.ask, "GET", situation.path(place))
    for turn, place in enumerate(places()):
        for path in _hostile(ground, place, turn):
            answer = tally.take(f"GET {path[:200]}", ground.visitor.ask, "GET", path)
            tally.demand("root:x:0" not in answer.text, f"GET {path[:200]}: a file of the server was read")


def _hostile(ground: Ground, place: Place, turn: int) -> list[str]:
    path = ground.rich.path(place)
    parts = PARTS if ground.long else list(some(PARTS, 1, turn))
    paths = [ground.rich.path(place, **{name: str(part)}) for name in place.parameters for part in parts]
    if ground.long:
        asked = [(value, [word]) for word in place.words for value in TEXTS]
    else:
        asked = [(value, list(place.words)) for value in some(TEXTS, 1, turn)]
    return paths + [f"{path}?{_query(words, value)}" for value, words in asked]


def _query(words: list[str], value: Value) -> str:
    short = value if len(quote(value)) * len(words) < LONGEST else value[: LONGEST // len(words) // 9]
    return urlencode([(word, short) for word in words])


def walk_methods(ground: Ground, tally: Tally) -> None:
    """Every method on every place. HEAD is answered as GET, without the body; what takes no GET names what it takes."""
    short = [place for place in places() if not place.route.endswith(HISTORY)][::3]
    for place in places() if ground.long else short:
        path = ground.rich.path(place)
        answers = {}
        for method in METHODS if ground.long else METHODS[:2]:
            answers[method] = tally.take(f"{method} {path}", ground.visitor.ask, method, path)
        got, head = answers["GET"], answers["HEAD"]
        tally.demand(head.status == got.status, f"HEAD {path}: {head.status}, GET {got.status}")
        tally.demand(not head.body, f"HEAD {path}: has a body")
        missing = {name.lower() for name in got.headers} ^ {name.lower() for name in head.headers}
        tally.demand(missing <= set(OWN) | {"transfer-encoding"}, f"HEAD {path}: other headers than GET: {missing}")
        if got.status == 405:
            tally.demand("Allow" in got.headers, f"GET {path}: 405 names no method")
