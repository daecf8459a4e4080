"""The page on which a session's exports are chosen: each says what it is for, how far it is, and is had from there, in both languages."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from scripts.pictures.session import Session
from tests.browser.conftest import THOROUGH
from tests.browser.server import PlaygroundServer
from tests.browser.studio import more, run_to_the_end, start

FILES = {
    "Download the replay": ".html",
    "Download the trace": ".jsonl",
    "Download the trace events": ".chrome.json",
    "Download the spans": ".otlp.json",
    "Download all tables": ".tables.zip",
    "Download the table": ".attempts.csv",
    "Download the schema": ".schema.json",
    "Download the cluster": ".yaml",
}


def test_every_form_is_had_from_the_page_that_the_studios_menu_opens(
    page: Page, server: PlaygroundServer, tmp_path: Path, accessible: Callable[[Page], None]
) -> None:
    start(page, server)
    run_to_the_end(page)
    studio = page.url.split("?")[0]
    more(page).get_by_role("link", name="Export", exact=True).click()
    expect(page.locator("#drawer .exports > li")).to_have_count(7)
    accessible(page)
    page.goto(f"{studio}exports")
    had: dict[str, Path] = {}
    for words, suffix in FILES.items():
        with page.expect_download() as wanted:
            page.locator("a, button").get_by_text(words, exact=True).or_(
                page.get_by_role("button", name=words, exact=True)
            ).first.click()
        assert wanted.value.suggested_filename.endswith(suffix), words
        had[suffix] = tmp_path / wanted.value.suggested_filename
        wanted.value.save_as(had[suffix])
        page.goto(f"{studio}exports")
    assert had[".html"].read_text().startswith("<!DOCTYPE html>")
    assert json.loads(had[".jsonl"].read_text().splitlines()[0])["type"] == "header"
    assert json.loads(had[".chrome.json"].read_text())["traceEvents"]
    assert json.loads(had[".otlp.json"].read_text())["resourceSpans"]
    assert "attempts.csv" in zipfile.ZipFile(had[".tables.zip"]).namelist()
    assert json.loads(had[".schema.json"].read_text())["$schema"]
    for form in ("html", "chrome", "otlp", "zip"):
        expect(page.locator(f"#made-{form}")).to_contain_text("The file up to step 72")


SIDES = [("en", "Export", 390), ("zh-CN", "导出", 1440), ("en", "Export", 1440), ("zh-CN", "导出", 390)]


@pytest.mark.parametrize(("language", "title", "width"), SIDES if THOROUGH else SIDES[:2])
def test_the_page_is_for_everybody_who_has_a_view_link(
    new_context: Callable[..., BrowserContext],
    server: PlaygroundServer,
    accessible: Callable[[Page], None],
    language: str,
    title: str,
    width: int,
) -> None:
    owner = new_context().new_page()
    start(owner, server)
    key = owner.locator("#view-link").input_value()
    for scheme in ("light", "dark"):
        guest = new_context(locale=language, color_scheme=scheme, viewport={"width": width, "height": 900}).new_page()
        guest.goto(f"{key}exports")
        expect(guest.locator("h1")).to_have_text(title)
        expect(guest.locator(".exports > li")).to_have_count(7)
        assert guest.evaluate("document.documentElement.scrollWidth") <= width
        accessible(guest)


def test_a_file_of_a_long_session_says_how_far_it_is_is_stopped_and_made_after_all(
    new_context: Callable[..., BrowserContext],
    server: PlaygroundServer,
    tmp_path: Path,
    accessible: Callable[[Page], None],
) -> None:
    context = new_context()
    session = Session(context, server.url, "cluster:fifty")
    session.until(25, kind="attempt_ended")
    page = context.new_page()
    begin_replay(session)
    page.goto(session.at("exports"))
    made = page.locator("#made-html")
    expect(made.locator("progress")).to_be_visible()
    made.get_by_role("button", name="Stop").click()
    expect(page).to_have_url(session.at("exports"))
    expect(made).to_have_count(0)
    begin_replay(session)
    page.goto(session.at("exports"))
    accessible(page)
    expect(made).to_contain_text("The file up to step", timeout=90_000)  # without a word from anybody
    page.locator("[name=first]").fill("10")
    page.locator("[name=last]").fill("10")
    with page.expect_download(timeout=60_000) as wanted:
        page.get_by_role("button", name="Download the replay").click()
    file = tmp_path / "replay.html"
    wanted.value.save_as(file)
    there = new_context(offline=True).new_page()
    there.goto(file.as_uri())
    expect(there.locator(".extent")).to_contain_text("This file contains steps")


def begin_replay(session: Session) -> None:
    """Ask for the replay as a browser does, and stay where the page is."""
    answer = session.context.request.get(session.at("replay.html"), headers={"Accept": "text/html"}, max_redirects=0)
    assert answer.status == 302, "1,000 steps were shown at once"
