"""The file that replays a session, opened from disk by a browser without a network."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.server import PlaygroundServer
from tests.browser.studio import run_to_the_end, start, step_is

PANELS = ("#panel-queues", "#panel-stage", "#panel-pipeline", "#panel-narrator", "#panel-transport")


def told(page: Page) -> list[str]:
    """What the panels say at one moment, hidden words included. A page's scripts have said where the head is before it has loaded."""
    texts = page.evaluate("panels => panels.map(panel => document.querySelector(panel).textContent)", PANELS)
    return [" ".join(text.split()) for text in texts]


def in_the_studio(page: Page, studio: str, at: int) -> list[str]:
    page.goto(f"{studio}?at={at}")
    step_is(page, at)
    return told(page)


def test_a_file_from_disk_shows_each_step_as_the_studio_does_without_a_network(
    page: Page,
    new_context: Callable[..., BrowserContext],
    server: PlaygroundServer,
    tmp_path: Path,
    accessible: Callable[[Page], None],
) -> None:
    start(page, server)
    head = run_to_the_end(page)
    studio = page.url.split("?")[0]
    file = tmp_path / "replay.html"
    file.write_bytes(page.request.get(f"{studio}replay.html").body())
    there = new_context(offline=True).new_page()
    asked: list[str] = []
    there.on("request", lambda request: asked.append(request.url))
    there.goto(f"{file.as_uri()}#7")
    step_is(there, 7)
    assert told(there) == in_the_studio(page, studio, 7)
    for _ in range(5):
        there.keyboard.press("ArrowRight")
    step_is(there, 12)
    assert told(there) == in_the_studio(page, studio, 12)
    for _ in range(3):
        there.locator("[data-go=back]").click()
    step_is(there, 9)
    assert told(there) == in_the_studio(page, studio, 9)
    there.keyboard.press("End")
    step_is(there, head)
    there.locator("#slider").fill("12")
    step_is(there, 12)
    there.locator("[data-go=play]").click()
    expect(there.locator("[data-go=play]")).to_have_attribute("aria-pressed", "true")
    expect(there.locator("#panel-transport")).not_to_have_attribute("data-position", "12")
    there.locator("[data-go=play]").click()
    expect(there.locator("[data-go=play]")).to_have_attribute("aria-pressed", "false")
    accessible(there)
    assert [url for url in asked if not url.startswith(("file:", "blob:"))] == []
