"""Style sheets that are sent as one."""

from __future__ import annotations

import gzip
import os
import re
from pathlib import Path

import pytest
from django.test import AsyncClient
from django.urls import reverse

from playground.templatetags import sheets

FOLDER = Path(__file__).resolve().parents[2] / "static/playground/css"


def address(name: str) -> str:
    found = re.search(r'href="([^"]+)"', sheets.joined_sheet(name))
    assert found
    return found[1]


async def test_the_studio_s_sheets_come_in_their_order_in_one_answer(async_client: AsyncClient) -> None:
    answer = await async_client.get(address("studio"), headers={"Accept-Encoding": "gzip"})
    text = gzip.decompress(answer.content).decode()
    names = re.findall(r'@import "\.\./(.+)";', (FOLDER / "joined/studio.css").read_text())
    places = [text.index((FOLDER / name).read_text()) for name in names]
    assert places == sorted(places)
    assert places[0] == 0
    assert f"@media print {{\n{(FOLDER / 'print.css').read_text()}}}\n" in text
    assert answer.headers["Content-Type"] == "text/css; charset=utf-8"


async def test_a_sheet_that_imports_a_joined_one_begins_with_it(async_client: AsyncClient) -> None:
    plain = await async_client.get(address("embed"))
    assert "Content-Encoding" not in plain.headers
    assert plain.content.startswith((FOLDER / "tokens.css").read_bytes())
    assert (FOLDER / "embed.css").read_bytes() in plain.content


async def test_a_browser_keeps_for_good_what_the_address_means(async_client: AsyncClient) -> None:
    exact = await async_client.get(address("studio"))
    older = await async_client.get(reverse("styles", kwargs={"name": "studio", "digest": "older"}))
    assert "immutable" in exact.headers["Cache-Control"]
    assert older.headers["Cache-Control"] == "no-cache"
    assert older.content == exact.content


async def test_a_sheet_that_is_not_there_is_not_found(async_client: AsyncClient) -> None:
    answer = await async_client.get(reverse("styles", kwargs={"name": "nothing", "digest": "1"}))
    assert answer.status_code == 404


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sheets, "_file", lambda path: tmp_path / Path(path).name)
    (tmp_path / "all.css").write_text('@import "one.css";\n')
    (tmp_path / "one.css").write_text("a {}\n")
    return tmp_path


def test_a_sheet_is_made_anew_when_a_file_of_it_has_changed(files: Path) -> None:
    before = sheets.sheet("all")
    (files / "one.css").write_text("b {}\n")
    os.utime(files / "one.css", ns=(1, 1))
    assert (before.text, sheets.sheet("all").text) == (b"a {}\n", b"b {}\n")
    assert sheets.sheet("all").digest != before.digest


@pytest.mark.parametrize("text", ["a { background: url(a.png) }\n", "@import url(other.css);\n"])
def test_what_would_mean_something_else_is_refused(files: Path, text: str) -> None:
    (files / "one.css").write_text(text)
    os.utime(files / "one.css", ns=(2, 2))
    with pytest.raises(ValueError, match="joined"):
        sheets.sheet("all")
