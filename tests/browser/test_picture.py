"""The stage as a picture to keep."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser.server import PlaygroundServer
from tests.browser.test_studio import start


@pytest.mark.parametrize(("kind", "begins"), [("png", b"\x89PNG"), ("svg", b"<svg")])
def test_the_stage_is_saved_as_a_picture(page: Page, server: PlaygroundServer, kind: str, begins: bytes) -> None:
    start(page, server)
    page.locator("#more > summary").click()
    with page.expect_download() as download:
        page.locator(f"[data-picture={kind}]").click()
    assert download.value.suggested_filename == f"cluster-1.{kind}"
    assert Path(download.value.path()).read_bytes().startswith(begins)
