"""Figures and lessons within a page of another site: 127.0.0.1 serves, localhost frames."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from playwright.sync_api import Page, expect

from tests.browser.server import PlaygroundServer

LISTENS = """
<script>addEventListener("message", ({ data, source }) => {
  if (data?.type !== "scheduler-playground:height") return;
  for (const frame of document.querySelectorAll("iframe")) if (frame.contentWindow === source) frame.height = data.height;
});</script>"""


@contextmanager
def serve_site(*frames: str) -> Iterator[str]:
    """A site of its own with a page that frames addresses."""
    page = "".join(
        f'<iframe id="f{n}" src="{each}" width="100%" height="90"></iframe>' for n, each in enumerate(frames)
    )

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(f"<!doctype html><title>Course</title>{page}{LISTENS}".encode())

        def log_message(self, *_args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as site:
        Thread(target=site.serve_forever, daemon=True).start()
        yield f"http://localhost:{site.server_port}/"
        site.shutdown()


def test_a_lesson_and_a_figure_work_in_a_frame_of_another_site(server: PlaygroundServer, page: Page) -> None:
    with serve_site(f"{server.url}/l/labels/embed/?lang=en", f"{server.url}/figures/skew/embed/?lang=en") as site:
        page.goto(site)
        figure, lesson = page.frame_locator("#f1"), page.frame_locator("#f0")
        expect(figure.get_by_text("lets only zone-b and zone-c")).to_be_visible()
        figure.get_by_label("maxSkew").press("ArrowLeft")
        expect(figure.get_by_text("lets only zone-b take it")).to_be_visible()
        page.wait_for_function("Number(document.querySelector('#f1').height) > 300")
        (inner,) = (frame for frame in page.frames if "/l/labels/" in frame.url)

        def press(name: str) -> None:
            with inner.expect_navigation(timeout=60_000):  # a click on a page that still loads may miss its button
                lesson.get_by_role("button", name=name, exact=True).click()

        press("Start the lesson")
        expect(lesson.get_by_text("1 / ")).to_be_visible()
        cards = 1
        while not lesson.get_by_role("button", name="Try it on a fork").count():
            if lesson.get_by_role("button", name="Show the answer").count():
                press("Show the answer")
                expect(lesson.locator("form.question .verdict")).to_be_visible()
            press("Next")
            cards += 1
            expect(lesson.get_by_text(f"{cards} / ")).to_be_visible()
        press("Try it on a fork")
        expect(lesson.get_by_text("Your turn")).to_be_visible()
        page.wait_for_function("Number(document.querySelector('#f0').height) > 300")
        assert page.context.cookies() == []
