"""What leads to a session, and out of it: links to what is shown, links that end, a fork out of somebody else's page, downloads."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from threading import Thread
from urllib.parse import urlencode

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from scripts.pictures.session import Session
from tests.browser.conftest import Complaints
from tests.browser.server import PlaygroundServer
from tests.browser.studio import connected, position, run_to_the_end, shown, start, step_is

NewContext = Callable[..., BrowserContext]


@pytest.fixture
def site_with() -> Iterator[Callable[[str], str]]:
    """Serves a page under another host name; its address."""
    served: list[bytes] = []

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(served[-1])

        def log_message(self, format: str, *args: object) -> None:
            """Nothing is said."""

    site = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    Thread(target=site.serve_forever, daemon=True).start()

    def serve(body: str) -> str:
        served.append(body.encode())
        return f"http://localhost:{site.server_port}/"

    yield serve
    site.shutdown()
    site.server_close()


def test_a_link_to_what_is_shown_opens_the_step_the_stage_and_the_subject(
    new_context: NewContext, server: PlaygroundServer
) -> None:
    context = new_context()
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=server.url)
    page = start(context.new_page(), server)
    head = run_to_the_end(page)
    page.goto(f"{page.url.split('?')[0]}?at={head - 9}&stage=score&node=node-b&about=node")
    connected(page)
    page.locator("#share-open").click()
    page.locator("#share-step").check()
    page.locator("[data-copy=view]").click()
    expect(page.locator("#copied")).to_have_text("Copied.")
    link = page.evaluate("navigator.clipboard.readText()")
    guest = new_context().new_page()
    guest.goto(link)
    connected(guest)
    step_is(guest, head - 9)
    assert guest.locator("#stage").get_attribute("data-stage") == "score"
    assert "node=node-b" in guest.url
    expect(guest.locator("#panel-inspector")).to_contain_text("node-b")


def picture(context: BrowserContext, link: str) -> tuple[list[str], bytes]:
    """What somebody new sees who opens a link: the words of all panels, and the stage as it looks."""
    page = context.new_page()
    page.goto(link)
    page.locator("body[data-connected='1']").wait_for(timeout=60_000)  # after a restart the session is replayed first
    page.mouse.move(0, 0)
    for dialog in page.locator("dialog[open]").all():
        dialog.press("Escape")
    words = shown(page)
    image = page.locator("#panel-stage").screenshot(animations="disabled")
    context.close()
    return words, image


def test_a_link_shows_the_same_after_later_steps_and_after_a_restart(
    new_context: NewContext, own_server: PlaygroundServer
) -> None:
    session = Session(new_context(), own_server.url, "story:first-placement")
    at = session.until(kind="node_selected")
    view = view_link_of(session)
    looks = (
        {"at": at, "stage": "score", "pod": "default/web-1", "about": "pod", "tab": "yaml"},
        {"at": at - 3, "stage": "filter", "form": "nodes", "node": "medium", "about": "node"},
        {"at": at - 20, "stage": "queue"},
    )
    links = [f"{view}?{urlencode(look)}" for look in looks]

    def pictures() -> list[tuple[list[str], bytes]]:
        return [picture(new_context(reduced_motion="reduce"), link) for link in links]

    before = pictures()
    assert len({tuple(words) for words, _image in before}) == len(links)
    session.run()
    after = pictures()
    own_server.kill()
    own_server.start()
    again = pictures()
    assert [words for words, _ in after] == [words for words, _ in before]
    assert [words for words, _ in again] == [words for words, _ in before]
    assert [image for _, image in before] == [image for _, image in after] == [image for _, image in again]


def view_link_of(session: Session) -> str:
    """The view link of a session."""
    found = re.search(r'id="view-link"\s+readonly\s+value="([^"]+)"', session.get(""))
    assert found, "the studio names no view link"
    return found[1]


def test_a_view_link_that_is_taken_back_closes_the_page_that_it_opened(
    new_context: NewContext, server: PlaygroundServer, accessible: Callable[[Page], None], complaints: Complaints
) -> None:
    complaints.forgive("410 (Gone)")
    owner = start(new_context().new_page(), server)
    owner.goto(owner.url.split("?")[0] + "session")
    owner.locator("select[name=term]").select_option("week")
    owner.get_by_role("button", name="Create a view link").click()
    field = owner.locator("#view-links input[readonly]")
    expect(field).to_have_count(1)
    accessible(owner)
    link = field.input_value()
    guest = new_context().new_page()
    guest.goto(link)
    connected(guest)
    owner.locator("#view-links").get_by_role("button", name="Remove").click()
    expect(owner.locator("#view-links")).to_contain_text("revoked on")
    expect(guest.locator(".toast")).to_contain_text("This view link has ended", timeout=20_000)
    ended = new_context().new_page()
    answer = ended.goto(link)
    assert answer is not None and answer.status == 410
    expect(ended.locator("h1")).to_have_text("This link has ended")
    accessible(ended)


def test_an_embedded_stage_in_a_page_of_another_site_is_forked_by_one_click(
    new_context: NewContext, server: PlaygroundServer, site_with: Callable[[str], str]
) -> None:
    owner = start(new_context().new_page(), server)
    run_to_the_end(owner)
    link = owner.locator("#embed-link").input_value().replace('width="100%"', 'width="900"')
    context = new_context()
    reader = context.new_page()
    reader.goto(site_with(f"<h1>A post</h1>{link}"))
    frame = reader.frame_locator("iframe")
    frame.locator("body[data-connected='1']").wait_for()
    for _ in range(3):
        frame.locator("#embed-back").click()
    at = int(frame.locator("body").get_attribute("data-seen") or 0)
    with context.expect_page() as opened:
        frame.locator("#embed-fork").click()
    fork = opened.value
    fork.wait_for_url(f"{server.url}/s/*/")
    connected(fork)
    step_is(fork, position(fork))
    assert fork.locator("body").get_attribute("data-may-edit") == "1"
    assert position(fork) <= at
    fork.goto(f"{server.url}/")
    expect(fork.locator("main")).to_contain_text("branch 1")


def test_a_download_that_takes_long_says_how_far_it_is(page: Page, server: PlaygroundServer, tmp_path: Path) -> None:
    start(page, server)
    run_to_the_end(page)
    page.goto(page.url.split("?")[0] + "exports")
    with page.expect_download() as wanted:
        page.get_by_role("link", name="Download all tables").click()
    file = tmp_path / "tables.zip"
    wanted.value.save_as(file)
    with zipfile.ZipFile(BytesIO(file.read_bytes())) as archive:
        assert "attempts.csv" in archive.namelist()
