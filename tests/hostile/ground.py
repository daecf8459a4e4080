"""The ground for a row: a server of its own, and sessions in the states that pages have to cope with."""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from scheduler_core.scheduler.config import GATE_SETTINGS, RELEASES, asked_gates
from tests.browser.server import PlaygroundServer
from tests.faults.servers import serving
from tests.faults.visitor import Visitor
from tests.hostile.places import Page, Place

HERE = Path(__file__).parent
WORLD = (HERE / "world.yaml").read_text()
PATIENCE = 60.0  # seconds after which a request hangs
# Limits that others' tests try; here they would only end the walk.
LIMITS = {
    "LESSON_SECONDS": "120",
    "MAX_SESSIONS_PER_CLIENT": "100000",
    "MAX_ROOMS_PER_CLIENT": "100000",
    "WEBSOCKET_RATE": "100000",
}
_KEY = re.compile(r"/s/([\w-]{20,})/")
KEYED = ("s", "embed", "room", "lesson")  # what an address with a key begins with
_ENTRY = re.compile(r"^\d{4}-\d\d-\d\d ", re.MULTILINE)


class Situation:
    """A session in some state, with what addresses have in their parameters; it begins when it is asked for."""

    def __init__(self, name: str, begin: Callable[[Visitor], dict[str, str]], visitor: Visitor) -> None:
        self.name = name
        self._begin = begin
        self._visitor = visitor
        self._values: dict[str, str] = {}

    @property
    def values(self) -> dict[str, str]:
        """Of the parameters: by name, or by the first part of the address and the name."""
        if not self._values:
            self._values = self._begin(self._visitor)
        return self._values

    @property
    def studio(self) -> str:
        return f"/s/{self.values['key']}/"

    def keep(self) -> None:
        """Begin again where a walk has deleted the session."""
        if self._values and self._visitor.ask("GET", self.studio).status != 200:
            self._values = {}

    def now(self, address: str) -> str:
        """An address of a session that was begun before, for the one that there is now."""
        first, *rest = address.split("/")[1:]
        known = self.values.get(f"{first} key") or self.values["key"]
        return "/".join(["", first, known, *rest[1:]]) if first in KEYED and rest else address

    def path(self, place: Place, **others: str) -> str:
        """The address of a place, where nothing is wrong with it but `others`."""
        values = {name: self._value(place, name) for name in place.parameters}
        return place.path({**values, **others})

    def _value(self, place: Place, parameter: str) -> str:
        first = place.route.split("/")[0]
        return self.values.get(f"{first} {parameter}") or self.values.get(parameter) or "1"


class Ground:
    """A running server with a visitor, and the situations."""

    def __init__(self, server: PlaygroundServer, long: bool) -> None:
        self.server = server
        self.long = long
        self.visitor = Visitor(server.url, PATIENCE)
        self.situations = [Situation(name, begin, self.visitor) for name, begin in SITUATIONS.items()]
        self.rich = self.situations[0]
        self._seen = 0

    @property
    def url(self) -> str:
        return self.server.url

    def complaints(self) -> list[str]:
        """The entries of the server's log since the last time that tell of an exception nobody expected."""
        text = self.server.log.read_text(errors="replace")
        new, self._seen = text[self._seen :], len(text)
        starts = [0, *(entry.start() for entry in _ENTRY.finditer(new)), len(new)]
        entries = [new[start:end] for start, end in itertools.pairwise(starts)]
        return [f"{each[:200]} ... {each.strip()[-400:]}" for each in entries if "Traceback" in each]


@contextlib.contextmanager
def ground(folder: Path, long: bool) -> Iterator[Ground]:
    """A server in `folder`, ended afterwards."""
    with serving(folder, 1, **LIMITS) as (server,):
        yield Ground(server, long)


def _session(visitor: Visitor, fields: Mapping[str, str]) -> dict[str, str]:
    key = _key(visitor.post("/new", fields).url)
    page = visitor.get(f"/s/{key}/session").text
    view = next(found for found in _KEY.findall(page) if found != key)
    subject = {"namespace": "default", "name": "web", "token": "nothing", "chart": "use", "page": "fixes"}
    return {**subject, "key": key, "view": view, "embed key": view, "number": "1", "chapter": "1"}


def _key(url: str) -> str:
    return urlsplit(url).path.split("/")[2]


def _rich(visitor: Visitor) -> dict[str, str]:
    """A world with an object of every kind, a breakpoint, a bookmark, a plugin, a room and a lesson of its own; some steps on."""
    values = _session(visitor, {"start": "empty"})
    base = f"/s/{values['key']}"
    previewed = visitor.post(f"{base}/import", {"text": WORLD})
    applied = visitor.send(f"{base}/import/apply", _fields(previewed.text))
    assert applied.status == 302, previewed.text
    visitor.send(f"{base}/breakpoints", {"plugin": "NodeResourcesFit"})
    visitor.send(f"{base}/bookmarks", {"at": "1", "name": "web"})
    extender = {"add": "1", "url_prefix": "http://extender.example", "verbs": ["filter"], "weight": "1"}
    assert visitor.send(f"{base}/extenders", extender).status == 302
    for _step in range(3):
        visitor.send(f"{base}/step", {"grain": "pod"})
    room = urlsplit(visitor.post(f"{base}/room", {}).url).path
    code = re.search(r"/join/(\w+)/", visitor.get(room).text)
    lesson = visitor.send("/lesson/new", {"copy": "gate"}).headers["Location"]
    assert code is not None and room.startswith("/room/") and lesson.startswith("/lesson/"), (room, lesson)
    return {**values, "code": code[1], "room key": _key(room), "lesson key": _key(lesson)}


def _fields(page: str) -> dict[str, str]:
    """The hidden fields of the form that applies a preview."""
    form = page[page.index("/import/apply") :]
    return dict(re.findall(r'name="(\w+)"\s+value="([^"]*)"', form[: form.index("</form>")]))


def _unscheduled(visitor: Visitor) -> dict[str, str]:
    """A world whose only scheduler was killed."""
    values = _session(visitor, {"start": "cluster:zones"})
    killing = {"kind": "Scheduler", "name": "kube-scheduler"}
    assert visitor.send(f"/s/{values['key']}/act/kill-scheduler", killing).status == 302
    return values


def _lesson(visitor: Visitor) -> dict[str, str]:
    """A lesson whose schedulers stand for election."""
    values = _session(visitor, {"start": "story:leader-election"})
    visitor.send(f"/s/{values['key']}/run", {"until": "time", "seconds": "5"})
    return values


def _newer(visitor: Visitor) -> dict[str, str]:
    """A world of the first release that has every gate; older ones lack some, newer ones have locked some."""
    release = next(each for each in RELEASES if {*GATE_SETTINGS} <= {gate.setting for gate in asked_gates(each)})
    values = _session(visitor, {"start": "empty"})
    path = f"/s/{values['key']}/configuration"
    form = next(form for form in Page(path, visitor.get(path).text).forms if "release" in form.names)
    moved = {**form.fields, "release": [release]}
    assert visitor.send(form.action, moved).status == 302
    return values


SITUATIONS: Mapping[str, Callable[[Visitor], dict[str, str]]] = {
    "an object of every kind": _rich,
    "no scheduler": _unscheduled,
    "nothing at all": partial(_session, fields={"start": "empty"}),
    "a lesson": _lesson,
    "a newer release": _newer,
}
