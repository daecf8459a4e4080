"""What is sent compressed, to whom, and what is not."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from django.conf import settings
from django.test import AsyncClient

GZIP = {"Accept-Encoding": "gzip, deflate, br"}
STYLES = "/static/playground/css/base.css"


async def test_a_file_is_compressed_for_who_takes_it(async_client: AsyncClient) -> None:
    plain = await async_client.get(STYLES)
    packed = await async_client.get(STYLES, headers=GZIP)
    again = await async_client.get(STYLES, headers=GZIP)
    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    assert packed.headers["Content-Length"] == str(len(packed.content))
    assert gzip.decompress(packed.content) == Path(settings.BASE_DIR, "static/playground/css/base.css").read_bytes()
    assert again.content == packed.content
    assert "Accept-Encoding" in plain.headers["Vary"]


async def test_a_file_that_the_browser_has_is_not_sent_again(async_client: AsyncClient) -> None:
    packed = await async_client.get(STYLES, headers=GZIP)
    known = {**GZIP, "If-None-Match": packed.headers["ETag"]}
    assert (await async_client.get(STYLES, headers=known)).status_code == 304


async def test_a_part_of_a_file_is_sent_as_it_is(async_client: AsyncClient) -> None:
    part = await async_client.get(STYLES, headers={**GZIP, "Range": "bytes=0-99"})
    assert part.status_code == 206
    assert "Content-Encoding" not in part.headers


@pytest.mark.django_db(transaction=True)
async def test_a_page_is_compressed_and_its_length_says_nothing_exact(async_client: AsyncClient) -> None:
    answers = [await async_client.get("/docs-that-are-not-there", headers=GZIP) for _ in range(2)]
    assert all("Content-Encoding" not in answer.headers for answer in answers)  # no success, no compression
    pages = [await async_client.get("/", headers=GZIP) for _ in range(12)]
    assert {page.headers["Content-Encoding"] for page in pages} == {"gzip"}
    assert b"<html" in gzip.decompress(pages[0].content)
    assert len({len(page.content) for page in pages}) > 1
