"""Pages and what is sent to them are in their reader's language."""

from __future__ import annotations

import pytest
from django.test import Client

CHINESE = {"headers": {"accept-language": "zh-CN,zh;q=0.9,en;q=0.8"}}


@pytest.mark.django_db
def test_a_page_is_in_the_language_that_the_browser_asks_for() -> None:
    assert '<html lang="zh-hans"' in Client(**CHINESE).get("/").content.decode()
    assert '<html lang="en"' in Client().get("/").content.decode()


@pytest.mark.django_db
def test_a_language_that_was_chosen_is_kept() -> None:
    browser = Client(**CHINESE)
    answer = browser.post("/language", {"language": "en", "next": "/"})
    assert (answer.status_code, answer["Location"]) == (302, "/")
    assert '<html lang="en"' in browser.get("/").content.decode()
