"""What somebody brings along that is computed here: traces, lessons, expressions, and the URLs of extenders."""

from __future__ import annotations

import random
import socket
import threading
import traceback
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import orjson

from playground.sessions.protocol.comparing import CheckTrace
from playground.sessions.protocol.errors import SessionError
from playground.sessions.worker.traces import check
from scheduler_core.base.steps import finish
from tests.browser.server import ROOT
from tests.hostile.commands import DATA
from tests.hostile.ground import Ground
from tests.hostile.imports import _tar, _zip, upload
from tests.hostile.tally import Tally

LESSON = ROOT / "playground/lessons/content/gate"
MARKUP = "<img src=x onerror=alert(1)> [a](javascript:alert(1)) {fact} <script>alert(3)</script>"
# Answers that tell that a trace was looked at: refused in words, or computed and compared.
LOOKED_AT = (200, 400, 413, 422)
EXPRESSIONS = (
    "true",
    "1/0",
    "9223372036854775807 + 1",
    "'a' * 100",
    "[1,2,3].map(x, [1,2,3].map(y, [1,2,3].map(z, x*y*z)))",
    "[" + ",".join("1" * 1000) + "].all(a, [" + ",".join("1" * 1000) + "].all(b, a == b))",
    "'x'.matches('(a+)+$')",
    "('a' + 'a').matches('(x|x|x)*' + 'y')",
    "(" * 300 + "1" + ")" * 300,
    "!" * 3000 + "true",
    "a." * 2000 + "b",
    "'\\ud800'",
    "'%s'.format(['x'])",
    "'%9999999d'.format([1])",
    "'x'.replace('', 'yyyyyyyy', -1)",
    "string(bytes('\\xff'))",
    "duration('999999999999h')",
    "timestamp('9999-99-99T00:00:00Z')",
    "quantity('1e999')",
    "dyn({}).a.b.c",
    "cel.bind(a, 'x'.split(''), a.join('y'))",
    "optional.of(optional.none()).value()",
    "{1: 2, 1: 3}",
    "[0][9223372036854775807]",
    "size(self) > size(oldSelf)",
    "object.metadata.name.size() / 0 == 1",
    "ip('::ffff:1.2.3.4').family()",
    "url('http://[::1').getHost()",
    "sets.contains([1,2], [[1]])",
    "math.greatest([])",
    "0x",
    '"""',
    "// nothing",
    "",
    "\0",
    "é",
    "b'\\xff' + 'x'",
    "google.protobuf.Struct{fields: {}}",
    "[].lastIndexOf(null)",
)


def walk_expressions(ground: Ground, tally: Tally) -> None:
    """Every expression at each place that takes one."""
    base = ground.rich.studio
    expressions = EXPRESSIONS if ground.long else EXPRESSIONS[::2]
    for turn, text in enumerate(expressions):
        places: dict[str, dict[str, str]] = {
            "breakpoints": {"expression": text},
            "plugins": {"plugin": "Own", "filter": text, "score": text, "try": "1"},
            "extenders": {"of": "http://extender.example", "kind": "cel", "latency": "1ms", "filter": text},
            "yaml": {"create": "1", "text": _device_class(text)},
        }
        for page, fields in places.items() if ground.long else list(places.items())[turn % 2 :: 2]:
            tally.take(f"{page} {text[:60]!r}", ground.visitor.send, base + page, fields)
        tally.take(f"a search for {text[:60]!r}", ground.visitor.send, f"{base}search", {"direction": "back"})
    tally.demand(tally.slowest < 30, f"an expression took {tally.slowest:.0f} s")


def _device_class(text: str) -> str:
    selector = orjson.dumps({"cel": {"expression": text}}).decode()
    return f"apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {{name: own}}\nspec: {{selectors: [{selector}]}}\n"


def walk_traces(ground: Ground, tally: Tally) -> None:
    """A session's trace with something wrong in one place: refused in words, or shown with where it differs."""
    trace = ground.visitor.ask("GET", f"{ground.situations[1].studio}export.jsonl").body
    for number, (name, tampered) in enumerate(_tampered(trace, 2_000 if ground.long else 100)):
        _check(tally, name, tampered)
        if number % (10 if ground.long else 40) == 0:  # each has a process started for it
            answer = tally.take(f"a trace with {name}", upload, ground, "/import-trace", "x.jsonl", tampered)
            tally.demand(answer.status in LOOKED_AT, f"a trace with {name}: {answer.status}")


def _check(tally: Tally, name: str, trace: bytes) -> None:
    """As a worker does it, here."""
    tally.tried += 1
    try:
        finish(check(None, 0, CheckTrace(data=trace, max_objects=10_000)))
    except SessionError as error:
        tally.demand(error.message, f"a trace with {name}: refused without words")
    except Exception as error:  # whatever it is, it is what is looked for
        where = traceback.extract_tb(error.__traceback__)[-1]
        tally.demand(False, f"a trace with {name}: {error!r} ({where.name}, line {where.lineno})")


def _tampered(trace: bytes, count: int) -> Iterator[tuple[str, bytes]]:
    lines = trace.splitlines(keepends=True)
    yield "nothing in it", b""
    yield "its end cut off", trace[:-40]
    yield "its beginning cut off", b"".join(lines[1:])
    yield "its lines backwards", b"".join(reversed(lines))
    yield "its lines twice", trace * 2
    yield "one line in it", b"[" * 100_000
    yield "bytes in it", b"\x00\xff" + trace
    dice = random.Random(7)
    for number in range(count):
        at = dice.randrange(min(len(lines), 60))
        place, changed = _changed(orjson.loads(lines[at]), DATA[number % len(DATA)], dice)
        line = orjson.dumps(changed, option=orjson.OPT_NON_STR_KEYS, default=str) + b"\n"
        yield f"line {at + 1} {place}", b"".join((*lines[:at], line, *lines[at + 1 :]))


