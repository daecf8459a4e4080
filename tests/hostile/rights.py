"""What a key may do that somebody was given, and what a page of another site may do in a browser of ours."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from tests.faults.visitor import Answer, Visitor
from tests.hostile.ground import PATIENCE, Ground
from tests.hostile.places import Place, places
from tests.hostile.tally import Tally
from tests.playground.sessions.wire import Wire

BODIES: tuple[dict[str, str], ...] = (
    {},
    {"text": "apiVersion: v1\nkind: Node\nmetadata: {name: intruder}", "create": "1"},
    {"kind": "Pod", "namespace": "default", "name": "web", "do": "delete", "grain": "pod", "term": "never", "at": "1"},
)
_TOKEN = re.compile(r"[A-Za-z0-9]{64}")  # of a form, another one each time
METHODS = ("GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS")
ELSEWHERE = ("http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1", "file://")
HOSTS = (
    "evil.example",
    "127.0.0.1.evil.example",
    "127.0.0.1@evil.example",
    "[::1",
    "",
    "x y",
    "a" * 300,
    "é",
    "evil.example:80",
)
NEXTS = (
    "//evil.example",
    "http://evil.example/",
    "/\\evil.example",
    "\\\\evil.example",
    "https:evil.example",
    "javascript:alert(1)",
    "/%09/evil.example",
    "http:///evil.example",
    "//evil.example@127.0.0.1/",
    " //evil.example",
)


def walk_view_link(ground: Ground, tally: Tally) -> None:
    """A view key in the place of the edit key, on every route, by every method: nothing changes, and no other key is shown."""
    situation = ground.rich
    edit, view = situation.values["key"], situation.values["view"]
    before = _state(ground, edit)
    secrets = (edit, situation.values["room key"])
    for place in places():
        if not place.route.startswith("s/"):
            continue
        path = situation.path(place, key=view)
        for label, answer in _tries(ground, tally, path):
            tally.demand(not any(key in answer.text for key in secrets), f"{label}: shows another key")
    for page, now in _state(ground, edit).items():
        tally.demand(now == before[page], f"a view link has changed {page}: {_difference(before[page], now)}")


def _tries(ground: Ground, tally: Tally, path: str) -> Iterator[tuple[str, Answer]]:
    """A short walk sends the fields of all bodies at once."""
    for number, body in enumerate(BODIES if ground.long else [BODIES[1] | BODIES[2]]):
        yield f"POST {path} {number}", tally.take(f"POST {path} {number}", ground.visitor.send, path, body)
    for method in METHODS if ground.long else METHODS[:1]:
        yield f"{method} {path}", tally.take(f"{method} {path}", ground.visitor.ask, method, path)


def _state(ground: Ground, key: str) -> dict[str, str]:
    """All that an edit key shows of a session, by page, to somebody whom no page has to tell anything."""
    stranger = Visitor(ground.url, PATIENCE)
    pages = ("cluster.yaml", "export.jsonl", "breakpoints", "session")
    texts = {page: stranger.ask("GET", f"/s/{key}/{page}").text for page in pages}
    return {page: _TOKEN.sub("", text) for page, text in texts.items()}


def _difference(before: str, now: str) -> str:
    """The lines that only one of the two has."""
    return str(sorted({*before.splitlines()} ^ {*now.splitlines()}))


def walk_classroom(ground: Ground, tally: Tally) -> None:
    """A student's code and cookie where a teacher's key belongs."""
    values = ground.rich.values
    student = Visitor(ground.url, PATIENCE)
    joined = tally.take("join", student.send, f"/join/{values['code']}/", {"name": "x"})
    page = tally.take("the student's page", student.ask, "GET", f"/join/{values['code']}/").text
    cookie = joined.headers["Set-Cookie"]
    tally.demand("HttpOnly" in cookie and "SameSite=Lax" in cookie, f"the cookie is {cookie}")
    tally.demand(values["room key"] not in page and values["key"] not in page, "the student's page shows a key")
    forged = cookie.split("=")[1].split(";")[0]
    for place in places():
        if place.route.startswith("room/"):
            for key in (values["code"], forged, values["view"], values["code"].lower()):
                for ask in ("GET", "POST"):
                    _refused(ground, tally, ask, place.path({**values, "key": key}))
    teacher = f"/ws/room/{values['code']}/"
    wire = Wire(ground.url, "", path=teacher)
    tally.demand(wire.receive()["type"] == "gone", "a code opens the desk's socket")
    wire.close()


def _refused(ground: Ground, tally: Tally, method: str, path: str) -> None:
    answer = (
        tally.take(f"POST {path}", ground.visitor.send, path, {})
        if method == "POST"
        else tally.take(f"GET {path}", ground.visitor.ask, "GET", path)
    )
    tally.demand(answer.status in (404, 405), f"{method} {path}: {answer.status}")


def walk_crossing(ground: Ground, tally: Tally) -> None:
    """Forms and sockets of other pages, other hosts, redirects that lead away, keys that are nearly right."""
    base, values = ground.rich.studio, ground.rich.values
    form = {"Content_Type": "application/x-www-form-urlencoded"}
    for origin in ("", *ELSEWHERE):
        headers = {**form, **({"Origin": origin} if origin else {})}
        answer = tally.take(
            f"a form from {origin!r}", ground.visitor.ask, "POST", f"{base}step", b"grain=pod", **headers
        )
        tally.demand(answer.status == 403, f"a form from {origin!r}: {answer.status}")
    for origin in (*ELSEWHERE, ground.url + ".evil.example", ground.url.upper() + "x"):
        tally.demand(_handshake(ground, f"/ws/s/{values['key']}/", origin) != 101, f"a socket opens from {origin}")
    for host in HOSTS:
        answer = tally.take(f"host {host!r}", ground.visitor.ask, "GET", "/", Host=host.encode().decode("latin-1"))
        tally.demand(answer.status == 400, f"host {host!r}: {answer.status}")
    _near_keys(ground, tally)
    _leading_away(ground, tally)


def _near_keys(ground: Ground, tally: Tally) -> None:
    key = ground.rich.values["key"]
    near = (
        key[:-1],
        key + "x",
        key.swapcase(),
        key[::-1],
        f"{key}%00",
        f"%20{key}",
        f"{key}%20",
        f"{key};",
        "*",
        "%25",
        "_" * 32,
    )
    for place in (each for each in places() if "key" in each.parameters):
        for wrong in near if place.name == "studio" else near[:1]:
            _unopened(ground, tally, place, wrong)


def _unopened(ground: Ground, tally: Tally, place: Place, key: str) -> None:
    answer = tally.take(f"{place.route} {key}", ground.visitor.ask, "GET", ground.rich.path(place, key=key))
    # What only forms on is told so before its key is looked at; the embedded stage leads on, and asks there.
    hidden = (401,) if "/k8s" in place.route else (301, 302, 404, 405)  # an API server says Unauthorized
    tally.demand(answer.status in hidden, f"{place.route} with {key}: {answer.status}")


def _leading_away(ground: Ground, tally: Tally) -> None:
    """Every form that knows an address to go on to is given another site's."""
    for target in NEXTS:
        sent = {"language": "en", "next": target}
        answer = tally.take(f"next={target}", ground.visitor.send, "/language", sent, Referer=target)
        location = html.unescape(answer.headers.get("Location") or "")
        parts = urlsplit(location.replace("\\", "/"))
        own = not parts.netloc or parts.netloc == urlsplit(ground.url).netloc
        tally.demand(own and parts.scheme in ("", "http"), f"next={target} leads to {location}")
    for path in (
        "//evil.example",
        "//evil.example/..",
        "/\\evil.example",
        "/embed/x//evil.example/",
        "/join/?code=//evil.example",
    ):
        answer = tally.take(path, ground.visitor.ask, "GET", path.replace("\\", "%5C"))
        location = answer.headers.get("Location") or ""
        tally.demand(not location.startswith(("//", "/\\", "http://evil")), f"{path} leads to {location}")


def _handshake(ground: Ground, path: str, origin: str = "same") -> int:
    """The status of a socket's handshake."""
    wire = Wire(ground.url, "", origin=origin, path=path)
    wire.close()
    return wire.status
