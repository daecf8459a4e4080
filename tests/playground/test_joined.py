"""Style sheets and scripts that are sent as one."""

from __future__ import annotations

import gzip
import os
import re
from pathlib import Path

import pytest
from django.test import AsyncClient
from django.urls import reverse

from playground.templatetags import joined

FOLDER = Path(__file__).resolve().parents[2] / "static/playground/css"
SCRIPTS = FOLDER.parent / "js"


def address(tag: str) -> str:
    found = re.search(r'(?:href|src)="([^"]+)"', tag)
    assert found
    return found[1]


async def test_the_studio_s_sheets_come_in_their_order_in_one_answer(async_client: AsyncClient) -> None:
    answer = await async_client.get(address(joined.joined_sheet("studio")), headers={"Accept-Encoding": "gzip"})
    text = gzip.decompress(answer.content).decode()
    names = re.findall(r'@import "\.\./(.+)";', (FOLDER / "joined/studio.css").read_text())
    places = [text.index((FOLDER / name).read_text()) for name in names]
    assert places == sorted(places)
    assert places[0] == 0
    assert f"@media print {{\n{(FOLDER / 'print.css').read_text()}}}\n" in text
    assert answer.headers["Content-Type"] == "text/css; charset=utf-8"


async def test_a_sheet_that_imports_a_joined_one_begins_with_it(async_client: AsyncClient) -> None:
    plain = await async_client.get(address(joined.joined_sheet("embed")))
    assert "Content-Encoding" not in plain.headers
    assert plain.content.startswith((FOLDER / "tokens.css").read_bytes())
    assert (FOLDER / "embed.css").read_bytes() in plain.content


async def test_a_browser_keeps_for_good_what_the_address_means(async_client: AsyncClient) -> None:
    exact = await async_client.get(address(joined.joined_sheet("studio")))
    older = await async_client.get(reverse("styles", kwargs={"name": "studio", "digest": "older"}))
    assert "immutable" in exact.headers["Cache-Control"]
    assert older.headers["Cache-Control"] == "no-cache"
    assert older.content == exact.content


async def test_the_studio_s_modules_come_in_one_answer_each_once_after_those_that_it_imports(
    async_client: AsyncClient,
) -> None:
    answer = await async_client.get(address(joined.joined_script("studio")), headers={"Accept-Encoding": "gzip"})
    text = gzip.decompress(answer.content).decode()
    order = re.findall(r"^// playground/js/(\S+)$", text, re.MULTILINE)
    assert answer.headers["Content-Type"] == "text/javascript; charset=utf-8"
    assert "immutable" in answer.headers["Cache-Control"]
    assert len(order) == len(set(order)) > 60
    for path in order:
        for name in re.findall(r'^import (?:.* from )?"(.+)";', (SCRIPTS / path).read_text(), re.MULTILINE):
            imported = os.path.normpath(os.path.join(os.path.dirname(path), name))
            assert order.index(imported) < order.index(path)


async def test_a_sheet_that_is_not_there_is_not_found(async_client: AsyncClient) -> None:
    answer = await async_client.get(reverse("styles", kwargs={"name": "nothing", "digest": "1"}))
    assert answer.status_code == 404


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(joined, "_file", lambda path: tmp_path / Path(path).name)
    (tmp_path / "all.css").write_text('@import "one.css";\n')
    (tmp_path / "one.css").write_text("a {}\n")
    return tmp_path


def test_a_sheet_is_made_anew_when_a_file_of_it_has_changed(files: Path) -> None:
    before = joined.join("styles", "all")
    (files / "one.css").write_text("b {}\n")
    os.utime(files / "one.css", ns=(1, 1))
    assert (before.text, joined.join("styles", "all").text) == (b"a {}\n", b"b {}\n")
    assert joined.join("styles", "all").digest != before.digest


@pytest.mark.parametrize("text", ["a { background: url(a.png) }\n", "@import url(other.css);\n"])
def test_what_would_mean_something_else_is_refused(files: Path, text: str) -> None:
    (files / "one.css").write_text(text)
    os.utime(files / "one.css", ns=(2, 2))
    with pytest.raises(ValueError, match="joined"):
        joined.join("styles", "all")


A = 'import { b, c as d } from "./one.js";\n\nexport const a = b + d;\n'
B = "export function b() {}\nexport class c {}\n"


def test_a_module_keeps_its_names_to_itself_and_gives_what_it_exports(files: Path) -> None:
    (files / "all.js").write_text('import "./two.js";\nimport "./one.js";\n')
    (files / "two.js").write_text(A)
    (files / "one.js").write_text(B)
    assert joined.join("scripts", "all").text.decode() == (
        "// playground/js/joined/one.js\nconst m0 = (() => {\nfunction b() {}\nclass c {}\nreturn { b, c };\n})();\n"
        "// playground/js/joined/two.js\nconst m1 = (() => {\nconst { b, c: d } = m0;\n\nconst a = b + d;\n"
        "return { a };\n})();\n"
        "// playground/js/joined/all.js\nconst m2 = (() => {\nreturn {  };\n})();\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "export let a = 1;\n",
        "export default 1;\n",
        'export * from "./one.js";\n',
        'import * as one from "./one.js";\n',
        "await fetch(1);\n",
        'const a = import("./one.js");\n',
        "import.meta.url;\n",
        'import "./all.js";\n',
    ],
)
def test_a_module_that_would_mean_something_else_is_refused(files: Path, text: str) -> None:
    (files / "all.js").write_text('import "./two.js";\n')
    (files / "two.js").write_text(text)
    (files / "one.js").write_text(B)
    for path in files.iterdir():
        os.utime(path, ns=(hash_of(text), 3))
    with pytest.raises(ValueError, match="joined"):
        joined.join("scripts", "all")


def hash_of(text: str) -> int:
    """A time of its own for each text: what was joined before is remembered by its files' times."""
    return sum(text.encode())