def _changed(value: Any, data: Any, dice: random.Random) -> tuple[str, Any]:
    """The value with the data somewhere in it, and where."""
    if isinstance(data, int) and abs(data) >= 2**63:
        data = str(data)  # JSON of ours has no larger numbers
    if not value or not isinstance(value, dict | list) or dice.random() < 0.2:
        return f"= {data!r:.30}", data
    step = dice.choice(list(value)) if isinstance(value, dict) else dice.randrange(len(value))
    copy = value.copy()
    place, copy[step] = _changed(value[step], data, dice)
    return f"{step}.{place}", copy


def walk_lessons(ground: Ground, tally: Tally) -> None:
    """Archives that are no lesson's, and a lesson with markup in every text."""
    files = {path.name: path.read_text() for path in LESSON.glob("*.yaml")}
    for name, content in _folders(files):
        answer = tally.take(f"lesson {name}", upload, ground, "/lesson/new", name, content)
        if answer.status == 302:
            _look_at(ground, tally, name, answer.headers["Location"].removesuffix("edit"))


def _folders(files: dict[str, str]) -> Iterator[tuple[str, bytes]]:
    marked = {name: _marked(text) if name != "lesson.yaml" else text for name, text in files.items()}
    yield "marked.zip", _zip({name: text.encode() for name, text in marked.items()})
    yield "above.zip", _zip({f"../../{name}": text.encode() for name, text in files.items()})
    yield "bomb.zip", _zip({"lesson.yaml": bytes(30_000_000)})
    yield "nothing.zip", _zip({})
    yield "others.zip", _zip({"passwd": b"x", "en.yaml": b"[", "lesson.yaml": b"\xff\xfe"})
    yield "links.tar", _tar(("lesson.yaml", b"2", "/etc/passwd"))
    yield "nested.zip", _zip({"lesson.yaml": b"[" * 50_000, "en.yaml": b"a: &a [*a]"})
    yield "cut.zip", _zip({"lesson.yaml": b"a: 1"})[:-9]
    yield "no.zip", b"PK\x03\x04 nothing"
    for number, data in enumerate(
        ("x", "[1]", "{}", "world: x", "cards: [1]", "cards: {a: 1}", "world: [1]\ncards: []")
    ):
        texts = {**files, ("lesson.yaml", "en.yaml")[number % 2]: data}
        yield f"wrong-{number}.zip", _zip({name: text.encode() for name, text in texts.items()})


def _marked(text: str) -> str:
    """The words of a lesson, each with markup behind it."""
    lines = []
    for line in text.splitlines():
        key, colon, said = line.partition(": ")
        plain = colon and said and said[0] not in "\"'|>{[&*!" and "{" not in said
        lines.append(f"{key}: {orjson.dumps(said + ' ' + MARKUP.replace('{fact}', '')).decode()}" if plain else line)
    return "\n".join(lines)


def _look_at(ground: Ground, tally: Tally, name: str, path: str) -> None:
    for page in ("edit", "files", "lesson.zip", ""):
        tally.take(f"lesson {name}: {page}", ground.visitor.ask, "GET", path + page)


def walk_outside(ground: Ground, tally: Tally) -> None:
    """Extenders at addresses that the server reaches and a client does not: nothing comes there."""
    arrived: list[bytes] = []
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        threading.Thread(target=_listen, args=(listener, arrived), daemon=True).start()
        port = listener.getsockname()[1]
        urls = [f"http://{host}:{port}/x" for host in HOSTS] + [
            "http://169.254.169.254/latest/meta-data",
            "file:///etc/passwd",
            f"gopher://127.0.0.1:{port}/_x",
            f"ftp://127.0.0.1:{port}/",
            f"http://user:pass@127.0.0.1:{port}/",
            f"http://127.0.0.1:{port}#@example.com/",
            "http://",
            "//x",
            "http://[::1",
            "http://\u3002/",
        ]
        for url in urls if ground.long else urls[::2]:
            _ask_outside(ground, tally, url)
        tally.demand(not arrived, f"{len(arrived)} requests arrived: {arrived[:1]}")


HOSTS = (
    "127.0.0.1", "localhost", "[::1]", "0.0.0.0", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "[::ffff:127.0.0.1]"
)  # fmt: skip


def _ask_outside(ground: Ground, tally: Tally, url: str) -> None:
    base = ground.situations[2].studio
    adding = {"add": "1", "url_prefix": url, "verbs": ["filter", "prioritize"], "weight": "1"}
    tally.take(f"extender {url}", ground.visitor.send, f"{base}extenders", adding)
    wanted = {"of": url, "kind": "http", "latency": "1ms"}
    tally.take(f"extender {url} asks", ground.visitor.send, f"{base}extenders", wanted)
    tally.take("a step", ground.visitor.send, f"{base}step", {"grain": "pod"})
    taking = {"remove": "1", "of": url, "scheduler": "kube-scheduler"}
    tally.take(f"extender {url} goes", ground.visitor.send, f"{base}extenders", taking)


def _listen(listener: socket.socket, arrived: list[bytes]) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection:
            connection.settimeout(1)
            arrived.append(connection.recv(1000))
