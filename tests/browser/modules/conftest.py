"""The page's modules, each alone in a real Chromium: a page with just what a module needs, and its functions called from here."""

from __future__ import annotations

import json
import mimetypes
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import django_htmx
import pytest
from playwright.sync_api import Browser, Error, Page

from playground.presenters.look import declaration

PLACE = "/s/key/"
ROOT = Path(__file__).resolve().parents[3]
FOLDERS = {
    "/static/playground/": ROOT / "static/playground",
    "/static/django_htmx/": Path(django_htmx.__file__).parent / "static/django_htmx",
}
# `hear` is a listener: what it hears is `heard`. Time stands still until a test calls `tick`. Nothing is left to chance.
SCRIPT = """
  const heard = [];
  const hear = (...what) => heard.push(what.length > 1 ? what : what[0]);
  const timers = new Map();
  let [now, last] = [0, 0];
  const timer = (again) => (what, after = 0) => {
    timers.set(++last, { what, due: now + after, every: again ? after : 0 });
    return last;
  };
  globalThis.setTimeout = timer(false);
  globalThis.setInterval = timer(true);
  globalThis.clearTimeout = globalThis.clearInterval = (id) => timers.delete(id);
  const tick = (time) => {
    for (const end = now + time;;) {
      const next = [...timers].filter(([, { due }]) => due <= end).sort(([, a], [, b]) => a.due - b.due)[0];
      if (!next) return void (now = end);
      const [id, { what, due, every }] = next;
      now = due;
      if (every) timers.get(id).due += every;
      else timers.delete(id);
      what();
    }
  };
  Math.random = () => 0.5;
  // The server's end of each connection that a page has opened, in their order.
  const sockets = [];
  globalThis.WebSocket = class {
    static OPEN = 1;
    static CLOSED = 3;
    readyState = 0;
    constructor(url) {
      sockets.push(this);
      this.url = url;
    }
    send(text) {
      hear("sent", JSON.parse(text));
    }
    open() {
      this.readyState = 1;
      this.onopen();
    }
    say(...all) {
      for (const data of all) this.onmessage({ data: JSON.stringify(data) });
    }
    close() {
      this.readyState = 3;
      this.onclose();
    }
  };
"""
PAGE = """<!DOCTYPE html><html lang="en"><head><title>modules</title><script>{script}</script>
<script src="/static/django_htmx/htmx-2.min.js"></script></head><body {attributes}>{body}</body></html>"""
LOOK_FIELDS = f'<script type="application/json" id="look-fields">{json.dumps(declaration())}</script>'


class Answer(NamedTuple):
    """What a request gets."""

    text: str | bytes = ""
    status: int = 200
    kind: str = "text/html"
    headers: dict[str, str] = {}


class Site(ThreadingHTTPServer):
    """A server of one page, of the scripts and styles as they are, and of what a test says; the browser keeps the files."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Visit)
        self.origin = f"http://127.0.0.1:{self.server_port}"
        self.html = ""
        self.answers: dict[str, Answer] = {}

    def answer(self, path: str) -> Answer:
        for prefix, folder in FOLDERS.items():
            if path.startswith(prefix):
                file = folder / path.removeprefix(prefix)
                kind = mimetypes.guess_type(file.name)[0] or "text/plain"
                return Answer(file.read_bytes(), kind=kind, headers={"Cache-Control": "max-age=600"})
        page = Answer(self.html) if path == PLACE else Answer(status=404)
        return self.answers.get(path.removeprefix(PLACE), page)


class Visit(BaseHTTPRequestHandler):
    """A request to a Site."""

    server: Site
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        answer = self.server.answer(self.path.split("?")[0])
        body = answer.text.encode() if isinstance(answer.text, str) else answer.text
        headers = {"Content-Type": f"{answer.kind}; charset=utf-8", "Cache-Control": "no-store"}
        self.send_response(answer.status)
        for name, value in {**headers, **answer.headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.do_GET()

    def log_message(self, *_what: Any) -> None:
        """Nobody reads it."""


class Alone:
    """A page of one module. `show` gives it its surroundings, `call` a function of the module's."""

    def __init__(self, page: Page, site: Site) -> None:
        self.page = page
        self.site = site

    def show(self, body: str = "", attributes: str = "", query: str = "") -> None:
        """A page with this body, and with attributes of its body element."""
        whole = PAGE.format(script=SCRIPT, attributes=attributes, body=body)
        self.site.html = (
            body.replace("<head>", f"<head><script>{SCRIPT}</script>", 1) if body.startswith("<!DOCTYPE") else whole
        )
        self.page.goto(f"{self.site.origin}{PLACE}{query}")
        self.do("tick(0)")  # htmx starts

    def answer(
        self, path: str, text: str, status: int = 200, kind: str = "text/html", headers: dict[str, str] | None = None
    ) -> None:
        """What a path below the page's answers; None of them is heard otherwise."""
        self.site.answers[path] = Answer(text, status, kind, headers or {})

    def call(self, module: str, function: str, *arguments: Any) -> Any:
        """The value of a function (JavaScript, of the module and the arguments) in the page."""
        code = f"""async (given) => {{
            const module = await import("/static/playground/js/{module}");
            return await ({function})(module, ...given);
        }}"""
        return self.page.evaluate(code, list(arguments))

    def hear_requests(self) -> None:
        """What is asked for by htmx.ajax is heard, and sent nowhere."""
        self.do("void (htmx.ajax = async (verb, path, { source, ...asking }) => hear(verb, path, asking))")

    def do(self, script: str) -> Any:
        """The value of an expression in the page."""
        return self.page.evaluate(script)

    @property
    def heard(self) -> list[Any]:
        """What the listeners heard, in its order."""
        heard: list[Any] = self.page.evaluate("heard.splice(0)")
        return heard


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    site = Site()
    threading.Thread(target=site.serve_forever, daemon=True).start()
    yield site
    site.shutdown()
    site.server_close()


@pytest.fixture(scope="module")
def one_page(browser: Browser) -> Iterator[Page]:
    """One tab for all tests of a module; each loads a page of its own into it."""
    context = browser.new_context(viewport={"width": 1000, "height": 700}, permissions=["clipboard-write"])
    yield context.new_page()
    context.close()


@pytest.fixture
def alone(one_page: Page, site: Site) -> Iterator[Alone]:
    """The module's page. The test fails at its end if a script did."""
    alone, failed = Alone(one_page, site), []

    def fail(error: Error) -> None:
        failed.append(str(error))

    one_page.on("pageerror", fail)
    one_page.emulate_media(reduced_motion="no-preference")
    yield alone
    one_page.remove_listener("pageerror", fail)
    site.answers.clear()
    assert failed == []
